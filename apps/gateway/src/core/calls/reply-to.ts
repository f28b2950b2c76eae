import type { Runtime } from '#core/base/runtime.ts'
import type { KeptReplies } from '#core/reply-log/replies.ts'
import type { AdmittedCall } from './admission.ts'
import type { AttemptDeps } from './attempted-call.ts'
import type { AdmittedChat } from './conversation/enter-conversation.ts'
import { CallPause } from './pauses/call-pause.ts'
import type { Pauses } from './pauses/pauses.ts'
import type { ClaimedPause } from './pauses/resolve-pause.ts'
import { type StopPausedDeps, stopPaused } from './pauses/stop-paused.ts'
import type { Place } from './places.ts'
import { Reply, type ReplyDeps } from './reply.ts'
import type { UnroutedCall } from './request/call.ts'
import type { ChatRequest } from './request/chat-request.ts'
import type { Route } from './routing/route.ts'

export interface ReplyToDeps extends StopPausedDeps {
  readonly runtime: Runtime
  /** Where runs wait for their users. */
  readonly pauses: Pauses
  readonly kept: Pick<KeptReplies, 'isStopRequested'>
}

/** A call that was admitted. */
export interface StartingChat {
  readonly request: ChatRequest
  readonly call: UnroutedCall
  readonly callId: string
  readonly conversationId: string
  readonly admitted: AdmittedCall
  readonly claimed: ClaimedPause | undefined
  readonly route: Route
  readonly place: Place
  /** On the clock of `elapsedMs`. */
  readonly arrivedMs: number
}

/** The reply to an admitted call, which takes its place and its route over. It is sent when the reply is read. */
export function replyTo(
  deps: ReplyToDeps,
  parts: { readonly replies: ReplyDeps; readonly attempts: AttemptDeps },
  { request, call, callId, conversationId, admitted, claimed, route, place, arrivedMs }: StartingChat,
): Reply {
  const { keyId, ownerId, generation, record } = admitted
  const isKept = request.kept !== undefined
  const conversation = claimed?.conversation ?? conversationId
  const { endUser, agent, ledgerApp: app } = call
  const chat: AdmittedChat<UnroutedCall> = {
    call,
    callId,
    ownerId,
    isKept,
    keyId,
    conversationId: conversation,
    generation,
    trace: request.trace,
    answer: claimed?.answer,
    isSilent: claimed !== undefined && claimed.answer === undefined && asksNothing(call),
  }
  const holder = { callId, ownerId, endUser, agent: agent.id, app, conversation }
  const reply = new Reply(parts.replies, record, {
    attempts: parts.attempts,
    chat,
    route,
    place,
    arrivedMs,
    beforeAttempt: isKept || claimed !== undefined ? beforeAttempt(deps, claimed, chat) : undefined,
    pauses: deps.pauses,
    holder,
    pause: claimed && new CallPause(deps.pauses, holder, true),
  })
  place.begin(reply, { keyId, ownerId, callId, address: call.address })
  return reply
}

/**
 * A client may have asked to stop a kept call that waits, which is then never sent. A run that is given up is stopped before anything
 * else is asked.
 */
function beforeAttempt(
  deps: ReplyToDeps,
  claimed: ClaimedPause | undefined,
  chat: AdmittedChat<UnroutedCall>,
) {
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
