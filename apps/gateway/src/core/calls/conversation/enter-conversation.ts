import type { AgentCall, CallMessage } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import type { PauseAnswer } from '#core/agents/pause.ts'
import { agentFile } from '#core/agents/translate/agent-file.ts'
import { isPlatformId } from '#core/agents/translate/platform-id.ts'
import { userMessage } from '#core/agents/translate/user-message.ts'
import { OpeningFailed } from '#core/agents/upstream/opening-failed.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { TurnState } from '#core/calls/call-events.ts'
import {
  type AttachDeps,
  attachFiles,
  type HeldMemory,
  type KnownFiles,
} from '#core/calls/request/attach-files.ts'
import type { Call } from '#core/calls/request/call.ts'
import type { DeployedCall } from '#core/calls/request/deployed-call.ts'
import { type Residence, residenceAt } from '#core/calls/routing/residence.ts'
import type { Traced } from '#core/requests/request-trace.ts'
import { type ContinuationDeps, continuedConversation } from './continuation.ts'
import type { Conversations, Mapping } from './conversations.ts'
import type { ConversationName } from './derived-ids.ts'
import { earlierTurns } from './earlier-turns.ts'
import { withTurns } from './messages-with-turns.ts'
import { answerAfter } from './stored-answer.ts'

/** One call's turn in its conversation: what is stored of the reply. */
export interface ConversationTurn {
  /** Receives the events that are passed on to the reader. */
  saw(events: readonly ChatEvent[]): void
  /** Receives the platform's id of the conversation, as often as the platform sends it. */
  named(platformId: string): void
  /** Ends a complete reply. Resolves when the next turn can see this one; undefined if there is nothing to wait for. */
  complete(): Promise<void> | undefined
  /** Ends a failed reply; without a failure, one that was cancelled. */
  failed(failure: Failure | undefined, turn: TurnState): Promise<void>
}

/** A conversation that a call has entered. */
export interface Entered {
  /** What the adapter builds its request from. */
  readonly agentCall: AgentCall
  readonly turn: ConversationTurn
  /** What files within the request take, until the call has ended. */
  readonly memory?: HeldMemory | undefined
  readonly knownFiles?: KnownFiles | undefined
  /** Whether another request was sent to the platform first: to create the conversation, or to upload a file. */
  readonly askedPlatform?: boolean
}

export interface EnterDeps extends AttachDeps, ContinuationDeps {
  readonly conversations: Conversations
  /** A longer turn is never sent again, so no more of an answer than this is collected. */
  readonly keptCharactersMax: number
}

/** The end of a call, which may come while its conversation is entered: the client may disconnect meanwhile. */
export interface CallEnding {
  readonly isOver: boolean
  /** Aborts when the call ends. It is created when it is first read, because most calls need none. */
  readonly signal: AbortSignal
}

/** The conversation turns out to live at another deployment. Nothing has been entered. */
export class LivesElsewhere extends Error {
  readonly residence: Residence

  constructor(residence: Residence) {
    super('the conversation lives at another deployment')
    this.residence = residence
  }
}

/** What enters a conversation. */
export interface AdmittedChat<Asked extends Call = DeployedCall> extends Traced {
  readonly call: Asked
  readonly callId: string
  readonly ownerId: string
  /** The API key of the call. */
  readonly keyId?: string
  /** The client's id of the conversation. */
  readonly conversationId: string
  /** How often a conversation with this id was deleted before; absent for 0. */
  readonly generation?: number | undefined
  /** Whether the call goes on when its client is gone. */
  readonly isKept?: boolean
  /** Present if the call continues a run that waits. */
  readonly answer?: PauseAnswer | undefined
  /** Whether the call gives a pause up and asks nothing. */
  readonly isSilent?: boolean
}

/**
 * Enters the conversation of a call. How depends on where the agent keeps its context (`Adapter.context`): at the
 * platform, in the gateway, with the client, or not at all.
 *
 * @throws OpeningFailed if the platform fails to create a conversation or refuses a file
 * @throws LivesElsewhere
 * @throws Problem `conversation_busy`, `conversation_not_found`, `previous_response_not_found`; those of {@link attachFiles}
 */
export function enterConversation(
  deps: EnterDeps,
  chat: AdmittedChat,
  ending: CallEnding,
): Entered | Promise<Entered> {
  const { call, callId, ownerId, answer, isKept = false } = chat
  const asked = agentCallOf(deps, chat)
  const baseCall = { ...asked, isKept, ...(answer !== undefined && { answer }) }
  const enter = call.asks.hasOwnFiles ? enterWithFiles : enterAlone
  // Read before the admission as well, but other calls may have continued the same conversation since.
  return call.conversation.kind === 'continued' && answer === undefined
    ? continuedConversation(deps, call, ownerId, call.conversation, callId).then(() =>
        enter(deps, chat, baseCall, ending),
      )
    : enter(deps, chat, baseCall, ending)
}

