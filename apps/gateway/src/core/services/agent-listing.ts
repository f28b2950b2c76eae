import type { AgentStanding, DeploymentRecord } from '#core/agents/deployments/describe-deployments.ts'
import type { AgentDirectory, AgentInfo, AgentRecord, ModelRecord } from '#core/agents/directory.ts'
import { fail } from '#core/errors/errors.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import { networkOf } from '#core/limits/network-of.ts'
import { credentialId, type Principal, requireAdmin } from '#core/requests/principal.ts'

/** The list of agents, with the checks of who may read it and how often. */
export interface AgentListing {
  /**
   * Returns all agents, or for an API key with an allow-list those that it names. The rate limit counts by credential, and
   * without one by the network of the address.
   *
   * @throws Problem `credential_missing` if the listing is not public, `rate_limited`
   */
  list(caller: Principal | undefined, address: string, onLimit?: OnLimit): Promise<AgentRecord[]>
  /**
   * Returns the agents with these ids that the caller may use, for what refers to them by id, such as a call. It takes no
   * point of the rate limit, because no platform is probed for it.
   */
  findMany(caller: Principal, ids: readonly string[]): readonly AgentInfo[]
  /**
   * Returns the status of one of these agents, since when and why. Probes are shared by all callers for some seconds, so it takes no point either.
   *
   * @throws Problem `agent_denied` for an agent that the caller may not use or that does not exist
   */
  statusOf(caller: Principal, id: string): Promise<AgentStanding>
  /**
   * Returns the deployments of one of these agents, for administrators, with what every live process knows of them. It takes
   * no point, for the same reason.
   *
   * @throws Problem `permission_denied`, `role_denied`, or `object_not_found` for an agent that the caller may not use or that
   * does not exist
   */
  deploymentsOf(caller: Principal, id: string): Promise<DeploymentRecord[]>
  /** Returns the models that the caller can use on the OpenAI-compatible face. */
  models(caller: Principal): readonly ModelRecord[]
}

export interface AgentListingDeps {
  readonly directory: AgentDirectory
  readonly limits: Pick<Limits, 'agents'>
  /** Whether callers without a credential may read the list. */
  readonly isPublic: boolean
}

export function createAgentListing({ directory, limits, isPublic }: AgentListingDeps): AgentListing {
  return {
    async list(caller, address, onLimit) {
      if (caller === undefined && !isPublic) fail('credential_missing')
      const limitKey = caller === undefined ? `address:${networkOf(address)}` : credentialId(caller)
      await requirePoint(limits.agents, limitKey, onLimit)
      return directory.list(caller)
    },
    findMany: (caller, ids) => directory.find(caller, ids),
    statusOf: async (caller, id) => directory.statusOf(caller, id) ?? fail('agent_denied'),
    async deploymentsOf(caller, id) {
      requireAdmin(caller)
      return (
        directory.deploymentsOf(caller, id) ?? fail('object_not_found', 'There is no agent with this id.')
      )
    },
    models: (caller) => directory.models(caller),
  }
}
