import type { ChatEvent, Usage } from '#core/chat/events.ts'
import { ReplyText } from '#core/chat/reply-text.ts'
import type { Chat } from '#core/chat/service.ts'
import { type ChunkEncoder, tokenUsage } from './chat-chunks.ts'
import { openAiError } from './openai-error.ts'

export interface CompletionOptions {
  /** Whether reasoning goes as `reasoning_content`. */
  readonly reasoning: boolean
  readonly includeUsage: boolean
}

/** `chatcmpl-<call id>`: clients key on it, so it is never the conversation's. */
export function completionId({ callId }: Chat): string {
  return `chatcmpl-${callId}`
}

/** The chunks of an OpenAI-compatible stream. */
export function createCompletionEncoder(
  chat: Chat,
  { reasoning, includeUsage }: CompletionOptions,
): ChunkEncoder {
  const replyText = new ReplyText()
  let model = chat.model
  let usage: Usage | undefined
  let hasBegun = false

  const chunk = (rest: object) =>
    `data: ${JSON.stringify({ id: completionId(chat), object: 'chat.completion.chunk', created: chat.created, model, ...rest })}\n\n`
  const choice = (delta: object, reason: string | null = null) => {
    const first = hasBegun ? {} : { role: 'assistant' }
    hasBegun = true
    return chunk({ choices: [{ index: 0, delta: { ...first, ...delta }, finish_reason: reason }] })
  }
  const last = (reason: string) => {
    const tokens = usage === undefined ? null : tokenUsage(usage)
    const usageChunk = includeUsage ? chunk({ choices: [], usage: tokens }) : ''
    return `${choice({}, reason)}${usageChunk}data: [DONE]\n\n`
  }

  return {
    encode(event: ChatEvent) {
      switch (event.type) {
        case 'text':
        case 'interaction':
        case 'replace':
          return choice({ content: replyText.add(event) })
        case 'reasoning':
          return reasoning ? choice({ reasoning_content: event.text }) : ''
        case 'tool_calls':
          return choice({ tool_calls: event.delta })
        case 'model':
          model = event.model
          return ''
        case 'usage':
          usage = event.usage
          return ''
        case 'end':
          return last(event.reason)
        default:
          return ''
      }
    },
    fail: (problem) => `data: ${JSON.stringify(openAiError(problem))}\n\n`,
  }
}
