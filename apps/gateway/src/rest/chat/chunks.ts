import type { ChatEvent, DetailEvent, TokenCounts } from '#core/agents/events.ts'
import { detailsOf } from '#core/calls/reading/detail-of.ts'
import { paragraphOf } from '#core/calls/reading/reply-text.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import { type ChunkEncoder, chunkHead, tokenUsage } from '#http/chat/completion-form.ts'
import { openAiError } from '#http/response/openai-error.ts'

/**
 * Encodes the chunks of `POST /api/v1/chat`. The JSON around the text is the same in every chunk, so it is made once for a
 * stream and only the text is serialised for each chunk.
 */
export function createChunkEncoder(chat: ChatHead, { detail }: { detail: boolean }): ChunkEncoder {
  let hasText = false
  let usage: TokenCounts | undefined
  let head = headOf(chat, chat.model)

  const content = (text: string) => `${head}${JSON.stringify(text)}},"finish_reason":null}]}\n\n`
  const step = (detail: DetailEvent) =>
    `${head}""},"finish_reason":null}],"detail":${JSON.stringify(detail)}}\n\n`
  const progress = (event: ChatEvent) => (detail ? detailsOf(event).map(step).join('') : '')

  return {
    encode(event) {
      switch (event.type) {
        case 'text':
          hasText = true
          return content(event.text)
        case 'pause':
        case 'replace': {
          const text = content(paragraphOf(event, hasText))
          hasText = true
          return text + progress(event)
        }
        case 'detail':
        case 'file':
        case 'reasoning':
        case 'tool_calls':
          return progress(event)
        case 'model':
          head = headOf(chat, event.model)
          return ''
        case 'usage':
          usage = event.usage
          return ''
        case 'end': {
          const tokens = usage === undefined ? '' : `,"usage":${JSON.stringify(tokenUsage(usage))}`
          const pause = event.pause === undefined ? '' : `,"pause":${JSON.stringify(event.pause)}`
          const files = event.files === undefined ? '' : `,"files":${JSON.stringify(event.files)}`
          return `${head}null},"finish_reason":"${event.reason}"}]${tokens}${files}${pause}}\n\ndata: [DONE]\n\n`
        }
        case 'logprobs':
        case 'citations':
        case 'error':
          return ''
      }
    },
    fail: (problem) => `data: ${JSON.stringify(openAiError(problem))}\n\n`,
  }
}

function headOf(chat: ChatHead, model: string): string {
  return `${chunkHead(chat.conversationId, chat, model)}{"index":0,"delta":{"role":"assistant","content":`
}
