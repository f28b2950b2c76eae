import type { Agent, ConversationCalls, HelperCall, PlatformConversation } from '#core/agents/adapter.ts'
import type { AgentCatalog } from '#core/agents/catalog.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import { OpeningFailed } from '#core/agents/upstream/opening-failed.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type {
  StoredConversation,
  Conversations as StoredConversations,
} from '#core/calls/conversation/conversations.ts'
import type { ConversationName, DerivedIds } from '#core/calls/conversation/derived-ids.ts'
import { hasSeveralStates, homesOf } from '#core/calls/routing/residence.ts'

/** How long a platform may take for one of these calls; none of them runs a model. */
const WITHIN_MS = 15_000

export interface AtPlatformDeps {
  readonly catalog: Pick<AgentCatalog, 'current'>
  readonly upstream: Pick<Upstream, 'help' | 'cards'>
  readonly stored: Pick<StoredConversations, 'stored'>
  readonly derivedIds: Pick<DerivedIds, 'endUserId'>
}

/** No platform can be asked for a conversation, because the configuration does not name the one that has it any more. */
export class NotServed extends Problem {}

/** Where a conversation is kept. */
export interface Whereabouts {
  readonly agent: ServedAgent
  readonly stored: StoredConversation
  /** What can be asked of its platform, and how; undefined where the platform keeps none, or not this one. */
  readonly place: Place | undefined
}

export interface Place {
  readonly agent: Agent
  readonly calls: ConversationCalls
  readonly conversation: PlatformConversation
}

/** Finds conversations at their platforms, and asks these. */
export type AtPlatform = ReturnType<typeof createAtPlatform>

export function createAtPlatform({ catalog, upstream, stored, derivedIds }: AtPlatformDeps) {
  return {
    /**
     * @throws NotServed `not_supported_by_agent` if the agent is not configured any more, `agent_unavailable` if no deployment has the
     * conversation any more; Problem, those of {@link AtPlatform.ask} for an agent whose card has to be read
     */
    async find(conversation: ConversationName): Promise<Whereabouts> {
      const { ownerId, endUser, agent: id, app: appId } = conversation
      const served = catalog.current().get(id)
      if (served === undefined)
        throw new NotServed('not_supported_by_agent', {
          detail: `The agent ${id} of this conversation is not configured any more.`,
        })
      const context = served.context
      const isDerived = context === 'client'
      const found = await stored.stored(conversation, isDerived && hasSeveralStates(served))
      const platformConversationId = isDerived ? found.key : found.platformId
      const nowhere = { agent: served, stored: found, place: undefined }
      if (platformConversationId === undefined || (context !== 'client' && context !== 'platform'))
        return nowhere
      const homes = found.residence === undefined ? served.deployments : homesOf(served, found.residence)
      const [home] = homes
      if (home === undefined)
        throw new NotServed('agent_unavailable', {
          detail: `No deployment of ${id} has this conversation any more.`,
        })
      const { agent } = home
      const calls = agent.adapter.conversations?.(agent)
      if (calls === undefined) return nowhere
      const place = {
        agent,
        app: agent.apps.find((app) => app.id === appId),
        appId,
        endUser: derivedIds.endUserId(ownerId, endUser),
        platformConversationId,
      }
      const card = await asked(async () => upstream.cards.of(agent, WITHIN_MS))
      return { agent: served, stored: found, place: { agent, calls, conversation: { ...place, card } } }
    },
    /** What is stored here of a conversation, whether or not its platform can be asked. */
    stored: (conversation: ConversationName): Promise<StoredConversation> =>
      stored.stored(conversation, false),
    /** @throws Problem what the platform's failure means for a caller: 404, 502, 504 and the like */
    ask: <Result>(
      { agent }: Pick<Place, 'agent'>,
      call: HelperCall<Result>,
      signal?: AbortSignal,
    ): Promise<Result> =>
      asked(async () => {
        const result = await upstream.help(agent, call, WITHIN_MS, signal)
        if ('failure' in result) throw new OpeningFailed(result.failure)
        return result.ok
      }),
  }
}

/** Whether the platform has got what was changed here. */
export type PassedOn = 'yes' | 'failed' | 'unsupported'

/** Passes on a change; a failure loses nothing here, so it is only told. */
export async function passOn(
  find: () => Promise<{ readonly place: Place; readonly call: HelperCall<void> } | undefined>,
  { ask }: Pick<AtPlatform, 'ask'>,
): Promise<PassedOn> {
  try {
    const found = await find()
    if (found === undefined) return 'unsupported'
    await ask(found.place, found.call)
    return 'yes'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.reason === 'not_supported_by_agent' ? 'unsupported' : 'failed'
  }
}

async function asked<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof OpeningFailed || error instanceof UpstreamError)) throw error
    const { reason, message, retryAfterSeconds } = error.failure
    throw new Problem(reason, {
      cause: error,
      ...(message !== undefined && { detail: message }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
  }
}
