import { defaultApp } from '#core/agents/translate/default-app.ts'
import type { AgentApp } from './adapter.ts'
import type { Agents } from './catalog.ts'
import type { ServedAgent } from './served-agent.ts'

/** An agent and the parts of it that a key may use. */
export interface AllowedAgent {
  readonly agent: ServedAgent
  /** The usable ones of the apps that the entry lists. */
  readonly apps: readonly AgentApp[]
  /** Apps that the key's allow-list names where the entry lists none and the platform accepts any app id. */
  readonly namedApps: readonly string[]
  /** Whether the key may use the whole agent and not only some of its apps. */
  readonly isWhole: boolean
}

/**
 * Whether a key with this allow-list of `agent` and `agent/app` (empty: everything) may call an app of an agent. The SQL
 * statement that admits a call decides by the same rule.
 *
 * @param app - empty for a call without an app
 */
export function isAllowedApp(allowed: readonly string[], agentId: string, app: string): boolean {
  return isWholeAllowed(allowed, agentId) || allowed.includes(`${agentId}/${app}`)
}

function isWholeAllowed(allowed: readonly string[], agentId: string): boolean {
  return allowed.length === 0 || allowed.includes(agentId)
}

/** What a key with this allow-list may use, by the rule of {@link isAllowedApp}. */
export function selectAllowedAgents(agents: Agents, allowed: readonly string[]): readonly AllowedAgent[] {
  return [...agents.values()].flatMap((agent) => allowedPartsOf(agent, allowed) ?? [])
}

function allowedPartsOf(agent: ServedAgent, allowed: readonly string[]): AllowedAgent | undefined {
  if (isWholeAllowed(allowed, agent.id)) return { agent, apps: agent.apps, namedApps: [], isWhole: true }
  const apps = agent.apps.filter(({ id }) => isAllowedApp(allowed, agent.id, id))
  const namedApps = agent.takesAnyApp ? appsNamedIn(allowed, agent.id) : []
  return apps.length + namedApps.length === 0 ? undefined : { agent, apps, namedApps, isWhole: false }
}

function appsNamedIn(allowed: readonly string[], agentId: string): string[] {
  const prefix = `${agentId}/`
  return allowed.filter((entry) => entry.startsWith(prefix)).map((entry) => entry.slice(prefix.length))
}

/** The names by which the agent can be called: `agent` if no app id is needed, and `agent/app`. */
export function modelNames({ agent, apps, namedApps, isWhole }: AllowedAgent): readonly string[] {
  const appNames = [...apps.map(({ id }) => id), ...namedApps].map((id) => `${agent.id}/${id}`)
  return isCallableAlone({ agent, apps, isWhole }) ? [agent.id, ...appNames] : appNames
}

function isCallableAlone({ agent, apps, isWhole }: Omit<AllowedAgent, 'namedApps'>): boolean {
  if (agent.apps.length === 0) return isWhole && !agent.requires.includes('app_id')
  const taken = defaultApp(agent)
  return taken !== undefined && apps.includes(taken)
}
