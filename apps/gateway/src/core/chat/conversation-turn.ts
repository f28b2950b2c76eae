import type { Adapter, AgentCall } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { agentFile } from '#core/agents/translate/agent-file.ts'
import { isPlatformId } from '#core/agents/translate/platform-id.ts'
import { userMessage } from '#core/agents/translate/user-message.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { handled } from '#core/async/handled.ts'
import type { Admitted } from '#core/ledger/ledger.ts'
import { type AttachDeps, attachFiles } from './attach-files.ts'
import type { ResolvedCall } from './chat-call.ts'
import type { Conversations, Mapping } from './conversations.ts'
import type { DerivedIds } from './derived-ids.ts'
import { KeptAnswer } from './kept-answer.ts'
import { withTurns } from './kept-messages.ts'
import { OpeningFailed } from './opening-failed.ts'

/** One call's turn in its conversation: what is sent to the platform, and what is stored of the reply. */
export interface ConversationTurn {
  /** What the adapter builds its request from; replaced by a copy without texts once the request has been sent. */
  call: AgentCall
  /** Receives the events that are passed on to the reader. */
  saw(events: readonly ChatEvent[]): void
  /** Receives the platform's id of the conversation, as often as the platform sends it. */
  named(platformId: string): void
  /**
   * Builds the request anew after a failure that this can cure: the platform no longer knows a file that an earlier call
   * brought there. Undefined for every other failure. Used at most once.
   */
  renewed?: (failure: Failure) => Promise<AgentCall> | undefined
  /** Ends a complete reply. Resolves when the next turn can see this one; undefined if there is nothing to wait for. */
  complete(): Promise<void> | undefined
  /** Ends a failed reply; without a failure, one that was cancelled. */
  failed(failure: Failure | undefined): Promise<void>
}

export interface TurnDeps extends AttachDeps {
  readonly conversations: Conversations
  readonly derivedIds: DerivedIds
  /** A longer turn is never sent again, so no more of an answer than this is collected. */
  readonly keptCharactersMax: number
}

/** What the opening of a turn can learn of the end of its call, which may come first: the client may disconnect meanwhile. */
export interface CallEnding {
  isOver(): boolean
  /** Sets the one listener that is called when the call ends. */
  onOver(listener: () => void): void
}

export interface TurnRequest extends CallEnding {
  readonly call: ResolvedCall
  readonly callId: string
  readonly admitted: Admitted
  /** The client's id of the conversation. */
  readonly conversationId: string
}

/**
 * Enters the conversation of a call. How depends on where the agent keeps its context (`Adapter.context`): at the
 * platform, in the gateway, with the client, or not at all.
 *
 * @throws OpeningFailed if the platform fails to create a conversation
 * @throws Problem `conversation_busy`, `conversation_not_found`
 */
export function openTurn(deps: TurnDeps, request: TurnRequest): ConversationTurn | Promise<ConversationTurn> {
  const { call, admitted } = request
  const baseCall = agentCall(call, deps.derivedIds.endUserId(admitted.ownerId, call.endUser))
  return call.hasOwnFiles ? turnWithFiles(deps, request, baseCall) : enterTurn(deps, request, baseCall)
}

async function turnWithFiles(
  deps: TurnDeps,
  request: TurnRequest,
  baseCall: AgentCall,
): Promise<ConversationTurn> {
  const { call, admitted, onOver } = request
  const attached = await attachFiles(deps, { call, agentCall: baseCall, ownerId: admitted.ownerId, onOver })
  const { renewed, release } = attached
  let turn: ConversationTurn
  try {
    turn = await enterTurn(deps, request, attached.agentCall)
  } catch (error) {
    release()
    throw error
  }
  const { call: turnCall } = turn
  const withRelease: ConversationTurn = {
    ...turn,
    complete() {
      release()
      return turn.complete()
    },
    failed(failure) {
      release()
      return turn.failed(failure)
    },
  }
  if (renewed === undefined) return withRelease
  return {
    ...withRelease,
    renewed: (failure) => renewed(failure)?.then(({ files }): AgentCall => ({ ...turnCall, files })),
  }
}

