import { PartsCollector } from '#core/calls/reading/collect-reply.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import type { ReplyCollector } from '#core/reply-log/kept-form.ts'
import { tokenUsage } from '#http/chat/completion-form.ts'
import type { ChatReply } from './schemas.ts'

/** Collects the JSON reply of `POST /api/v1/chat`, for a client that did not ask for a stream. */
export function createReplyCollector(
  chat: ChatHead,
  { detail }: { detail: boolean },
): ReplyCollector<ChatReply> {
  return new PartsCollector(
    chat.model,
    { details: detail },
    ({ model, content, usage, finishReason, details, files, pause }) => ({
      id: chat.conversationId,
      object: 'chat.completion',
      created: chat.created,
      model,
      ...(usage !== undefined && { usage: tokenUsage(usage) }),
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
      ...(files !== undefined && { files: [...files] }),
      ...(pause !== undefined && { pause }),
      ...(detail && { detail: [...details] }),
    }),
  )
}
