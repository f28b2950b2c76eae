import { createHash } from 'node:crypto'
import {
  type Authentication,
  keyFormatProblem,
  type RequestOrigin,
} from '#core/accounts/auth/authenticate.ts'
import { hashKey, isWellFormedKey } from '#core/accounts/keys/key-format.ts'
import type { KeyWatch } from '#core/accounts/keys/key-watch.ts'
import type { AgentCatalog } from '#core/agents/catalog.ts'
import type { ChatEvents } from '#core/agents/events.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { Problem } from '#core/errors/errors.ts'
import { problemOf } from '#core/errors/problem-of.ts'
import type { AttachedCall, KeptAdmission } from '#core/ledger/admission-row.ts'
import { claimHash } from '#core/reply-log/kept-call.ts'
import type { KeptReplies, KeptReply } from '#core/reply-log/replies.ts'
import { type Principal, requireKey } from '#core/requests/principal.ts'
import type { FileKeeper } from '#core/uploads/kept-files/file-keeper.ts'
import type { AdmissionService, AdmittedCall, EphemeralRequest, KeysSlot } from './admission.ts'
import type { AttemptDeps } from './attempted-call.ts'
import type { CallObserver } from './call-events.ts'
import { CallSlot, type RouteOfDeps } from './call-slot.ts'
import { continuedConversation } from './conversation/continuation.ts'
import { earlierTurns } from './conversation/earlier-turns.ts'
import {
  type AdmittedChat,
  conversationKey,
  type EnterDeps,
  enterConversation,
  nameOf,
} from './conversation/enter-conversation.ts'
import { nameFromQuestion } from './conversation/name-from-question.ts'
import { CallPause } from './pauses/call-pause.ts'
import { PauseAdmission } from './pauses/pause-admission.ts'
import type { PauseHolder, Pauses } from './pauses/pauses.ts'
import type { ClaimedPause } from './pauses/resolve-pause.ts'
import { stopPaused } from './pauses/stop-paused.ts'
import { type Place, type PlaceBounds, Places } from './places.ts'
import { StopRequests } from './platform-stops.ts'
import { Reply } from './reply.ts'
import { type ContinuedConversation, checkCall, resolveCall, type UnroutedCall } from './request/call.ts'
import type { ChatHead } from './request/chat-head.ts'
import type { AgentName, ChatRequest, KeptChatRequest, KeptRequest } from './request/chat-request.ts'
import type { Route } from './routing/route.ts'

/** An admitted call in progress. */
export interface Chat extends ChatHead {
  readonly events: ChatEvents
}

export interface ChatService {
  /**
   * Admits a call. The request is sent to the agent when the events are read, and the call is settled when it ends.
   *
   * @param signal - aborts when the client is gone
   * @param observer - follows the call until it is admitted or refused
   * @throws Problem if the call is rejected
   */
  start(request: ChatRequest, signal: AbortSignal, observer?: CallObserver): Promise<Chat>
  /**
   * Admits a call whose reply is kept, and runs it whatever becomes of its client. If its `Idempotency-Key` stands for an earlier
   * call, the client is attached to that, or gets its stored reply.
   *
   * @param signal - aborts when the client is gone, which ends a call only while it waits for its admission
   * @throws Problem if the call is rejected; `idempotency_mismatch`, `reply_gone`
   */
  startKept(request: KeptChatRequest, signal: AbortSignal, observer?: CallObserver): Promise<KeptReply>
  /**
   * Applies the rules that need no database to a call that a face refuses for another reason, such as the type of a field.
   *
   * @throws Problem with all mistakes, or `api_key_required`
   */
  check(caller: Principal, request: ChatRequest): void
  /** Rejects new calls, waits for the running ones until the timeout, and then ends those that are left. */
  drain(timeoutMs: number): Promise<void>
  readonly inFlight: number
}

export interface ChatDeps extends EnterDeps, Pick<RouteOfDeps, 'routes'>, Pick<AttemptDeps, 'upstream'> {
  readonly catalog: Pick<AgentCatalog, 'current'>
  readonly authentication: Pick<Authentication, 'authenticate' | 'boundEndUser' | 'endUserHeader'>
  readonly admission: AdmissionService
  readonly keyWatch: KeyWatch
  readonly runtime: Runtime
  readonly observe: CallObserver
  /** Keeps the files that agents make, where they ask for it. */
  readonly fileKeeper: Pick<FileKeeper, 'ofCall'>
  /** Where runs wait for their users. */
  readonly pauses: Pauses
  readonly bounds: ChatBounds
  /** Where the replies of kept calls go. */
  readonly kept: KeptReplies
  /** Whether a conversation is named by its first question. */
  readonly namesConversations: boolean
}

