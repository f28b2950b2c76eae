import type { ChatEvent, TokenCounts } from '#core/agents/events.ts'
import type { JsonObject } from '#core/base/values/json.ts'
import { paragraphOf } from '#core/calls/reading/reply-text.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import { type ChunkEncoder, chunkHead, tokenUsage } from '#http/chat/completion-form.ts'
import { openAiError } from '#http/response/openai-error.ts'

export interface CompletionOptions {
  /** Whether the model's reasoning is sent as `reasoning_content`. */
  readonly reasoning: boolean
  /** Whether a chunk with the tokens precedes `[DONE]`. */
  readonly includeUsage: boolean
}

/** `chatcmpl-<call id>`. Clients use it as a key, so it must be unique for each call and cannot be the conversation's id. */
export function completionId({ callId }: ChatHead): string {
  return `chatcmpl-${callId}`
}

/**
 * Encodes the chunks of an OpenAI-compatible stream. The JSON around the delta is the same in every chunk, so it is made once
 * for a stream and only the delta is serialised for each chunk.
 */
export function createCompletionEncoder(
  chat: ChatHead,
  { reasoning, includeUsage }: CompletionOptions,
): ChunkEncoder {
  let hasText = false
  let usage: TokenCounts | undefined
  let head = chunkHead(completionId(chat), chat, chat.model)
  let role = '"role":"assistant",'

  const chunk = (field: string, value: string | readonly unknown[]) => {
    const text = `${head}{"index":0,"delta":{${role}"${field}":${JSON.stringify(value)}},"finish_reason":null}]}\n\n`
    role = ''
    return text
  }
  const logprobsChunk = (logprobs: JsonObject) => {
    const delta = role.slice(0, -1)
    role = ''
    return `${head}{"index":0,"delta":{${delta}},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null}]}\n\n`
  }
  const citationsChunk = (top: JsonObject, annotations: readonly unknown[]) => {
    const delta =
      annotations.length > 0 ? `${role}"annotations":${JSON.stringify(annotations)}` : role.slice(0, -1)
    const beside = Object.keys(top).length > 0 ? `,${JSON.stringify(top).slice(1, -1)}` : ''
    role = ''
    return `${head}{"index":0,"delta":{${delta}},"finish_reason":null}]${beside}}\n\n`
  }
  const last = ({ reason, pause, files }: Extract<ChatEvent, { type: 'end' }>) => {
    const delta = role.slice(0, -1)
    const tokens = JSON.stringify(usage === undefined ? null : tokenUsage(usage))
    const usageChunk = includeUsage ? `${head}],"usage":${tokens}}\n\n` : ''
    const paused = pause === undefined ? '' : `,"pause":${JSON.stringify(pause)}`
    const made = files === undefined ? '' : `,"files":${JSON.stringify(files)}`
    return `${head}{"index":0,"delta":{${delta}},"finish_reason":"${reason}"}]${made}${paused}}\n\n${usageChunk}data: [DONE]\n\n`
  }

  return {
    encode(event: ChatEvent) {
      switch (event.type) {
        case 'text':
          hasText = true
          return chunk('content', event.text)
        case 'pause':
        case 'replace': {
          const text = paragraphOf(event, hasText)
          hasText = true
          return chunk('content', text)
        }
        case 'reasoning':
          return reasoning ? chunk('reasoning_content', event.text) : ''
        case 'tool_calls':
          return chunk('tool_calls', event.delta)
        case 'model':
          head = chunkHead(completionId(chat), chat, event.model)
          return ''
        case 'usage':
          usage = event.usage
          return ''
        case 'logprobs':
          return logprobsChunk(event.logprobs)
        case 'citations':
          return citationsChunk(event.top, event.annotations)
        case 'end':
          return last(event)
        default:
          return ''
      }
    },
    fail: (problem) => `data: ${JSON.stringify(openAiError(problem))}\n\n`,
  }
}
