import { defaultApp } from '#core/agents/translate/default-app.ts'
import type { Agent, AgentApp } from './adapter.ts'

/** An agent, and what of it a key may use. */
export interface UsableAgent {
  readonly agent: Agent
  /** Of the apps that its entry lists. */
  readonly apps: readonly AgentApp[]
  /** Apps that the key names at a platform which takes any: the entry lists none. */
  readonly namedApps: readonly string[]
  /** All of it, and not only some of its apps. */
  readonly isWhole: boolean
}

/** By a key's list of `agent` and `agent/app`, empty for all: the same rule as in the admission's statement. */
export function usableAgents(
  agents: ReadonlyMap<string, Agent>,
  allowed: readonly string[],
): readonly UsableAgent[] {
  return [...agents.values()].flatMap((agent) => usableParts(agent, allowed) ?? [])
}

function usableParts(agent: Agent, allowed: readonly string[]): UsableAgent | undefined {
  if (allowed.length === 0 || allowed.includes(agent.id)) {
    return { agent, apps: agent.apps, namedApps: [], isWhole: true }
  }
  const prefix = `${agent.id}/`
  const named = allowed.filter((entry) => entry.startsWith(prefix)).map((entry) => entry.slice(prefix.length))
  const apps = agent.apps.filter(({ id }) => named.includes(id))
  const namedApps = takesAnyApp(agent) ? named : []
  return apps.length + namedApps.length === 0 ? undefined : { agent, apps, namedApps, isWhole: false }
}

/** Whether whatever a caller writes as the app's id goes to the platform. */
export function takesAnyApp(agent: Agent): boolean {
  return agent.apps.length === 0 && agent.adapter.takesAppIds
}

/** What can be called of it under a name: `agent` where no app is needed, and `agent/app`. */
export function modelNames({ agent, apps, namedApps, isWhole }: UsableAgent): readonly string[] {
  const appNames = [...apps.map(({ id }) => id), ...namedApps].map((id) => `${agent.id}/${id}`)
  return isCallableAlone({ agent, apps, isWhole }) ? [agent.id, ...appNames] : appNames
}

function isCallableAlone({ agent, apps, isWhole }: Omit<UsableAgent, 'namedApps'>): boolean {
  if (agent.apps.length === 0) return isWhole && !agent.adapter.requires(agent).includes('app_id')
  const taken = defaultApp(agent)
  return taken !== undefined && apps.includes(taken)
}
