import type { DetailEvent } from '#core/agents/events.ts'
import type { Chat } from '#core/calls/chats.ts'
import { collectReply, partsCollector } from '#core/calls/reading/collect-reply.ts'
import { bearerOf } from '#http/guards/credentials.ts'
import { showLimitOfCall } from '#http/reply/limit-headers.ts'
import type { GraphqlContext } from '../context.ts'
import type { ChatEnd, ChatItem } from './chat-items.ts'
import { chatItems } from './chat-items.ts'
import { type ChatFields, chatRequestOf } from './chat-request.ts'
import { errorAsLastItem, type ItemOrError } from './item-or-error.ts'

/** A whole reply, with the call that it belongs to. */
export interface ChatReply extends Omit<ChatEnd, 'type'> {
  readonly chat: Chat
  readonly text: string
  readonly details: readonly DetailEvent[]
}

/** Admits a call and reads its reply to the end. */
export async function replyToChat(input: ChatFields, context: GraphqlContext): Promise<ChatReply> {
  const chat = await startChat(input, context, false)
  const { replyBytesMax } = context.chatOptions
  const collector = partsCollector(chat.model, { details: input.detail }, (reply) => {
    const { content: text, model, finishReason, usage, details } = reply
    return { chat, text, model, finishReason, usage, details }
  })
  return await collectReply(chat.events, collector, replyBytesMax)
}

/** Admits a call; its items end with an error if it fails. */
export async function followChat(
  input: ChatFields,
  context: GraphqlContext,
): Promise<AsyncIterableIterator<ItemOrError<ChatItem>>> {
  const chat = await startChat(input, context, true)
  forgetRequest(input, context)
  return errorAsLastItem(chatItems(chat, input))
}

/**
 * Drops the texts of a request whose reply takes minutes. Fastify, Yoga and the executor would each keep them as long as the
 * subscription lives; only what a document has as literals cannot be dropped.
 */
function forgetRequest(input: ChatFields, context: GraphqlContext & { params?: unknown }): void {
  context.http.body = undefined
  context.params = undefined
  Object.assign(input, { query: '', variables: undefined, files: undefined })
}

/** The key is looked up by the statement that admits the call, as on REST; only its form is checked before. */
async function startChat(input: ChatFields, context: GraphqlContext, stream: boolean): Promise<Chat> {
  const { http, reply, signal, services } = context
  const credential = bearerOf(http)
  await services.authentication.requireKeyFormat(credential, http.ip)
  const request = chatRequestOf(input, context, { credential, stream })
  const chat = await services.chat.start(request, signal, showLimitOfCall(reply))
  http.callId = chat.callId
  return chat
}