function enterTurn(
  deps: TurnDeps,
  request: TurnRequest,
  baseCall: AgentCall,
): ConversationTurn | Promise<ConversationTurn> {
  const { call, admitted, conversationId } = request
  const { derivedIds } = deps
  switch (call.adapter.context(call.target)) {
    case 'client': {
      const derived = conversationKey(derivedIds, call, admitted, conversationId)
      return plainTurn({ ...baseCall, platformConversationId: derived })
    }
    case 'platform':
      return mappedTurn(deps, request, baseCall)
    case 'gateway':
      // A request with the whole message array brings its own context.
      return call.messages === undefined || call.keepsTurn
        ? rememberedTurn(deps, request, baseCall)
        : plainTurn(baseCall)
    case 'none':
      return plainTurn(baseCall)
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
    // Those that the gateway has itself are attached separately.
    files: call.hasOwnFiles
      ? []
      : call.files.flatMap((file) => (typeof file === 'string' ? agentFile(file) : [])),
    variables: call.variables,
    platformConversationId: undefined,
    endUser,
    parameters: call.parameters ?? {},
  }
}

function plainTurn(call: AgentCall): ConversationTurn {
  return { call, ...NOTHING_KEPT }
}

/** Shared by all calls, because functions of its own would cost every open stream memory. */
const NOTHING_KEPT: Omit<ConversationTurn, 'call'> = {
  saw: () => undefined,
  named: () => undefined,
  complete: () => undefined,
  failed: async () => undefined,
}

/** For agents without memory: the stored turns are sent before the query, and the completed turn is stored. */
async function rememberedTurn(
  { conversations, derivedIds, keptCharactersMax }: TurnDeps,
  { call, callId, admitted, conversationId }: TurnRequest,
  baseCall: AgentCall,
): Promise<ConversationTurn> {
  const key = conversationKey(derivedIds, call, admitted, conversationId)
  // A conversation that starts with this call has no turns yet, so the query is saved.
  const turns = call.clientConversationId === '' ? [] : await conversations.turns(key)
  const answer = new KeptAnswer(keptCharactersMax)
  const { messages, question } = withTurns(
    turns,
    baseCall.messages ?? [userMessage(call.query, baseCall.files)],
  )
  return {
    ...plainTurn({ ...baseCall, messages }),
    saw(events) {
      for (const event of events) answer.add(event)
    },
    // A reply that only calls tools is no turn yet: the client repeats it with what the tools return.
    complete: () =>
      call.messages !== undefined && answer.text === ''
        ? undefined
        : conversations.remember(key, callId, question, answer.text),
  }
}

/** For platforms that assign conversation ids themselves: the client's id is mapped to the platform's. */
async function mappedTurn(
  deps: TurnDeps,
  { call, callId, admitted, conversationId, isOver }: TurnRequest,
  baseCall: AgentCall,
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
  const platformId =
    mapping.platformId ?? (await createConversation(upstream, call.adapter, baseCall, mapping))
  let named: string | undefined
  let binding: Promise<void> | undefined
  return {
    ...plainTurn({ ...baseCall, platformConversationId: platformId }),
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
      // Retried once, for a short outage of the database: without the binding the next turn would start a new conversation.
      await binding.catch(() => mapping.bind(id))
    },
    async failed(failure) {
      await binding?.catch(() => undefined)
      if (failure?.reason === 'conversation_not_found') await mapping.lose()
      else if (binding === undefined && platformId === undefined) await mapping.release()
    },
  }
}

/** Returns undefined if the platform creates the conversation with the first message. */
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
    // A failed release must not hide the original error; the lease expires by itself.
    await mapping.release().catch(() => undefined)
    throw error
  }
}

/** The key of one end user's conversation with one app. Ids sent by other callers or end users never lead to it. */
function conversationKey(
  derivedIds: DerivedIds,
  call: ResolvedCall,
  { ownerId }: Admitted,
  conversationId: string,
): string {
  return derivedIds.conversationKey([ownerId, call.endUser, call.target.id, call.ledgerApp, conversationId])
}
