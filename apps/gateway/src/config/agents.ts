import type { TObject } from 'typebox'
import { Value } from 'typebox/value'
import type { Adapter, Agent, Connection } from '#core/agents/adapter.ts'
import { createAgent } from '#core/agents/create-agent.ts'
import type { PlatformRegistry } from '#core/agents/registry.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import { isObject } from '#core/base/values/json.ts'
import { expectation } from '#core/requests/input/expectation.ts'
import { resolveConnection } from './connection.ts'
import { DEPLOYMENT, isReplaceable, NOT_REPLACEABLE, TIMEOUTS } from './deployment-entry.ts'
import {
  findContradictionsOfLimits,
  findContradictionsOfList,
  findUnequalRequirements,
  findUnknownApps,
  inherit,
  serve,
} from './deployments.ts'
import type { FileTexts } from './file-texts.ts'
import { type ConfigIssue, findIssues, pathOf } from './issues.ts'
import { findUnsendableKeys } from './platform-keys.ts'
import { AgentEntry } from './schema.ts'

/**
 * The agents whose entries the schema accepts, and the issues that a schema cannot express.
 *
 * @param files - reads the files that the entries name
 */
export function resolveAgents(
  entries: unknown,
  platforms: PlatformRegistry,
  files: FileTexts,
): { agents: ServedAgent[]; issues: ConfigIssue[] } {
  const agents: ServedAgent[] = []
  const issues: ConfigIssue[] = []
  if (!isObject(entries)) return { agents, issues }
  if (Object.keys(entries).length === 0) issues.push({ path: 'agents', problem: 'expected one at least' })
  for (const [id, entry] of Object.entries(entries)) {
    if (!Value.Check(AgentEntry, entry)) continue
    const path = pathOf('agents', id)
    const adapter = platforms.find(entry.platform ?? id)
    if (adapter !== undefined) {
      const found = findContradictions(adapter, entry, path, platforms)
      issues.push(...found)
      if (found.length > 0) continue
      const unread = new Map<string, ConfigIssue>()
      const agent = serve(entry, (each, place) => {
        const resolved = resolveConnection(each, path + place, files)
        for (const issue of resolved.issues) unread.set(issue.path, issue)
        const made = toAgent(id, adapter, each, resolved.connection)
        const unusable = findUnusableCard(made, path + place)
        if (unusable !== undefined) unread.set(unusable.path, unusable)
        return made
      })
      issues.push(...unread.values(), ...findUnequalRequirements(agent, `${path}.deployments`))
      agents.push(agent)
    } else if (entry.platform === undefined) {
      issues.push({
        path: `${path}.platform`,
        problem: `missing, expected one of ${platforms.names.join(', ')}`,
      })
    }
  }
  return { agents, issues }
}

function toAgent(id: string, adapter: Adapter, entry: AgentEntry, connection: Connection): Agent {
  const { name, description, baseUrl, apiKey, filesUrl, keepFiles } = entry
  const { timeouts, endGraceMs, reasoning, thinkTags, tools, propagate } = entry
  if (baseUrl === undefined) throw new Error(`The base URL of ${id} was not checked.`)
  return createAgent({
    id,
    adapter,
    name: name ?? (id === adapter.platform ? adapter.displayName : inWords(id)),
    description,
    baseUrl,
    ...(apiKey !== undefined && { apiKey }),
    ...(filesUrl !== undefined && { filesUrl }),
    keepFiles,
    apps: Object.entries(entry.apps).map(([appId, app]) => ({
      id: appId,
      name: app.name ?? appId,
      default: app.default ?? false,
      ...(app.apiKey !== undefined && { apiKey: app.apiKey }),
      options: optionsOf(adapter.entry.app, app),
    })),
    options: optionsOf(adapter.entry.agent, entry),
    connection,
    timeouts: { ...timeouts, idleMs: timeouts.idleMs ?? adapter.idleMs ?? TIMEOUTS.idleMs[0] },
    endGraceMs,
    reasoning,
    thinkTags,
    tools,
    propagate,
    sandbox: false,
  })
}

/** A card that stands in the entry itself, by which the agent could not be reached. */
function findUnusableCard(agent: Agent, path: string): ConfigIssue | undefined {
  const card = agent.adapter.card?.(agent)
  if (card === undefined || !('failure' in card)) return undefined
  return { path: `${path}.card`, problem: `cannot be used: ${card.failure.note ?? card.failure.reason}` }
}

