import type { Adapter, AgentCall } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { agentFile } from '#core/agents/translate/agent-file.ts'
import { isPlatformId } from '#core/agents/translate/platform-id.ts'
import { userMessage } from '#core/agents/translate/user-message.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { handled } from '#core/handled.ts'
import type { Admitted } from '#core/usage/ledger.ts'
import type { ResolvedCall } from './chat-call.ts'
import type { Conversations, Mapping } from './conversations.ts'
import type { DerivedIds } from './derived-ids.ts'
import { KeptAnswer } from './kept-answer.ts'

/** One call's part in its conversation: what the platform is asked with, and what is kept of the answer. */
export interface ConversationTurn {
  /** What the platform is asked with; once it has been asked, the same without its texts. */
  call: AgentCall
  /** Events that were passed on. */
  saw(events: readonly ChatEvent[]): void
  /** The platform names its conversation; told as often as it does. */
  named(platformId: string): void
  /** The reply is complete. Resolves when the next turn can see it; undefined where it can already. */
  complete(): Promise<void> | undefined
  failed(failure: Failure | undefined): Promise<void>
}

export interface TurnDeps {
  readonly conversations: Conversations
  readonly derivedIds: DerivedIds
  readonly upstream: Upstream
  /** A turn of more characters is never sent again, so no more of an answer than that is gathered. */
  readonly keptCharactersMax: number
}

export interface TurnRequest {
  readonly call: ResolvedCall
  readonly callId: string
  readonly admitted: Admitted
  /** The conversation as the client names it. */
  readonly conversationId: string
  /** Whether the caller is gone meanwhile. */
  isOver(): boolean
}

/** A platform refused to open a conversation. */
export class OpeningFailed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.reason)
    this.failure = failure
  }
}

/** Enters the conversation of a call, in the way that its platform keeps conversations. */
export function openTurn(deps: TurnDeps, request: TurnRequest): ConversationTurn | Promise<ConversationTurn> {
  const { call, admitted, conversationId } = request
  const { derivedIds } = deps
  const asked = agentCall(call, derivedIds.endUserId(admitted.ownerId, call.endUser))
  switch (call.adapter.context(call.target)) {
    case 'client': {
      const derived = conversationKey(derivedIds, call, admitted, conversationId)
      return plainTurn({ ...asked, platformConversationId: derived })
    }
    case 'platform':
      return mappedTurn(deps, request, asked)
    case 'gateway':
      // A face that carries the whole array keeps its context itself.
      return call.messages === undefined ? rememberedTurn(deps, request, asked) : plainTurn(asked)
    case 'none':
      return plainTurn(asked)
  }
}

function agentCall(call: ResolvedCall, endUser: string): AgentCall {
  return {
    agent: call.target,
    app: call.app,
    appId: call.appId,
    stream: call.stream,
    query: call.query,
    messages: call.messages,
    files: call.files.map(agentFile),
    variables: call.variables,
    platformConversationId: undefined,
    endUser,
    parameters: call.parameters ?? {},
  }
}

function plainTurn(call: AgentCall): ConversationTurn {
  return { call, ...NOTHING_KEPT }
}

/** Shared by all calls: each open stream has one. */
const NOTHING_KEPT: Omit<ConversationTurn, 'call'> = {
  saw: () => undefined,
  named: () => undefined,
  complete: () => undefined,
  failed: async () => undefined,
}

/** For agents without a context: the kept turns go before the query, and the completed one is kept. */
async function rememberedTurn(
  { conversations, derivedIds, keptCharactersMax }: TurnDeps,
  { call, callId, admitted, conversationId }: TurnRequest,
  asked: AgentCall,
): Promise<ConversationTurn> {
  const key = conversationKey(derivedIds, call, admitted, conversationId)
  // A conversation that starts with this call has no turns to look for.
  const turns = call.clientConversationId === '' ? [] : await conversations.turns(key)
  const answer = new KeptAnswer(keptCharactersMax)
  return {
    ...plainTurn({ ...asked, messages: [...turns, userMessage(call.query, asked.files)] }),
    saw(events) {
      for (const event of events) answer.add(event)
    },
    complete: () => conversations.remember(key, callId, call.query, answer.text),
  }
}

/** For platforms with ids of their own. */
async function mappedTurn(
  deps: TurnDeps,
  { call, callId, admitted, conversationId, isOver }: TurnRequest,
  asked: AgentCall,
): Promise<ConversationTurn> {
  const { conversations, derivedIds, upstream } = deps
  const mapping = await conversations.enter({
    key: conversationKey(derivedIds, call, admitted, conversationId),
    ownerId: admitted.ownerId,
    agent: call.target.id,
    callId,
    waitMs: call.target.timeouts.firstByteMs,
    isOver,
  })
  const platformId = mapping.platformId ?? (await createConversation(upstream, call.adapter, asked, mapping))
  let named: string | undefined
  let binding: Promise<void> | undefined
  return {
    ...plainTurn({ ...asked, platformConversationId: platformId }),
    named(id) {
      if (platformId !== undefined || binding !== undefined) return
      named = id
      binding = handled(mapping.bind(id))
    },
    async complete() {
      if (binding === undefined || named === undefined) {
        if (platformId === undefined) await mapping.release()
        return
      }
      const id = named
      // The database may have been away for a moment: without the binding the next turn would start a new conversation.
      await binding.catch(() => mapping.bind(id))
    },
    async failed(failure) {
      await binding?.catch(() => undefined)
      if (failure?.reason === 'conversation_not_found') await mapping.lose()
      else if (binding === undefined && platformId === undefined) await mapping.release()
    },
  }
}

/** Undefined where the platform makes the conversation with the first message. */
async function createConversation(
  upstream: Upstream,
  adapter: Adapter,
  call: AgentCall,
  mapping: Mapping,
): Promise<string | undefined> {
  const helper = adapter.createConversation?.(call)
  if (helper === undefined) return undefined
  try {
    const result = await upstream.help(call.agent, helper, call.agent.timeouts.firstByteMs)
    if ('failure' in result) throw new OpeningFailed(result.failure)
    const { platformConversationId } = result.ok
    if (!isPlatformId(platformConversationId)) throw new OpeningFailed({ reason: 'agent_malformed' })
    await mapping.bind(platformConversationId)
    return platformConversationId
  } catch (error) {
    // That it cannot be released either must not hide why; its lease ends by itself.
    await mapping.release().catch(() => undefined)
    throw error
  }
}

/** One end user's conversation with one app: nobody else's ids lead to it. */
function conversationKey(
  derivedIds: DerivedIds,
  call: ResolvedCall,
  { ownerId }: Admitted,
  conversationId: string,
): string {
  return derivedIds.conversationKey([ownerId, call.endUser, call.target.id, call.ledgerApp, conversationId])
}
