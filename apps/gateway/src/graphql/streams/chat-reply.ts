import type { DetailEvent } from '#core/agents/events.ts'
import { PartsCollector } from '#core/calls/reading/collect-reply.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import type { ReplyCollector } from '#core/reply-log/kept-form.ts'
import type { ChatEnd, ChatStart } from './chat-items.ts'

/** A whole reply, with the call that it belongs to. */
export interface ChatReply extends Omit<ChatEnd, 'type'> {
  readonly chat: ChatStart
  readonly text: string
  readonly details: readonly DetailEvent[]
}

export function replyCollector(
  { callId, conversationId, created, model: firstModel }: ChatHead,
  detail: boolean,
): ReplyCollector<ChatReply> {
  const chat = { callId, conversationId, created }
  return new PartsCollector(
    firstModel,
    { details: detail },
    ({ content, model, finishReason, usage, details, pause, files }) => ({
      chat,
      text: content,
      model,
      finishReason,
      usage,
      details,
      pause,
      files: files ?? [],
    }),
  )
}

/** A reply as it is stored: the fields have their names in the schema, and details the form that they have over REST. */
interface StoredReply
  extends Pick<ChatReply, 'text' | 'model' | 'finishReason' | 'details' | 'pause' | 'files'> {
  readonly callId: string
  readonly conversationId: string
  readonly createdAt: string
  readonly usage: ChatReply['usage'] | null
}

export function serializeReply({
  chat,
  text,
  model,
  finishReason,
  usage,
  details,
  pause,
  files,
}: ChatReply): string {
  const { callId, conversationId, created } = chat
  const createdAt = new Date(created * 1000).toISOString()
  const stored: StoredReply = {
    callId,
    conversationId,
    createdAt,
    text,
    model,
    finishReason,
    usage: usage ?? null,
    details,
    pause,
    files,
  }
  return JSON.stringify(stored)
}

/** Reads what {@link serializeReply} has written. */
export function parseReply(text: string): ChatReply {
  const { callId, conversationId, createdAt, usage, ...reply } = JSON.parse(text) as StoredReply
  const created = Date.parse(createdAt) / 1000
  return { ...reply, chat: { callId, conversationId, created }, usage: usage ?? undefined }
}
