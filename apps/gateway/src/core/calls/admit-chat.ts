import { createHash } from 'node:crypto'
import { Problem } from '#core/base/errors/errors.ts'
import type { AttachedCall, KeptAdmission } from '#core/ledger/admission-row.ts'
import { claimHash } from '#core/reply-log/kept-call.ts'
import type { KeptReplies } from '#core/reply-log/replies.ts'
import type { AdmissionService, AdmittedCall, EphemeralRequest } from './admission.ts'
import type { CallObserver } from './call-events.ts'
import type { CallSlot } from './call-slot.ts'
import { nameFromQuestion } from './conversation/name-from-question.ts'
import { type AnsweringDeps, PauseAdmission } from './pauses/pause-admission.ts'
import type { ClaimedPause } from './pauses/resolve-pause.ts'
import type { Place, Places } from './places.ts'
import type { UnroutedCall } from './request/call.ts'
import type { ChatRequest, KeptRequest } from './request/chat-request.ts'

export interface AdmitDeps extends AnsweringDeps {
  readonly admission: AdmissionService
  /** Where the replies of kept calls go. */
  readonly kept: Pick<KeptReplies, 'requireRoom'>
  /** Whether a conversation is named by its first question. */
  readonly namesConversations: boolean
}

/** A call that is to be admitted. */
export interface ArrivedChat {
  readonly request: ChatRequest
  readonly call: UnroutedCall
  readonly callId: string
  readonly conversationId: string
  readonly keyHash: string
  readonly slot: CallSlot
  /** Undefined for a kept call that may only be answered from an earlier one. */
  readonly place: Place | undefined
  readonly observer: CallObserver | undefined
}

/**
 * Lets the ledger admit a call, with what its request asks for beside an answer: that it goes on from a pause, or that its reply is
 * kept.
 *
 * @throws Problem
 */
export async function admitChat(
  deps: AdmitDeps,
  places: Pick<Places, 'isDraining'>,
  { request, call, callId, conversationId, keyHash, slot, place, observer }: ArrivedChat,
): Promise<(AdmittedCall & { readonly claimed: ClaimedPause | undefined }) | AttachedCall> {
  const { agent, conversation } = call
  const { kept, answer } = request
  const keepsNothing = agent.context === 'none'
  const answering = () => new PauseAdmission(deps, { call, answer, slot, keepsNothing })
  const namesPause = answer !== undefined || (keepsNothing && conversation.kind === 'continued')
  let pause = namesPause ? answering() : undefined
  const admission: EphemeralRequest = {
    callId,
    keyHash,
    address: call.address,
    requestId: call.requestId,
    kind: 'chat',
    face: call.face,
    agent: agent.id,
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
  return admitted.attachedTo === undefined ? { ...admitted, claimed: pause?.claimed } : admitted
}

/** What is not answered from an earlier call needs room for its reply, and a process that takes calls. */
function withRoom(
  { kept }: Pick<AdmitDeps, 'kept'>,
  places: Pick<Places, 'isDraining'>,
  slot: CallSlot,
): Pick<CallSlot, 'takeFor'> {
  return {
    takeFor(key) {
      if (places.isDraining) throw new Problem('draining')
      kept.requireRoom(key.ownerId)
      return slot.takeFor(key)
    },
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
