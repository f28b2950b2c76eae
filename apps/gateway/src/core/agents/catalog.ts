import type { ServedAgent } from './served-agent.ts'

export type Agents = ReadonlyMap<string, ServedAgent>

/** The agents that the gateway serves, which may change while it runs. */
export interface AgentCatalog {
  /**
   * The agents of this moment, by id. It is read where it is used and never kept. What has begun with an agent, such as a
   * call, goes on with that one, whatever the catalogue holds later.
   */
  current(): Agents
  /** The ids that keys and reports may name: those of {@link AgentCatalog.current}, and of agents that another process serves. */
  knownIds(): ReadonlySet<string>
}

/** The catalogue as the process sees it, which alone may change it. */
export interface ChangeableCatalog extends AgentCatalog {
  replace(agents: readonly ServedAgent[]): void
}

/** @param elsewhere - ids of agents that only other processes serve, such as emulators */
export function createAgentCatalog(
  agents: readonly ServedAgent[],
  elsewhere: readonly string[] = [],
): ChangeableCatalog {
  let current: Agents
  let knownIds: ReadonlySet<string>
  const replace = (next: readonly ServedAgent[]) => {
    current = new Map(next.map((agent) => [agent.id, agent]))
    knownIds = new Set([...current.keys(), ...elsewhere])
  }
  replace(agents)
  return { replace, current: () => current, knownIds: () => knownIds }
}
