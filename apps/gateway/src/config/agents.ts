import type { TObject } from 'typebox'
import { Value } from 'typebox/value'
import type { Adapter, Agent, Connection } from '#core/agents/adapter.ts'
import type { PlatformRegistry } from '#core/agents/registry.ts'
import { type ServedAgent, servedBySelf } from '#core/agents/served-agent.ts'
import { isObject } from '#core/values/json.ts'
import { resolveConnection } from './connection.ts'
import { type ConfigIssue, findIssues, pathOf } from './issues.ts'
import { AgentEntry } from './schema.ts'

/**
 * The agents whose entries the schema accepts, and the issues that a schema cannot express.
 *
 * @param cwd - the folder to which the paths of files are relative
 */
export function resolveAgents(
  entries: unknown,
  platforms: PlatformRegistry,
  cwd: string,
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
      const resolved = resolveConnection(entry, path, cwd)
      issues.push(...findContradictions(adapter, entry, path, platforms), ...resolved.issues)
      agents.push(servedBySelf(toAgent(id, adapter, entry, resolved.connection)))
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
  const { name, description, apiKey, timeouts, endGraceMs, reasoning } = entry
  return {
    id,
    adapter,
    name: name ?? (id === adapter.platform ? adapter.displayName : inWords(id)),
    description,
    baseUrl: entry.baseUrl.replace(/\/+$/, ''),
    ...(apiKey !== undefined && { apiKey }),
    apps: Object.entries(entry.apps).map(([appId, app]) => ({
      id: appId,
      name: app.name ?? appId,
      default: app.default ?? false,
      ...(app.apiKey !== undefined && { apiKey: app.apiKey }),
      options: optionsOf(adapter.entry.app, app),
    })),
    options: optionsOf(adapter.entry.agent, entry),
    connection,
    timeouts,
    endGraceMs,
    reasoning,
    sandbox: false,
  }
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
  { adapters }: PlatformRegistry,
): ConfigIssue[] {
  const apps = Object.entries(entry.apps)
  const has = (properties: object, name: string) => Reflect.get(properties, name) !== undefined
  const everyAppHas = (name: string) => apps.length > 0 && apps.every(([, app]) => has(app, name))

  const issues = [
    ...findForeignProperties(adapter, adapters, 'agent', entry, path),
    ...apps.flatMap(([id, app]) =>
      findForeignProperties(adapter, adapters, 'app', app, pathOf(`${path}.apps`, id)),
    ),
  ]
  if (apps.filter(([, app]) => app.default).length > 1) {
    issues.push({ path: `${path}.apps`, problem: 'expected one default at most' })
  }
  for (const name of adapter.entryRequires) {
    if (has(entry, name) || everyAppHas(name)) continue
    issues.push({ path: `${path}.${name}`, problem: 'missing, expected here or in every app' })
  }
  return issues
}

/**
 * Reports properties of other platforms, which this one would silently ignore, and checks properties that mean something
 * else on another platform: the schema of the file accepts any of these meanings.
 */
function findForeignProperties(
  adapter: Adapter,
  adapters: readonly Adapter[],
  level: 'agent' | 'app',
  properties: object,
  path: string,
): ConfigIssue[] {
  const own = adapter.entry[level].properties
  return Object.entries(properties).flatMap(([name, value]) => {
    const property = Object.hasOwn(own, name) ? own[name] : undefined
    if (property !== undefined) return findIssues(property, value, `${path}.${name}`)
    const owners = adapters.filter(({ entry }) => Object.hasOwn(entry[level].properties, name))
    if (owners.length === 0) return []
    const names = owners.map(({ platform }) => platform).join(', ')
    const problem = `only for agents of the ${owners.length === 1 ? 'platform' : 'platforms'} ${names}`
    return [{ path: `${path}.${name}`, problem }]
  })
}

/** `support-desk` → `Support desk`. */
function inWords(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ')
}
