import type { Deployment } from '#core/agents/served-agent.ts'
import type { Kept } from './fast-metrics.ts'

/** The agents of the configuration and the ids of their deployments. */
export type ServedIds = ReadonlyMap<string, { readonly deployments: readonly Pick<Deployment, 'id'>[] }>

/** The label of a deployment that was taken out of the configuration while its last calls went on. */
const OTHER_DEPLOYMENT = 'other'

/** Bounds the labels of agents and deployments to those that are served. Before it knows the catalogue it keeps all. */
export class ServedLabels {
  /** For series whose first label is an agent. */
  readonly ofAgents = { keeps: (agent: string) => this.#catalog?.current().has(agent) ?? true }
  /** For series whose first labels are an agent and its deployment. */
  readonly ofDeployments: Kept = {
    keeps: (agent, deployment = '') =>
      this.deployment(agent, deployment) === deployment && this.ofAgents.keeps(agent),
  }
  #catalog: { current(): ServedIds } | undefined

  watch(catalog: { current(): ServedIds }): void {
    this.#catalog = catalog
  }

  /** The agents with each of their deployments. */
  deployments(): readonly (readonly [agent: string, deployment: string])[] {
    const served = [...(this.#catalog?.current() ?? [])]
    return served.flatMap(([agent, { deployments }]) => deployments.map(({ id }) => [agent, id] as const))
  }

  /** The label of a deployment. */
  deployment(agent: string, deployment: string): string {
    if (this.#catalog === undefined) return deployment
    for (const { id } of this.#catalog.current().get(agent)?.deployments ?? [])
      if (id === deployment) return deployment
    return OTHER_DEPLOYMENT
  }
}
