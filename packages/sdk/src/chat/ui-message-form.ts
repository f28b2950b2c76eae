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

const FINISH_REASON = /^(stop|length|content_filter|tool_calls)$/

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
  const frames: string[] = []

  function write(part: object): void {
    frames.push(`data: ${JSON.stringify(part)}\n\n`)
  }

  function writeOfOpen(what: string, delta?: string): void {
    if (open) write({ type: `${open}-${what}`, id: `${parts}`, delta })
  }

  /** Goes on with a part of another kind, or with none, after the one that is open. */
  function goOnWith(kind?: typeof open): void {
    if (kind === open) return
    writeOfOpen('end')
    if (open) parts++
    open = kind
    writeOfOpen('start')
  }

  function writePiece(kind: typeof open, delta: unknown): void {
    if (typeof delta !== 'string' || !delta) return
    goOnWith(kind)
    writeOfOpen('delta', delta)
  }

  function writeFile({ url, type, media_type }: ReplyFile): void {
    const mediaType = media_type ?? (type === 'document' ? 'application/octet-stream' : `${type}/*`)
    if (url) write({ type: 'file', url, mediaType })
  }

  function endWith(part: object): string[] {
    goOnWith()
    write(part)
    return [...frames.splice(0), 'data: [DONE]\n\n']
  }

  return {
    comment: ': keep-alive\n\n',
    begin() {
      write({ type: 'start', messageId })
      return frames.splice(0)
    },
    chunk(chunk) {
      const { id, choices, detail, files, pause }: Partial<ChatChunk> = Object(chunk)
      const choice = choices?.[0]
      const reason = choice?.finish_reason
      if (reason) finishReason = FINISH_REASON.test(reason) ? reason.replace('_', '-') : 'other'
      if (typeof id === 'string' && id && id !== conversationId) {
        conversationId = id
        write({ type: 'message-metadata', messageMetadata: { conversationId } })
      }
      if (sendReasoning && detail?.type === 'reasoning') writePiece('reasoning', detail.data.text)
      writePiece('text', choice?.delta?.content)
      if (files ?? pause) goOnWith()
      files?.forEach(writeFile)
      if (pause) write({ type: 'data-pause', id: pause.id, data: pause })
      return frames.splice(0)
    },
    end: () => endWith({ type: 'finish', finishReason }),
    failure: ({ error: { code, message } }) =>
      endWith({ type: 'error', errorText: onError ? message : `${code}: ${message}` }),
  }
}