/** Limits of one process. */
export interface ChatBounds extends PlaceBounds {
  /** The most text of one reply, in bytes. */
  readonly streamBytesMax: number
}

export function createChatService(deps: ChatDeps): ChatService {
  const { catalog, authentication, runtime, observe, keyWatch, bounds, files, kept } = deps
  const stops = new StopRequests()
  const places = new Places({ keyWatch, stops, bounds })
  const replyDeps = { runtime, observe, stops }
  const attemptDeps: AttemptDeps = {
    upstream: deps.upstream,
    runtime,
    streamBytesMax: bounds.streamBytesMax,
    enter: (chat, ending) => enterConversation(deps, chat, ending),
    conversationOf: (chat) => conversationKey(deps, chat),
    filesOf: deps.fileKeeper.ofCall,
  }

  const callerOf = (request: ChatRequest) =>
    authentication.authenticate(request.credential, requestOrigin(request), request.readEndUser)

  /** Resolves a call of the end user to whom its request is bound, if it is bound to one, whatever it says itself. */
  async function resolveBound(request: ChatRequest): Promise<UnroutedCall> {
    const { credential, readEndUser } = request
    const boundTo = await authentication.boundEndUser(credential, requestOrigin(request), readEndUser)
    if (boundTo === undefined) return resolveCall(catalog.current(), request, files.isIssued)
    const call = resolveCall(catalog.current(), { ...request, endUser: boundTo }, files.isIssued)
    return { ...call, boundTo }
  }

  /**
   * The error to return for a call that could not be resolved. The key is checked first, so that callers without a valid one
   * learn nothing about the agents, and the message names only what that key may use.
   */
  async function refusalOf(request: ChatRequest, error: unknown): Promise<unknown> {
    if (!(error instanceof Problem)) return error
    const caller = await callerOf(request)
    const { keyId, allowedAgents } = requireKey(caller)
    const identify = (refusal: unknown) => problemOf(refusal).refusing({ keyId, ownerId: caller.userId })
    try {
      checkCall(catalog.current(), request, files.isIssued, allowedAgents)
      return identify(error)
    } catch (refusal) {
      return identify(refusal)
    }
  }

  /** The call with the id of the conversation that it continues. */
  async function inContinued(
    request: ChatRequest,
    call: UnroutedCall,
    conversation: ContinuedConversation,
  ): Promise<UnroutedCall> {
    const caller = await callerOf(request)
    const { keyId } = requireKey(caller)
    try {
      const id = await continuedConversation(deps, call, caller.userId, conversation)
      return { ...call, conversation: { ...conversation, id } }
    } catch (error) {
      throw problemOf(error).refusing({ keyId, ownerId: caller.userId })
    }
  }

  /** The call with all messages of its request, if its conversation has a name and no turn yet: clients may bring a history. */
  async function withHistory(
    request: ChatRequest,
    call: UnroutedCall,
    conversationId: string,
  ): Promise<UnroutedCall> {
    const caller = await callerOf(request)
    const name = nameOf(call, caller.userId, conversationId)
    if ((await earlierTurns(deps.sql, name)) !== 'none') return call
    const { endUser, boundTo } = call
    const whole = resolveCall(catalog.current(), { ...request, endUser }, files.isIssued, [], true)
    return { ...whole, ...(boundTo !== undefined && { boundTo }) }
  }

  /**
   * Admits a call, up to its reply, which is to be read. A kept call whose `Idempotency-Key` stands for an earlier one is attached
   * to that.
   *
   * @throws Problem if the call is rejected; it says whose call that was, as far as is known
   */
  async function begin(
    request: ChatRequest,
    signal: AbortSignal,
    observer: CallObserver | undefined,
  ): Promise<BegunCall | AttachedCall> {
    const arrivedMs = runtime.elapsedMs()
    // What the call has taken. It is given back here, in reverse order, unless a reply begins and takes it over.
    // Not with `using`, which the checker of the import rules cannot parse.
    const held = new DisposableStack()
    try {
      let call: UnroutedCall
      try {
        call =
          authentication.endUserHeader === undefined
            ? resolveCall(catalog.current(), request, files.isIssued)
            : await resolveBound(request)
        if (isLastOfMany(call) && call.conversation.kind === 'named' && request.answer === undefined)
          call = await withHistory(request, call, call.conversation.id)
      } catch (error) {
        throw await refusalOf(request, error)
      }
      const { requestId, face, ignoredTools: kinds } = call
      if (kinds.length > 0)
        observer?.({ type: 'tools_ignored', call: { requestId, kind: 'chat', face }, kinds })
      if (isLastOfMany(call))
        observer?.({ type: 'history_left_out', call: { requestId, kind: 'chat', face } })
      const keyHash = hashKey(call.credential)
      // A process that drains still answers from earlier calls, which need no place.
      const isKeptWhileDraining = request.kept !== undefined && places.isDraining
      // An agent that bounds the calls of a key bounds its streams as well.
      const isCountedStream = call.stream && call.agent.concurrency?.perKey === undefined
      const place = isKeptWhileDraining
        ? undefined
        : held.adopt(places.enter(keyHash, isCountedStream), leave)
      if (call.conversation.kind === 'continued') call = await inContinued(request, call, call.conversation)
      const { conversation } = call
      const callId = runtime.newId()
      const keepsNothing = call.agent.adapter.context(call.agent) === 'none'
      // An agent without conversations is continued by the id of its reply, and only where its run waits.
      const conversationId =
        (conversation.kind !== 'new' && conversation.id) || (keepsNothing ? callId : runtime.newId())
      const slot = held.adopt(new CallSlot(deps, { call, keyHash, signal }), leave)
      const answering = new PauseAdmission(deps, { call, answer: request.answer, slot, keepsNothing })
      const admission: EphemeralRequest = {
        ...admissionOf(call, { callId, keyHash, conversationId, trace: request.trace }),
        // Clients of chat completions name a conversation only if they want one.
        isListed: !keepsNothing && !(call.face === 'openai' && conversation.kind === 'new'),
        conversationName: deps.namesConversations ? nameFromQuestion(call.asks) : undefined,
        answers: answering.named,
        meet: (pauseId, ownerId) => answering.meet(pauseId, ownerId, conversationId),
      }
      const admitted = await answering.admitted(() =>
        deps.admission.admit(
          request.kept === undefined ? admission : { ...admission, kept: keptAdmission(call, request.kept) },
          { ...(place !== undefined && { place }), slot: slotOf(request, slot), observer },
        ),
      )
      if (admitted.attachedTo !== undefined) return admitted
      if (place === undefined) throw new Problem('draining')
      const { route } = slot
      const { claimed } = answering
      const { ownerId } = admitted
      const isKept = request.kept !== undefined
      const chat = {
        call,
        callId,
        ownerId,
        isKept,
        keyId: admitted.keyId,
        conversationId: claimed?.conversation ?? conversationId,
        generation: admitted.generation,
        trace: request.trace,
        answer: claimed?.answer,
        isSilent: claimed !== undefined && claimed.answer === undefined && asksNothing(call),
      }
      const reply = new Reply(replyDeps, admitted.record, {
        attempts: attemptDeps,
        chat,
        route,
        place,
        arrivedMs,
        beforeAttempt: isKept || claimed !== undefined ? beforeAttempt(isKept, claimed, chat) : undefined,
        pause: new CallPause(deps.pauses, pauseHolder(chat), claimed !== undefined),
      })
      place.begin(reply, { keyId: admitted.keyId, ownerId, callId })
      const head = headOf(call, request.agent, {
        callId,
        conversationId: chat.conversationId,
        runtime,
        route,
      })
      // From here on the reply gives back place and route when it ends.
      held.move()
      return { reply, head, admitted }
    } catch (error) {
      throw withForm(problemOf(error), request.credential).refusing({ agent: nameOfAgent(request) })
    } finally {
      held.dispose()
    }
  }

  /** What is not answered from an earlier call needs room for its reply, and a process that takes calls. */
  function slotOf(request: ChatRequest, slot: CallSlot): KeysSlot {
    if (request.kept === undefined) return slot
    return {
      takeFor(key) {
        if (places.isDraining) throw new Problem('draining')
        kept.requireRoom(key.ownerId)
        return slot.takeFor(key)
      },
    }
  }

  /**
   * A client may have asked to stop a call that waits, which is then never sent. A run that is given up is stopped before anything
   * else is asked.
   */
  function beforeAttempt(
    isKept: boolean,
    claimed: ClaimedPause | undefined,
    chat: AdmittedChat<UnroutedCall>,
  ) {
    let givenUp = claimed?.answer === undefined ? claimed : undefined
    return async (reply: Reply) => {
      if (isKept && (await kept.isStopRequested(reply.callId))) return reply.stop()
      const stopping = givenUp
      givenUp = undefined
      if (stopping !== undefined) await stopPaused(deps, stopping, chat)
    }
  }

  return {
    async start(request, signal, observer) {
      const begun = await begin(request, signal, observer)
      if (begun.attachedTo !== undefined) throw new Error('only a kept call is attached to another')
      const { reply, head } = begun
      if (signal.aborted) reply.leave()
      else signal.addEventListener('abort', () => reply.leave(), { once: true })
      return { ...head, events: reply }
    },
    async startKept(request, signal, observer) {
      const begun = await begin(request, signal, observer)
      if (begun.attachedTo !== undefined) return await kept.attach(begun)
      const { reply, head, admitted } = begun
      return kept.run(
        {
          callId: head.callId,
          conversation: head.conversationId,
          keyId: admitted.keyId,
          ownerId: admitted.ownerId,
          face: request.face,
          stream: request.stream,
        },
        { reply, form: request.kept.form(head) },
      )
    },
    check(caller, request) {
      checkCall(catalog.current(), request, files.isIssued, requireKey(caller).allowedAgents)
    },
    drain(timeoutMs) {
      deps.routes.drain()
      return places.drain(timeoutMs)
    },
    get inFlight() {
      return places.running
    },
  }
}

