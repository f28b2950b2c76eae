import type { KeyWatch } from '#core/accounts/keys/key-watch.ts'
import type { ChatEvents } from '#core/agents/events.ts'
import type { KeptReply } from '#core/reply-log/replies.ts'
import { type Principal, requireKey } from '#core/requests/principal.ts'
import type { FileKeeper } from '#core/uploads/kept-files/file-keeper.ts'
import { type BeginDeps, beginChat, type ProcessParts } from './begin-chat.ts'
import type { CallObserver } from './call-events.ts'
import { conversationKey, enterConversation } from './conversation/enter-conversation.ts'
import type { StreamLimit } from './places.ts'
import { type PlaceBounds, Places } from './places.ts'
import { StopRequests } from './platform-stops.ts'
import { checkCall } from './request/call.ts'
import type { ChatHead } from './request/chat-head.ts'
import type { ChatRequest, KeptChatRequest } from './request/chat-request.ts'

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

export interface ChatDeps extends BeginDeps {
  readonly keyWatch: KeyWatch
  readonly observe: CallObserver
  /** Keeps the files that agents make, where they ask for it. */
  readonly fileKeeper: Pick<FileKeeper, 'ofCall'>
  readonly bounds: ChatBounds
  readonly limits: StreamLimit
}

/** Limits of one process. */
export interface ChatBounds extends PlaceBounds {
  /** The most text of one reply, in bytes. */
  readonly streamBytesMax: number
}

export function createChatService(deps: ChatDeps): ChatService {
  const { catalog, runtime, observe, keyWatch, bounds, limits, files, kept, upstream } = deps
  const stops = new StopRequests()
  const parts: ProcessParts = {
    places: new Places({ keyWatch, stops, bounds, limits }),
    replies: { runtime, observe, stops },
    attempts: {
      upstream,
      runtime,
      streamBytesMax: bounds.streamBytesMax,
      enter: (chat, ending) => enterConversation(deps, chat, ending),
      conversationOf: (chat) => conversationKey(deps, chat),
      filesOf: deps.fileKeeper.ofCall,
    },
  }
  return {
    async start(request, signal, observer) {
      const begun = await beginChat(deps, parts, request, { signal, observer })
      if (begun.attachedTo !== undefined) throw new Error('only a kept call is attached to another')
      const { reply, head } = begun
      if (signal.aborted) reply.leave()
      else signal.addEventListener('abort', () => reply.leave(), { once: true })
      return { ...head, events: reply }
    },
    async startKept(request, signal, observer) {
      const begun = await beginChat(deps, parts, request, { signal, observer })
      if (begun.attachedTo !== undefined) return await kept.attach(begun, request.address)
      const { reply, head, keyId, ownerId } = begun
      const { callId, conversationId: conversation } = head
      const { face, stream } = request
      return kept.run(
        { callId, conversation, keyId, ownerId, face, stream },
        { reply, form: request.kept.form(head) },
      )
    },
    check(caller, request) {
      checkCall(catalog.current(), request, files.isIssued, requireKey(caller).allowedAgents)
    },
    drain(timeoutMs) {
      deps.routes.drain()
      return parts.places.drain(timeoutMs)
    },
    get inFlight() {
      return parts.places.running
    },
  }
}
