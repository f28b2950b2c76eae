import type { ChatChunk, ReplyFile } from '../generated/wire.ts'
import type { PassedOnForm } from './passed-on-form.ts'
import type { VisitorErrorOptions } from './visitor-error.ts'

/** How a stream is passed on to `useChat` of the AI SDK. */
export interface UIMessageStreamOptions extends VisitorErrorOptions {
  /** The id of the message that the page shows; without it, the page makes one. */
  readonly messageId?: string | undefined
  /** False keeps the agent's reasoning back, which is there only where `detail` was requested. The default is true. */
  readonly sendReasoning?: boolean | undefined
}

const FINISH_REASONS: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
}

const frameOf = (part: object): string => `data: ${JSON.stringify(part)}\n\n`

/**
 * The parts of a message as the AI SDK reads them. A part of a type that it does not know would end its chat.
 *
 * This module imports nothing but types, as that of kept calls: it is loaded with the first stream that is passed on in this form, and
 * what a bundler found both here and in the rest of the package would become a file that every page loads.
 */
export function uiMessageForm({
  messageId,
  sendReasoning = true,
  onError,
}: UIMessageStreamOptions): PassedOnForm {
  let open: 'text' | 'reasoning' | undefined
  let parts = 0
  let conversationId = ''
  let finishReason = 'stop'

  function closing(): string[] {
    if (open === undefined) return []
    const frame = frameOf({ type: `${open}-end`, id: `${parts}` })
    open = undefined
    parts++
    return [frame]
  }

  function pieceOf(kind: 'text' | 'reasoning', delta: string): string[] {
    const frames = kind === open ? [] : [...closing(), frameOf({ type: `${kind}-start`, id: `${parts}` })]
    open = kind
    return [...frames, frameOf({ type: `${kind}-delta`, id: `${parts}`, delta })]
  }

  function metadataOf({ id }: ChatChunk): string[] {
    if (typeof id !== 'string' || id === '' || id === conversationId) return []
    conversationId = id
    return [frameOf({ type: 'message-metadata', messageMetadata: { conversationId } })]
  }

  function fileOf({ url, type, media_type }: ReplyFile): string[] {
    if (url === undefined) return []
    const mediaType = media_type ?? (type === 'document' ? 'application/octet-stream' : `${type}/*`)
    return [frameOf({ type: 'file', url, mediaType })]
  }

  return {
    comment: ': keep-alive\n\n',
    begin: () => [frameOf({ type: 'start', ...(messageId !== undefined && { messageId }) })],
    chunk(chunk) {
      if (!Array.isArray(chunk?.choices)) return []
      const { detail } = chunk
      const choice = chunk.choices[0]
      finishReason =
        FINISH_REASONS[choice?.finish_reason ?? ''] ?? (choice?.finish_reason ? 'other' : finishReason)
      const text: unknown = choice?.delta?.content
      const thought = sendReasoning && detail?.type === 'reasoning' ? detail.data.text : ''
      return [
        ...metadataOf(chunk),
        ...(thought ? pieceOf('reasoning', thought) : []),
        ...(typeof text === 'string' && text !== '' ? pieceOf('text', text) : []),
        ...(chunk.files ? [...closing(), ...chunk.files.flatMap(fileOf)] : []),
        ...(chunk.pause
          ? [...closing(), frameOf({ type: 'data-pause', id: chunk.pause.id, data: chunk.pause })]
          : []),
      ]
    },
    end: () => [...closing(), frameOf({ type: 'finish', finishReason }), 'data: [DONE]\n\n'],
    failure: ({ error: { code, message } }) => [
      ...closing(),
      frameOf({ type: 'error', errorText: onError ? message : `${code}: ${message}` }),
      'data: [DONE]\n\n',
    ],
  }
}