/** The call as its adapter gets it, apart from what is stored of its conversation. */
export function agentCallOf(
  { derivedIds }: Pick<EnterDeps, 'derivedIds'>,
  {
    call: asked,
    callId,
    ownerId,
  }: Pick<AdmittedChat<Call & Pick<DeployedCall, 'card'>>, 'call' | 'callId' | 'ownerId'>,
): AgentCall {
  const { agent, app, appId, stream, asks, card } = asked
  const endUser = derivedIds.endUserId(ownerId, asked.endUser)
  const call = { callId, agent, card, app, appId, stream, platformConversationId: undefined, endUser }
  if (asks.kind === 'messages') {
    const { messages, parameters, sentFields } = asks
    return { ...call, query: '', messages, files: [], variables: {}, parameters, sentFields }
  }
  const { query, variables, hasOwnFiles } = asks
  // Files that the gateway has itself are attached separately.
  const files = hasOwnFiles
    ? []
    : asks.files.flatMap(({ file }) => (typeof file === 'string' ? agentFile(file) : []))
  return { ...call, query, messages: undefined, files, variables, parameters: {} }
}

async function enterWithFiles(
  deps: EnterDeps,
  chat: AdmittedChat,
  baseCall: AgentCall,
  ending: CallEnding,
): Promise<Entered> {
  const { call, ownerId } = chat
  const { signal } = ending
  const { memory, knownFiles, agentCall } = await attachFiles(deps, {
    call,
    agentCall: baseCall,
    ownerId,
    signal,
  })
  try {
    const entered = await enterAlone(deps, chat, agentCall, ending)
    return { ...entered, memory, knownFiles, askedPlatform: true }
  } catch (error) {
    memory.release()
    throw error
  }
}

function enterAlone(
  deps: EnterDeps,
  chat: AdmittedChat,
  baseCall: AgentCall,
  ending: CallEnding,
): Entered | Promise<Entered> {
  const { agent, asks } = chat.call
  switch (agent.context) {
    case 'client':
      return derivedTurn(deps, chat, baseCall)
    case 'platform':
      return mappedTurn(deps, chat, baseCall, ending)
    case 'gateway':
      // A request with the whole message array brings its own context.
      return asks.kind === 'question' || asks.keepsTurn
        ? rememberedTurn(deps, chat, baseCall)
        : plainTurn(baseCall)
    case 'none':
      return plainTurn(baseCall)
  }
}

function plainTurn(agentCall: AgentCall): Entered {
  return { agentCall, turn: NOTHING_KEPT }
}

/** For platforms that take the gateway's ids: where such a conversation lives must be known if there are several places. */
function derivedTurn(deps: EnterDeps, chat: AdmittedChat, baseCall: AgentCall): Entered | Promise<Entered> {
  const key = conversationKey(deps, chat)
  const agentCall = { ...baseCall, platformConversationId: key }
  const enter = (call: AgentCall) => enterDerived(deps, chat, call, key)
  if (chat.call.agent.adapter.makesConversations !== true) return enter(agentCall)
  const { kind } = chat.call.conversation
  if (kind !== 'named' || chat.answer !== undefined) return enter({ ...agentCall, isNew: kind === 'new' })
  const name = nameOf(chat.call, chat.ownerId, chat.conversationId)
  return earlierTurns(deps.sql, name, chat.callId).then((turns) =>
    enter({ ...agentCall, isNew: turns !== 'some' }),
  )
}

function enterDerived(
  deps: EnterDeps,
  chat: AdmittedChat,
  agentCall: AgentCall,
  key: string,
): Entered | Promise<Entered> {
  return chat.call.isPlaced ? placedTurn(deps, chat, agentCall, key) : plainTurn(agentCall)
}

async function placedTurn(
  deps: EnterDeps,
  { call, callId, ownerId }: AdmittedChat,
  agentCall: AgentCall,
  key: string,
): Promise<Entered> {
  const residence = residenceAt(call.deployment)
  const settled = await deps.conversations.settle({ key, ownerId, agent: call.agent.id, callId, residence })
  requireHere(call, settled)
  return {
    agentCall,
    turn: {
      ...NOTHING_KEPT,
      async failed(_failure, turn) {
        if (turn === 'none') await deps.conversations.unsettle(key, callId)
      },
    },
  }
}

/** @throws LivesElsewhere */
function requireHere(call: DeployedCall, residence: Residence): void {
  if (!call.canContinue(residence)) throw new LivesElsewhere(residence)
}

/** Shared by all calls, because functions of its own would cost every open stream memory. */
const NOTHING_KEPT: ConversationTurn = {
  saw: () => undefined,
  named: () => undefined,
  complete: () => undefined,
  failed: async () => undefined,
}

