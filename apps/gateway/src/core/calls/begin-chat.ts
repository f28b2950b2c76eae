import { keyFormatProblem } from '#core/accounts/auth/authenticate.ts'
import { hashKey, isWellFormedKey } from '#core/accounts/keys/key-format.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import type { AttachedCall } from '#core/ledger/admission-row.ts'
import type { KeptReplies } from '#core/reply-log/replies.ts'
import { requireKey } from '#core/requests/principal.ts'
import { type AdmitDeps, admitChat } from './admit-chat.ts'
import type { AttemptDeps } from './attempted-call.ts'
import type { CallObserver } from './call-events.ts'
import { CallSlot, type RouteOfDeps } from './call-slot.ts'
import { continuedConversation } from './conversation/continuation.ts'
import type { EnterDeps } from './conversation/enter-conversation.ts'
import type { Place, Places } from './places.ts'
import type { Reply, ReplyDeps } from './reply.ts'
import { type ReplyToDeps, replyTo } from './reply-to.ts'
import type { UnroutedCall } from './request/call.ts'
import type { ChatHead } from './request/chat-head.ts'
import type { ChatRequest } from './request/chat-request.ts'
import { callerOf, isLastOfMany, type ResolveDeps, resolveRequest } from './resolve-request.ts'
import type { Route } from './routing/route.ts'

export interface BeginDeps
  extends EnterDeps,
    ResolveDeps,
    AdmitDeps,
    ReplyToDeps,
    Pick<RouteOfDeps, 'routes'> {
  readonly files: EnterDeps['files']
  readonly upstream: EnterDeps['upstream']
  readonly pauses: ReplyToDeps['pauses']
  readonly kept: KeptReplies
}

/** What the calls of one process share. */
export interface ProcessParts {
  readonly places: Places
  readonly replies: ReplyDeps
  readonly attempts: AttemptDeps
}

/** An admitted call, up to its reply, which is to be read. */
export interface BegunCall {
  readonly reply: Reply
  readonly head: ChatHead
  readonly keyId: string
  readonly ownerId: string
  readonly attachedTo?: never
}

/** Who waits for a call. */
export interface Client {
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  readonly observer: CallObserver | undefined
}

/**
 * Resolves and admits a call, up to its reply. A kept call whose `Idempotency-Key` stands for an earlier one is attached to that.
 *
 * @throws Problem if the call is rejected; it says whose call that was, as far as is known
 */
export async function beginChat(
  deps: BeginDeps,
  parts: ProcessParts,
  request: ChatRequest,
  { signal, observer }: Client,
): Promise<BegunCall | AttachedCall> {
  const { runtime } = deps
  const { places } = parts
  const arrivedMs = runtime.elapsedMs()
  // What the call has taken. It is given back here, in reverse order, unless a reply begins and takes it over.
  // Not with `using`, which the checker of the import rules cannot parse.
  const held = new DisposableStack()
  try {
    let call = await resolveRequest(deps, request)
    if (call.ignoredTools.length > 0 || isLastOfMany(call)) showLeftOut(call, observer)
    const keyHash = hashKey(call.credential)
    // A process that drains still answers from earlier calls, which need no place.
    const needsPlace = request.kept === undefined || !places.isDraining
    // An agent that bounds the calls of a key bounds its streams as well.
    const isCountedStream = call.stream && call.agent.concurrency?.perKey === undefined
    const place = needsPlace ? held.adopt(places.enter(isCountedStream), leave) : undefined
    if (call.conversation.kind === 'continued') call = await inContinued(deps, request, call)
    const { agent, conversation } = call
    const callId = runtime.newId()
    // An agent without conversations is continued by the id of its reply, and only where its run waits.
    const newId = agent.context === 'none' ? callId : undefined
    const conversationId = (conversation.kind !== 'new' && conversation.id) || (newId ?? runtime.newId())
    const slot = held.adopt(new CallSlot(deps, { call, signal }), leave)
    const arrived = { request, call, callId, conversationId, keyHash, slot, place, observer }
    const admitted = await admitChat(deps, places, arrived)
    if (admitted.attachedTo !== undefined) return admitted
    if (place === undefined) throw new Problem('draining')
    const { keyId, ownerId, claimed } = admitted
    const { route } = slot
    if (route === undefined) throw new Error('a call was admitted without a route')
    const starting = { request, call, callId, conversationId, admitted, claimed, route, place, arrivedMs }
    const reply = replyTo(deps, parts, starting)
    const head = headOf(call, route, request.agent, {
      callId,
      conversationId: claimed?.conversation ?? conversationId,
      created: Math.floor(runtime.now().getTime() / 1000),
    })
    // From here on the reply gives back place and route when it ends.
    held.move()
    return { reply, head, keyId, ownerId }
  } catch (error) {
    throw withForm(problemOf(error), request.credential).refusing({ agent: nameOfAgent(request) })
  } finally {
    held.dispose()
  }
}

function leave(taken: Pick<Place, 'leave'>): void {
  taken.leave()
}

/** @param name - how the request names the agent */
function headOf(
  { agent, app, asks, ignoredTools, endUser }: UnroutedCall,
  route: Pick<Route, 'app' | 'deployment'>,
  name: ChatRequest['agent'],
  started: Pick<ChatHead, 'callId' | 'conversationId' | 'created'>,
): ChatHead {
  const model = agent.adapter.modelOf?.({ agent: route.deployment.agent, app: app && route.app })
  return {
    ...started,
    model: model ?? (name.isInModel && name.model ? name.model : agent.id),
    reasoning: agent.reasoning,
    takesParameters: agent.context === 'gateway',
    ignoredTools,
    takesMessages: asks.kind === 'messages' || asks.isWhole,
    endUser,
  }
}

/** Shows the client which parts of its request the agent does not get. */
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
