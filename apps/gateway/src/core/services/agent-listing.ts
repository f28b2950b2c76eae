import type { AgentDirectory, AgentRecord, ModelRecord } from '#core/agents/directory.ts'
import { fail } from '#core/errors.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import { networkOf } from '#core/limits/network-of.ts'
import { credentialId, type Principal } from '#core/principal.ts'

/** The agents as callers may list them: who may, and how often. */
export interface AgentListing {
  /**
   * All agents; for an API key with an allow-list, those that it names. A listing counts for the credential, and without
   * one for the network of the address.
   *
   * @throws Problem `credential_missing` where the listing is not public, `rate_limited`
   */
  list(caller: Principal | undefined, address: string, onLimit?: OnLimit): Promise<AgentRecord[]>
  /** What can be called on the OpenAI-compatible face, by name. */
  models(caller: Principal): readonly ModelRecord[]
}

export interface AgentListingDeps {
  readonly directory: AgentDirectory
  readonly limits: Pick<Limits, 'agents'>
  /** Whether callers without a credential may list. */
  readonly isPublic: boolean
}

export function createAgentListing({ directory, limits, isPublic }: AgentListingDeps): AgentListing {
  return {
    async list(caller, address, onLimit) {
      if (caller === undefined && !isPublic) fail('credential_missing')
      const limited = caller === undefined ? `address:${networkOf(address)}` : credentialId(caller)
      await requirePoint(limits.agents, limited, onLimit)
      return directory.list(caller)
    },
    models: (caller) => directory.models(caller),
  }
}
