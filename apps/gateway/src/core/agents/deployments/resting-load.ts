import type { AgentCatalog } from '../catalog.ts'
import type { LoadReader } from './load.ts'

/** Says of every deployment of the catalogue that it is closed and carries no call. It stands in for what counts the calls. */
export function restingLoad(catalog: Pick<AgentCatalog, 'current'>): LoadReader {
  return {
    load: () =>
      [...catalog.current().values()].map(({ id, deployments }) => ({
        agent: id,
        inFlight: 0,
        waiting: 0,
        deployments: deployments.map((deployment) => ({ id: deployment.id, breaker: 'closed', inFlight: 0 })),
      })),
  }
}