/** For agents without memory: the stored turns are sent before the query, and the completed turn is stored. */
function rememberedTurn(
  deps: EnterDeps,
  chat: AdmittedChat,
  baseCall: AgentCall,
): Entered | Promise<Entered> {
  const key = conversationKey(deps, chat)
  // A conversation that starts with this call has no turns yet, so the query is saved.
  if (chat.call.conversation.kind === 'new') return turnAfter([], deps, chat, baseCall, key)
  return deps.conversations.turns(key).then((turns) => turnAfter(turns, deps, chat, baseCall, key))
}

function turnAfter(
  turns: readonly CallMessage[],
  { conversations, keptCharactersMax }: EnterDeps,
  { call, callId }: AdmittedChat,
  baseCall: AgentCall,
  key: string,
): Entered {
  const { query, files } = baseCall
  const isWholeArray = call.asks.kind === 'messages'
  const { messages, question } = isWholeArray
    ? withTurns(turns, baseCall.messages ?? [])
    : { messages: [...turns, userMessage(query, files)], question: query.trim() === '' ? '' : query }
  let answer = ''
  return {
    agentCall: { ...baseCall, messages },
    turn: {
      ...NOTHING_KEPT,
      saw(events) {
        for (const event of events) answer = answerAfter(answer, event, keptCharactersMax)
      },
      // A reply that only calls tools is no turn yet: the client repeats it with what the tools return.
      complete: () =>
        isWholeArray && answer === '' ? undefined : conversations.remember(key, callId, question, answer),
    },
  }
}

/** For platforms that assign conversation ids themselves: the client's id is mapped to the platform's. */
async function mappedTurn(
  deps: EnterDeps,
  chat: AdmittedChat,
  baseCall: AgentCall,
  ending: CallEnding,
): Promise<Entered> {
  const { agent } = baseCall
  const mapping = await deps.conversations.enter(
    {
      key: conversationKey(deps, chat),
      ownerId: chat.ownerId,
      agent: agent.id,
      callId: chat.callId,
      waitMs: agent.timeouts.firstByteMs,
      residence: residenceAt(chat.call.deployment),
    },
    ending,
  )
  requireHere(chat.call, mapping.residence)
  const platformId = mapping.platformId ?? (await createConversation(deps.upstream, baseCall, mapping))
  return {
    agentCall: { ...baseCall, platformConversationId: platformId },
    turn: new MappedTurn(mapping, platformId),
    askedPlatform: mapping.platformId === undefined && platformId !== undefined,
  }
}

/** The turn of a conversation whose id the platform assigns, in its first call or before it. */
class MappedTurn implements ConversationTurn {
  readonly #mapping: Mapping
  /** Known before the request was sent. */
  readonly #platformId: string | undefined
  /** Named by the reply. */
  #named: string | undefined
  #binding: Promise<void> | undefined

  constructor(mapping: Mapping, platformId: string | undefined) {
    this.#mapping = mapping
    this.#platformId = platformId
  }

  saw(): void {}

  named(id: string): void {
    if (this.#platformId !== undefined || this.#binding !== undefined) return
    this.#named = id
    this.#binding = markRejectionHandled(this.#mapping.bind(id))
  }

  async complete(): Promise<void> {
    if (this.#binding === undefined || this.#named === undefined) {
      if (this.#platformId === undefined) await this.#mapping.release()
      return
    }
    const id = this.#named
    // Retried once, for a short outage of the database: without the binding the next turn would start a new conversation.
    await this.#binding.catch(() => this.#mapping.bind(id))
  }

  async failed(failure: Failure | undefined): Promise<void> {
    await this.#binding?.catch(() => undefined)
    if (failure?.reason === 'conversation_not_found') await this.#mapping.lose()
    else if (this.#binding === undefined && this.#platformId === undefined) await this.#mapping.release()
  }
}

/** Returns undefined if the platform creates the conversation with the first message. */
async function createConversation(
  upstream: Upstream,
  call: AgentCall,
  mapping: Mapping,
): Promise<string | undefined> {
  const helper = call.agent.adapter.createConversation?.(call)
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

/** The key of the conversation of an admitted call. */
export function conversationKey(
  { derivedIds }: Pick<EnterDeps, 'derivedIds'>,
  { call, ownerId, conversationId, generation }: Omit<AdmittedChat<Call>, 'callId'>,
): string {
  return derivedIds.conversationKey({ ...nameOf(call, ownerId, conversationId), generation })
}

/** What names the conversation of a call. */
export function nameOf(
  { agent, ledgerApp, endUser }: Pick<Call, 'agent' | 'ledgerApp' | 'endUser'>,
  ownerId: string,
  conversation: string,
): ConversationName {
  return { ownerId, endUser, agent: agent.id, app: ledgerApp, conversation }
}
