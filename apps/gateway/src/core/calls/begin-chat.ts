import { createHash } from 'node:crypto'
import { keyFormatProblem } from '#core/accounts/auth/authenticate.ts'
import { hashKey } from '#core/accounts/keys/key-format.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { Problem } from '#core/errors/errors.ts'
import { problemOf } from '#core/errors/problem-of.ts'
import type { AttachedCall, KeptAdmission } from '#core/ledger/admission-row.ts'
import { claimHash } from '#core/reply-log/kept-call.ts'
import type { KeptReplies } from '#core/reply-log/replies.ts'
import { requireKey } from '#core/requests/principal.ts'
import type { AdmissionService, AdmittedCall, EphemeralRequest, KeysSlot } from './admission.ts'
import type { AttemptDeps } from './attempted-call.ts'
import type { CallObserver } from './call-events.ts'
import { CallSlot, type RouteOfDeps } from './call-slot.ts'
import { continuedConversation } from './conversation/continuation.ts'
import type { AdmittedChat, EnterDeps } from './conversation/enter-conversation.ts'
import { nameFromQuestion } from './conversation/name-from-question.ts'
import { CallPause } from './pauses/call-pause.ts'
import { PauseAdmission } from './pauses/pause-admission.ts'
import type { Pauses } from './pauses/pauses.ts'
import type { ClaimedPause } from './pauses/resolve-pause.ts'
import { stopPaused } from './pauses/stop-paused.ts'
import type { Place, Places } from './places.ts'
import { Reply, type ReplyDeps } from './reply.ts'
import type { UnroutedCall } from './request/call.ts'
import { type ChatHead, headOf } from './request/chat-head.ts'
import type { ChatRequest, KeptRequest } from './request/chat-request.ts'
import { callerOf, isLastOfMany, type ResolveDeps, resolveRequest } from './request/resolve-request.ts'

export interface BeginDeps
  extends EnterDeps,
    ResolveDeps,
    Pick<RouteOfDeps, 'routes'>,
    Pick<AttemptDeps, 'upstream'> {
  readonly files: ResolveDeps['files'] & EnterDeps['files']
  readonly sql: EnterDeps['sql']
  readonly admission: AdmissionService
  readonly runtime: Runtime
  /** Where runs wait for their users. */
  readonly pauses: Pauses
  /** Where the replies of kept calls go. */
  readonly kept: KeptReplies
  /** Whether a conversation is named by its first question. */
  readonly namesConversations: boolean
}

/** What the calls of one process share. */
export interface Process {
  readonly places: Places
  readonly replies: ReplyDeps
  readonly attempts: AttemptDeps
}

/** An admitted call, up to its reply, which is to be read. */
export interface BegunCall {
  readonly reply: Reply
  readonly head: ChatHead
  readonly admitted: AdmittedCall
  readonly attachedTo?: never
}

/**
 * Admits a call. A kept call whose `Idempotency-Key` stands for an earlier one is attached to that.
 *
 * @throws Problem if the call is rejected; it says whose call that was, as far as is known
 */
