import type { Chat } from '#core/calls/chats.ts'
import { collectReply } from '#core/calls/reading/collect-reply.ts'
import type { KeptReply } from '#core/reply-log/replies.ts'
import { bearerOf } from '#http/guards/credentials.ts'
import { showLimitOfCall } from '#http/response/show-headers.ts'
import type { GraphqlContext } from '../context.ts'
import { type ChatItem, chatItems } from './chat-items.ts'
import { type ChatReply, parseReply, replyCollector } from './chat-reply.ts'
import { type ChatFields, chatRequestOf, idempotencyKeyOf, keptRequestOf } from './chat-request.ts'
import { errorAsLastItem, type ItemOrError } from './item-or-error.ts'
import { followItems, type NumberedItem } from './kept-chats.ts'

/** Admits a call and reads its reply to the end; null if the client of a kept call leaves before. */
export async function replyToChat(input: ChatFields, context: GraphqlContext): Promise<ChatReply | null> {
  const started = await startChat(input, context, false)
  if (started.kept !== undefined) {
    const text = await started.kept.whole(context.signal)
    return text === undefined ? null : parseReply(text)
  }
  const { chat } = started
  const { replyBytesMax } = context.chatOptions
  return await collectReply(chat.events, replyCollector(chat, input.detail), replyBytesMax)
}

/** Admits a call; its items end with an error if it fails. */
export async function followChat(
  input: ChatFields,
  context: GraphqlContext,
): Promise<AsyncIterableIterator<ItemOrError<ChatItem | NumberedItem>>> {
  const { chat, kept } = await startChat(input, context, true)
  forgetRequest(input, context)
  return errorAsLastItem(kept === undefined ? chatItems(chat, input) : followItems(kept))
}

/**
 * Drops the texts of a request whose reply takes minutes. Fastify, Yoga and the executor would each keep them as long as the
 * subscription lives; only what a document has as literals cannot be dropped.
 */
function forgetRequest(input: ChatFields, context: GraphqlContext & { params?: unknown }): void {
  context.http.body = undefined
  context.params = undefined
  Object.assign(input, { query: '', variables: undefined, files: undefined, answer: undefined })
}

/** A call that was started; with an `idempotencyKey` it is kept, and may be an earlier one. */
type Started =
  | { readonly chat: Chat; readonly kept?: undefined }
  | { readonly kept: KeptReply; readonly chat?: undefined }

/** The key is looked up by the statement that admits the call, as on REST; only its form is checked before. */
async function startChat(input: ChatFields, context: GraphqlContext, stream: boolean): Promise<Started> {
  const { http, reply, signal, services } = context
  const credential = bearerOf(http)
  await services.authentication.requireKeyFormat(credential, http.ip)
  const key = idempotencyKeyOf(input, context)
  const request = chatRequestOf(input, context, { credential, stream })
  if (key === undefined) {
    const chat = await services.chat.start(request, signal, showLimitOfCall(reply))
    http.callId = chat.callId
    return { chat }
  }
  const call = { ...request, kept: keptRequestOf(input, key) }
  const kept = await services.chat.startKept(call, signal, showLimitOfCall(reply))
  http.callId = kept.call.callId
  if (kept.isReplay) reply.header('idempotent-replayed', 'true')
  return { kept }
}