function asksNothing({ asks }: UnroutedCall): boolean {
  return asks.kind === 'question' && asks.query.trim() === ''
}

function pauseHolder({
  call,
  callId,
  ownerId,
  conversationId,
}: AdmittedChat<UnroutedCall>): Omit<PauseHolder, 'residence'> {
  const { endUser, agent, ledgerApp } = call
  return { callId, ownerId, endUser, agent: agent.id, app: ledgerApp, conversation: conversationId }
}

function leave(taken: Pick<Place, 'leave'>): void {
  taken.leave()
}

interface BegunCall {
  readonly reply: Reply
  readonly head: ChatHead
  readonly admitted: AdmittedCall
  readonly attachedTo?: never
}

interface Started {
  readonly callId: string
  readonly conversationId: string
  readonly runtime: Pick<Runtime, 'now'>
  readonly route: Route
}

function isLastOfMany({ asks }: UnroutedCall): boolean {
  return asks.kind === 'question' && asks.isLastOfMany
}

function headOf(
  { agent, asks, ignoredTools, endUser }: UnroutedCall,
  name: AgentName,
  started: Started,
): ChatHead {
  const { callId, conversationId, runtime, route } = started
  const modelOf = agent.adapter.modelOf?.({ agent: route.deployment.agent, app: route.app })
  return {
    callId,
    conversationId,
    model: modelOf ?? (name.isInModel && name.model ? name.model : agent.id),
    reasoning: agent.reasoning,
    takesParameters: agent.adapter.context(agent) === 'gateway',
    ignoredTools,
    takesMessages: asks.kind === 'messages' || asks.isWhole,
    endUser,
    created: Math.floor(runtime.now().getTime() / 1000),
  }
}