/** The properties that only this platform has, with their defaults. */
function optionsOf(schema: TObject, properties: object): Record<string, unknown> {
  const own = Object.entries(properties).filter(([name]) => Object.hasOwn(schema.properties, name))
  const options = Value.Default(schema, Object.fromEntries(own))
  return isObject(options) ? options : {}
}

function findContradictions(
  adapter: Adapter,
  entry: AgentEntry,
  path: string,
  platforms: PlatformRegistry,
): ConfigIssue[] {
  const { apps, deployments } = entry
  const issues = [
    ...findForeignProperties(adapter, platforms, { agent: entry, apps }, path),
    ...findContradictionsOfLimits(entry, path),
    ...findUnsendableKeys(entry, path),
  ]
  if (Object.values(apps).filter((app) => app.default).length > 1) {
    issues.push({ path: `${path}.apps`, problem: 'expected one default at most' })
  }
  if (deployments === undefined) {
    return [...issues, ...findMissing(adapter, entry, path)]
  }
  const list = `${path}.deployments`
  return [
    ...issues,
    ...findContradictionsOfList(deployments, list),
    ...deployments.flatMap((deployment, index) => {
      const place = `${list}[${index}]`
      return [
        ...findForeignProperties(
          adapter,
          platforms,
          { agent: deployment, apps: deployment.apps },
          place,
          true,
        ),
        ...findUnknownApps(entry, deployment, place),
        ...findUnsendableKeys(deployment, place),
        ...findMissing(adapter, inherit(entry, deployment), place, ', in the agent'),
      ]
    }),
  ]
}

/**
 * Reports what an entry lacks.
 *
 * @param elsewhere - where else it may be, for an entry that a deployment has inherited
 */
function findMissing(adapter: Adapter, entry: AgentEntry, path: string, elsewhere = ''): ConfigIssue[] {
  const apps = Object.values(entry.apps)
  const has = (properties: object, name: string) => Reflect.get(properties, name) !== undefined
  const everyAppHas = (name: string) => apps.length > 0 && apps.every((app) => has(app, name))
  const issues: ConfigIssue[] = []
  if (entry.baseUrl === undefined) {
    const where = elsewhere === '' ? '' : `, here or${elsewhere.slice(1)}`
    issues.push({
      path: `${path}.baseUrl`,
      problem: `missing, expected ${expectation(DEPLOYMENT.baseUrl)}${where}`,
    })
  }
  for (const name of adapter.entryRequires) {
    if (has(entry, name) || everyAppHas(name)) continue
    issues.push({ path: `${path}.${name}`, problem: `missing, expected here${elsewhere} or in every app` })
  }
  return issues
}

/**
 * Reports properties of other platforms, which this one would silently ignore, and checks properties that mean something
 * else on another platform: the schema of the file accepts any of these meanings.
 *
 * @param isDeployment - whether the properties are those of a deployment, which may replace only some
 */
function findForeignProperties(
  adapter: Adapter,
  { adapters }: PlatformRegistry,
  { agent, apps }: { readonly agent: object; readonly apps: Readonly<Record<string, object>> },
  path: string,
  isDeployment = false,
): ConfigIssue[] {
  const find = (level: 'agent' | 'app', properties: object, place: string) => {
    const own = adapter.entry[level].properties
    return Object.entries(properties).flatMap(([name, value]) => {
      const at = `${place}.${name}`
      const property = Object.hasOwn(own, name) ? own[name] : undefined
      if (property !== undefined) {
        const isRefused = isDeployment && !isReplaceable(property)
        return isRefused
          ? [{ path: at, problem: `expected ${NOT_REPLACEABLE}` }]
          : findIssues(property, value, at)
      }
      const owners = adapters.filter(({ entry }) => Object.hasOwn(entry[level].properties, name))
      if (owners.length === 0) return []
      const names = owners.map(({ platform }) => platform).join(', ')
      const problem = `only for agents of the ${owners.length === 1 ? 'platform' : 'platforms'} ${names}`
      return [{ path: at, problem }]
    })
  }
  const ofApps = Object.entries(apps).flatMap(([id, app]) => find('app', app, pathOf(`${path}.apps`, id)))
  return [...find('agent', agent, path), ...ofApps]
}

/** `support-desk` → `Support desk`. */
function inWords(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ')
}
