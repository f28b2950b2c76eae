import type { CollectedReply } from '#core/calls/reading/collect-reply.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import { tokenUsage } from '#http/chat/token-usage.ts'
import type { ChatReply } from './schemas.ts'

/** The JSON reply of `POST /api/v1/chat` where the client did not ask for a stream. */
export function chatReply(
  chat: ChatHead,
  { model, content, usage, finishReason, details, files, pause }: CollectedReply,
  { detail }: { detail: boolean },
): ChatReply {
  return {
    id: chat.conversationId,
    object: 'chat.completion',
    created: chat.created,
    model,
    ...(usage !== undefined && { usage: tokenUsage(usage) }),
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
    ...(files !== undefined && { files: [...files] }),
    ...(pause !== undefined && { pause }),
    ...(detail && { detail: [...details] }),
  }
}
