import type { Static } from 'typebox'
import { Value } from 'typebox/value'
import { type Agent, PLATFORMS, type Platform } from '#core/agents/agent.ts'
import { isObject } from '#core/agents/translate/json.ts'
import { type ConfigIssue, pathOf } from './issues.ts'
import { AgentEntry } from './schema.ts'

type Entry = Static<typeof AgentEntry>

const PLATFORM_NAMES: Record<Platform, string> = {
  fastgpt: 'FastGPT',
  hiagent: 'HiAgent',
  dify: 'Dify',
  coze: 'Coze',
  openai: 'OpenAI',
}

/** Properties that say something on one platform alone; elsewhere they would be ignored in silence. */
const ONLY_ON = { model: 'openai', botId: 'coze', mode: 'dify', nodeData: 'fastgpt' } as const

/** The agents whose entries the schema accepts, and what the schema cannot say about them. */
export function resolveAgents(entries: unknown): { agents: Agent[]; mistakes: ConfigIssue[] } {
  const agents: Agent[] = []
  const mistakes: ConfigIssue[] = []
  if (!isObject(entries)) return { agents, mistakes }
  if (Object.keys(entries).length === 0) mistakes.push({ path: 'agents', problem: 'expected one at least' })
  for (const [id, entry] of Object.entries(entries)) {
    if (!Value.Check(AgentEntry, entry)) continue
    const path = pathOf('agents', id)
    const platform = entry.platform ?? PLATFORMS.find((name) => name === id)
    if (platform === undefined) {
      mistakes.push({ path: `${path}.platform`, problem: `missing, expected one of ${PLATFORMS.join(', ')}` })
      continue
    }
    mistakes.push(...findContradictions(platform, entry, path))
    agents.push(toAgent(id, platform, entry))
  }
  return { agents, mistakes }
}

function toAgent(id: string, platform: Platform, entry: Entry): Agent {
  return {
    ...entry,
    id,
    platform,
    name: entry.name ?? (id === platform ? PLATFORM_NAMES[platform] : inWords(id)),
    baseUrl: entry.baseUrl.replace(/\/+$/, ''),
    apps: Object.entries(entry.apps).map(([appId, app]) => ({
      name: appId,
      default: false,
      ...app,
      id: appId,
    })),
    mode: entry.mode ?? 'chat',
    nodeData: entry.nodeData ?? 'filtered',
    sandbox: false,
  }
}

function findContradictions(platform: Platform, entry: Entry, path: string): ConfigIssue[] {
  const apps = Object.entries(entry.apps)
  const everyAppHas = (name: 'apiKey' | 'model') =>
    apps.length > 0 && apps.every(([, app]) => app[name] !== undefined)

  const mistakes = [
    ...findMisplaced(platform, entry, path),
    ...apps.flatMap(([id, app]) => findMisplaced(platform, app, pathOf(`${path}.apps`, id))),
  ]
  if (apps.filter(([, app]) => app.default).length > 1) {
    mistakes.push({ path: `${path}.apps`, problem: 'expected one default at most' })
  }
  if (platform !== 'openai' && entry.apiKey === undefined && !everyAppHas('apiKey')) {
    mistakes.push({ path: `${path}.apiKey`, problem: 'missing, expected here or in every app' })
  }
  if (platform === 'openai' && entry.model === undefined && !everyAppHas('model')) {
    mistakes.push({ path: `${path}.model`, problem: 'missing, expected here or in every app' })
  }
  return mistakes
}

function findMisplaced(platform: Platform, properties: object, path: string): ConfigIssue[] {
  return Object.entries(ONLY_ON)
    .filter(([name, only]) => name in properties && only !== platform)
    .map(([name, only]) => ({ path: `${path}.${name}`, problem: `only for agents of the platform ${only}` }))
}

/** `support-desk` → `Support desk`. */
function inWords(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ')
}
