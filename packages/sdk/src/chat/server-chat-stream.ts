import { TrunklineError } from '../errors.ts'
import type { ChatChunk } from '../generated/wire.ts'
import { encoder } from '../transport/byte-source.ts'
import { withHeaders } from '../transport/with-headers.ts'
import { ChatStream, type ChatStreamSpec } from './chat-stream.ts'
import { CHAT_STREAM_FORM, type PassedOnForm, TEXT_FORM } from './passed-on-form.ts'
import { type UIMessageStreamOptions, uiMessageForm } from './ui-message-form.ts'
import { type VisitorErrorOptions, visitorError } from './visitor-error.ts'

/**
 * The stream of a whole client, which runs on a server: it can also be passed on to the browser of a visitor who has no API key.
 * The request is sent as well when something reads what it returns.
 *
 * @example
 * ```ts
 * const response = client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' }).toResponse()
 * console.log(await response.text())
 * ```
 */
export class ServerChatStream extends ChatStream {
  #passOnComment: (() => void) | undefined

  /** Streams are made by `client.chat.stream` and by conversations. */
  constructor(spec: ChatStreamSpec) {
    super({ ...spec, onComment: () => this.#passOnComment?.() })
  }

  /**
   * The stream as bytes, in the form in which the gateway sends it: `readChatStream` reads it, and any OpenAI client. A failure is
   * its last event, which tells no more than that of {@link ServerChatStream.toResponse}. The gateway's keep-alive comments are passed
   * on. Cancelling it cancels the request, and does not stop a kept call.
   *
   * @example
   * ```ts
   * const bytes = client.chat.stream({ agent: 'dify', query: 'Hello' }).toReadableStream()
   * console.log(await new Response(bytes).text())
   * ```
   */
  toReadableStream(options: VisitorErrorOptions = {}): ReadableStream<Uint8Array> {
    return this.#passOn(CHAT_STREAM_FORM, options)
  }

  /**
   * A response for a route handler, so that a browser can stream a chat without having an API key. It begins before the gateway
   * has answered, so that a refusal is an event of it; use `withResponse()` first where the status matters.
   *
   * Of a failure the visitor is told only what it caused or can wait for, such as `content_filtered` or `rate_limited`: the
   * `reason`, its public text and how long to wait, which the page's reader throws as a `StreamFailedError`. Everything else, such
   * as a key that was revoked, is `stream_failed` to the visitor. `onError` gets the error itself, and returns the message to show.
   *
   * @example
   * ```ts
   * export async function POST(request: Request): Promise<Response> {
   *   const { query } = await request.json()
   *   const stream = client.chat.stream({ agent: 'dify', query }, { signal: request.signal })
   *   return stream.toResponse({
   *     onError: (error) => {
   *       console.error(error)
   *       return 'Something went wrong. Please try again.'
   *     },
   *   })
   * }
   * ```
   */
  toResponse({ onError, ...init }: ResponseInit & VisitorErrorOptions = {}): Response {
    return responseOf(this.#passOn(CHAT_STREAM_FORM, { onError }), EVENT_STREAM, init)
  }

  /**
   * A response for the route of `useChat`, the hook of the AI SDK: the text, the agent's reasoning if `detail` was requested, and the
   * id of the conversation as `metadata.conversationId` of the message. Of a failure the visitor is told as by
   * {@link ServerChatStream.toResponse}; the text so far stays.
   *
   * @example
   * ```ts
   * export async function POST(request: Request): Promise<Response> {
   *   const { query, conversationId = '' } = await request.json()
   *   const params = { agent: 'dify', query, chat_id: conversationId, detail: true }
   *   return client.chat.stream(params, { signal: request.signal }).toUIMessageStreamResponse()
   * }
   * ```
   */
  toUIMessageStreamResponse({
    onError,
    messageId,
    sendReasoning,
    ...init
  }: ResponseInit & UIMessageStreamOptions = {}): Response {
    const bytes = this.#passOn(uiMessageForm({ onError, messageId, sendReasoning }), { onError })
    return responseOf(bytes, { ...EVENT_STREAM, 'x-vercel-ai-ui-message-stream': 'v1' }, init)
  }

  /**
   * A response with the text alone, such as `TextStreamChatTransport` of the AI SDK reads. The form has no word for a failure: the
   * response breaks, and `onError` gets the error.
   *
   * @example
   * ```ts
   * const response = client.chat.stream({ agent: 'dify', query: 'Hello' }).toTextStreamResponse()
   * console.log(await response.text())
   * ```
   */
  toTextStreamResponse({ onError, ...init }: ResponseInit & VisitorErrorOptions = {}): Response {
    const headers = { ...EVENT_STREAM, 'content-type': 'text/plain; charset=utf-8' }
    return responseOf(this.#passOn(TEXT_FORM, { onError }), headers, init)
  }

  #passOn(form: PassedOnForm, { onError }: VisitorErrorOptions): ReadableStream<Uint8Array> {
    let report = onError
    let chunks: AsyncIterator<ChatChunk, undefined> | undefined
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const send = (frames: readonly string[]) => {
            for (const frame of frames) if (frame !== '') controller.enqueue(encoder.encode(frame))
            return frames.length > 0
          }
          this.#passOnComment = () => send([form.comment])
          try {
            if (chunks === undefined) {
              chunks = this[Symbol.asyncIterator]()
              if (send(form.begin())) return
            }
            for (;;) {
              const { done, value } = await chunks.next()
              if (done) break
              // What writes nothing is followed by the next chunk, because nobody pulls again before something is written.
              if (send(form.chunk(value))) return
            }
            send(form.end())
          } catch (error) {
            const told = await visitorError(error, report)
            const frames = form.failure(told)
            if (frames === undefined) {
              controller.error(new TrunklineError(`${told.error.code}: ${told.error.message}`))
              return
            }
            // Once it is cancelled this throws, which nobody reads any more.
            send(frames)
          }
          controller.close()
        },
        cancel: (reason) => {
          this.#passOnComment = undefined
          report = undefined
          this.leave(reason)
        },
      },
      // Nothing is requested before somebody reads.
      { highWaterMark: 0 },
    )
  }
}

const EVENT_STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies must neither hold the events back nor change them.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

function responseOf(
  body: ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  init: ResponseInit,
): Response {
  return new Response(body, { ...init, headers: withHeaders(init.headers, headers) })
}