/** What makes two requests the same. A new conversation has no id here, since each request would get another. */
function keptAdmission(call: UnroutedCall, { keyHash, bodyHash }: KeptRequest): KeptAdmission {
  const { face, agent, ledgerApp, conversation, endUser, boundTo, stream } = call
  const conversationId = conversation.kind === 'new' ? '' : conversation.id
  const same = [face, agent.id, ledgerApp, conversationId, endUser, stream, bodyHash]
  const fingerprint = createHash('sha256').update(JSON.stringify(same)).digest('hex')
  return { keyHash: claimHash(keyHash, boundTo), fingerprint, stream }
}

/** As the request has it; on some faces the model names the agent and the app. */
function nameOfAgent({ agent: { id, model, isInModel } }: ChatRequest): string | undefined {
  return id ?? (isInModel ? model : undefined)
}

/**
 * Replaces `key_unknown` by a more precise error if the credential does not even have the form of a key. This is checked
 * only after the lookup has failed, so that valid calls do not pay for it. Over HTTP such a credential is rejected earlier.
 */
function withForm(error: Problem, credential: string): Problem {
  if (error.reason !== 'key_unknown' || isWellFormedKey(credential)) return error
  return new Problem(keyFormatProblem(credential), { cause: error })
}

function admissionOf(
  call: UnroutedCall,
  {
    callId,
    keyHash,
    conversationId,
    trace,
  }: Pick<EphemeralRequest, 'callId' | 'keyHash' | 'trace'> & { conversationId: string },
): EphemeralRequest {
  return {
    callId,
    keyHash,
    address: call.address,
    requestId: call.requestId,
    kind: 'chat',
    face: call.face,
    agent: call.agent.id,
    app: call.ledgerApp,
    endUser: call.endUser,
    conversation: conversationId,
    trace,
  }
}

/** A copy, since the request has texts that would be kept as long as the caller. */
function requestOrigin({ address, requestId }: RequestOrigin): RequestOrigin {
  return { address, requestId }
}
