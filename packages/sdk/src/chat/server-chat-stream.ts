import type { ChatChunk } from '../generated/wire.ts'
import { encoder } from '../transport/byte-source.ts'
import { withHeaders } from '../transport/with-headers.ts'
import { ChatStream, type ChatStreamSpec } from './chat-stream.ts'
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
   * on. Cancelling it cancels the request.
   *
   * @example
   * ```ts
   * const bytes = client.chat.stream({ agent: 'dify', query: 'Hello' }).toReadableStream()
   * console.log(await new Response(bytes).text())
   * ```
   */
  toReadableStream({ onError }: VisitorErrorOptions = {}): ReadableStream<Uint8Array> {
    let report = onError
    let chunks: AsyncIterator<ChatChunk, undefined> | undefined
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const send = (text: string) => controller.enqueue(encoder.encode(`${text}\n\n`))
          this.#passOnComment = () => send(': keep-alive')
          try {
            chunks ??= this[Symbol.asyncIterator]()
            const { done, value } = await chunks.next()
            send(`data: ${done ? '[DONE]' : JSON.stringify(value)}`)
            if (!done) return
          } catch (error) {
            // Once it is cancelled this throws, which nobody reads any more.
            send(`data: ${JSON.stringify(await visitorError(error, report))}`)
          }
          controller.close()
        },
        cancel: (reason) => {
          this.#passOnComment = undefined
          report = undefined
          this.abort(reason)
        },
      },
      // Nothing is requested before somebody reads.
      { highWaterMark: 0 },
    )
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
    const headers = withHeaders(init.headers, {
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies must neither hold the events back nor change them.
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    return new Response(this.toReadableStream({ onError }), { ...init, headers })
  }
}