export async function beginChat(
  deps: BeginDeps,
  process: Process,
  request: ChatRequest,
  { signal, observer }: { readonly signal: AbortSignal; readonly observer: CallObserver | undefined },
): Promise<BegunCall | AttachedCall> {
  const { runtime } = deps
  const { places } = process
  const arrivedMs = runtime.elapsedMs()
  // What the call has taken. It is given back here, in reverse order, unless a reply begins and takes it over.
  // Not with `using`, which the checker of the import rules cannot parse.
  const held = new DisposableStack()
  try {
    let call = await resolveRequest(deps, request)
    showLeftOut(call, observer)
    const keyHash = hashKey(call.credential)
    // A process that drains still answers from earlier calls, which need no place.
    const needsPlace = request.kept === undefined || !places.isDraining
    // An agent that bounds the calls of a key bounds its streams as well.
    const isCountedStream = call.stream && call.agent.concurrency?.perKey === undefined
    const place = needsPlace ? held.adopt(places.enter(keyHash, isCountedStream), leave) : undefined
    if (call.conversation.kind === 'continued') call = await inContinued(deps, request, call)
    const { conversation } = call
    const callId = runtime.newId()
    const keepsNothing = call.agent.adapter.context(call.agent) === 'none'
    // An agent without conversations is continued by the id of its reply, and only where its run waits.
    const conversationId =
      (conversation.kind !== 'new' && conversation.id) || (keepsNothing ? callId : runtime.newId())
    const slot = held.adopt(new CallSlot(deps, { call, keyHash, signal }), leave)
    const answering = () => new PauseAdmission(deps, { call, answer: request.answer, slot, keepsNothing })
    const namesPause = request.answer !== undefined || (keepsNothing && conversation.kind === 'continued')
    let pause = namesPause ? answering() : undefined
    const admission: EphemeralRequest = {
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
      trace: request.trace,
      // Clients of chat completions name a conversation only if they want one.
      isListed: !keepsNothing && !(call.face === 'openai' && conversation.kind === 'new'),
      conversationName: deps.namesConversations ? nameFromQuestion(call.asks) : undefined,
      answers: pause?.named,
      meet(pauseId, ownerId) {
        pause ??= answering()
        return pause.meet(pauseId, ownerId, conversationId)
      },
    }
    const { kept } = request
    const asked = kept === undefined ? admission : { ...admission, kept: keptAdmission(call, kept) }
    const options = {
      ...(place !== undefined && { place }),
      slot: kept === undefined ? slot : withRoom(deps, places, slot),
      observer,
    }
    const admitted =
      pause === undefined
        ? await deps.admission.admit(asked, options)
        : await pause.admitted(() => deps.admission.admit(asked, options))
    if (admitted.attachedTo !== undefined) return admitted
    if (place === undefined) throw new Problem('draining')
    const { route } = slot
    const { ownerId, keyId } = admitted
    const claimed = pause?.claimed
    const chat: AdmittedChat<UnroutedCall> = {
      call,
      callId,
      ownerId,
      isKept: kept !== undefined,
      keyId,
      conversationId: claimed?.conversation ?? conversationId,
      generation: admitted.generation,
      trace: request.trace,
      answer: claimed?.answer,
      isSilent: claimed !== undefined && claimed.answer === undefined && asksNothing(call),
    }
    const holder = {
      callId,
      ownerId,
      endUser: call.endUser,
      agent: call.agent.id,
      app: call.ledgerApp,
      conversation: chat.conversationId,
    }
    const reply = new Reply(process.replies, admitted.record, {
      attempts: process.attempts,
      chat,
      route,
      place,
      arrivedMs,
      beforeAttempt:
        kept !== undefined || claimed !== undefined ? beforeAttempt(deps, claimed, chat) : undefined,
      pauses: deps.pauses,
      holder,
      pause: claimed && new CallPause(deps.pauses, holder, true),
    })
    place.begin(reply, { keyId, ownerId, callId })
    const head = headOf(call, route, request.agent, {
      callId,
      conversationId: chat.conversationId,
      created: Math.floor(runtime.now().getTime() / 1000),
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

function leave(taken: Pick<Place, 'leave'>): void {
  taken.leave()
}

/** Tells the client what of its request does not reach the agent. */
function showLeftOut(call: UnroutedCall, observer: CallObserver | undefined): void {
  const { requestId, face, ignoredTools: kinds } = call
  const shown = { requestId, kind: 'chat', face } as const
  if (kinds.length > 0) observer?.({ type: 'tools_ignored', call: shown, kinds })
  if (isLastOfMany(call)) observer?.({ type: 'history_left_out', call: shown })
}

/** The call with the id of the conversation that it continues. */
async function inContinued(deps: BeginDeps, request: ChatRequest, call: UnroutedCall): Promise<UnroutedCall> {
  const { conversation } = call
  if (conversation.kind !== 'continued') return call
  const caller = await callerOf(deps, request)
  const { keyId } = requireKey(caller)
  try {
    const id = await continuedConversation(deps, call, caller.userId, conversation)
    return { ...call, conversation: { ...conversation, id } }
  } catch (error) {
    throw problemOf(error).refusing({ keyId, ownerId: caller.userId })
  }
}

/** What is not answered from an earlier call needs room for its reply, and a process that takes calls. */
function withRoom({ kept }: Pick<BeginDeps, 'kept'>, places: Places, slot: CallSlot): KeysSlot {
  return {
    takeFor(key) {
      if (places.isDraining) throw new Problem('draining')
      kept.requireRoom(key.ownerId)
      return slot.takeFor(key)
    },
  }
}

/**
 * A client may have asked to stop a kept call that waits, which is then never sent. A run that is given up is stopped before anything
 * else is asked.
 */
function beforeAttempt(deps: BeginDeps, claimed: ClaimedPause | undefined, chat: AdmittedChat<UnroutedCall>) {
  const { isKept = false } = chat
  let givenUp = claimed?.answer === undefined ? claimed : undefined
  return async (reply: Reply) => {
    if (isKept && (await deps.kept.isStopRequested(reply.callId))) return reply.stop()
    const stopping = givenUp
    givenUp = undefined
    if (stopping !== undefined) await stopPaused(deps, stopping, chat)
  }
}

function asksNothing({ asks }: UnroutedCall): boolean {
  return asks.kind === 'question' && asks.query.trim() === ''
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
  if (error.reason !== 'key_unknown') return error
  const reason = keyFormatProblem(credential)
  return reason === undefined ? error : new Problem(reason, { cause: error })
}
