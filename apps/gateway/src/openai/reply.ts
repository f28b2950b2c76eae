import type { CollectedReply } from '#core/calls/reading/collect-reply.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import { tokenUsage } from '#http/chat/completion-form.ts'
import { completionId } from './chunks.ts'
import type { Completion } from './schemas.ts'

/** The JSON reply of `POST /api/v1/chat/completions` where the client did not ask for a stream. */
export function completionOf(chat: ChatHead, reply: CollectedReply): Completion {
  const { model, content, reasoning, toolCalls, finishReason, usage, logprobs, citations, files, pause } =
    reply
  return {
    id: completionId(chat),
    object: 'chat.completion',
    created: chat.created,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && toolCalls.length > 0 ? null : content,
          refusal: null,
          ...(reasoning !== '' && { reasoning_content: reasoning }),
          ...(toolCalls.length > 0 && { tool_calls: [...toolCalls] }),
          ...(citations !== undefined &&
            citations.annotations.length > 0 && { annotations: [...citations.annotations] }),
        },
        logprobs: logprobs ?? null,
        finish_reason: finishReason,
      },
    ],
    ...citations?.top,
    ...(usage !== undefined && { usage: tokenUsage(usage) }),
    ...(files !== undefined && { files: [...files] }),
    ...(pause !== undefined && { pause }),
  }
}
