import type { AgentDirectory, AgentRecord } from '#core/agents/directory.ts'
import { fail } from '#core/base/errors/errors.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import { networkOf } from '#core/limits/network-of.ts'
import { credentialId, type Principal } from '#core/requests/principal.ts'

/** The agents, with the check of who may list them and how often. The other methods take no point: their probes are shared. */
export type Agents = ReturnType<typeof withListingLimit>

export interface AgentListingDeps {
  readonly limits: Pick<Limits, 'agents'>
  /** Whether callers without a credential may read the list. */
  readonly isPublic: boolean
}

export function withListingLimit(directory: AgentDirectory, { limits, isPublic }: AgentListingDeps) {
  return {
    ...directory,
    /**
     * Returns all agents, or for an API key with an allow-list those that it names. The rate limit counts by credential, and
     * without one by the network of the address.
     *
     * @throws Problem `credential_missing` if the listing is not public, `rate_limited`
     */
    async list(caller: Principal | undefined, address: string, onLimit?: OnLimit): Promise<AgentRecord[]> {
      if (caller === undefined && !isPublic) fail('credential_missing')
      const limitKey = caller === undefined ? `address:${networkOf(address)}` : credentialId(caller)
      await requirePoint(limits.agents, limitKey, onLimit)
      return directory.list(caller)
    },
  }
}
