import { TrunklineError } from '../errors.ts'
import type { ChatChunk } from '../generated/wire.ts'
import type { ChatStreamOptions } from '../options.ts'
import { encoder } from '../transport/byte-source.ts'
import { withHeaders } from '../transport/with-headers.ts'
import { ChatStream, type ChatStreamEvents, type ChatStreamSpec } from './chat-stream.ts'
import { CHAT_STREAM_FORM, type PassedOnForm, TEXT_FORM } from './passed-on-form.ts'
import {
  ChatStreamReader,
  type ChatStreamReaderOptions,
  type ReadChatStreamOptions,
} from './read-chat-stream.ts'
import type { UIMessageStreamOptions } from './ui-message-form.ts'
import { type VisitorErrorOptions, visitorError } from './visitor-error.ts'

/** The events of {@link ServerChatStream.on}, and what a listener receives. */
export interface ServerChatStreamEvents extends ChatStreamEvents {
  /** A kept stream goes on after its connection was lost. */
  resumed: ResumedStream
}

/** How a kept stream goes on after its connection was lost. */
export interface ResumedStream {
  /** How many attempts it took since the last event, from 1 on. */
  readonly attempt: number
  /** The number of the last event that was received before; undefined if there was none. */
  readonly lastEventId: number | undefined
  /** The id of the call, if the gateway has sent it already. */
  readonly callId: string | undefined
}

/** A kept call, as far as its stream needs it. */
export interface KeptStream {
  /**
   * The chunks of the call, over as many connections as it takes.
   *
   * @param read reads the chunks of one connection, and reports each line of it, see {@link ChatStreamReaderOptions}
   */
  chunks(
    first: Response,
    read: (
      response: Response,
      onLine: NonNullable<ChatStreamReaderOptions['onLine']>,
    ) => AsyncIterable<ChatChunk>,
    onResumed: (resumed: ResumedStream) => void,
  ): AsyncIterable<ChatChunk>
  /** Stops the call at the gateway, unless it is over. */
  stop(): Promise<void>
  /** Does the same for a caller who does not wait for it. */
  abandon(): void
}

/** What opening a stream takes beside the options of the caller. */
export interface OpenOptions extends ChatStreamOptions {
  readonly onKept?: ((call: KeptStream) => void) | undefined
}

/** What a stream is made of whose call may be kept. */
export interface ServerChatStreamSpec extends ChatStreamSpec {
  /** Sends the request and resolves with its response. It is called once, and reports a kept call before the request is sent. */
  readonly open: (signal: AbortSignal, onKept?: (call: KeptStream) => void) => Promise<Response>
}

/**
 * The stream of a whole client, which runs on a server: it can also be passed on to the browser of a visitor who has no API key.
 * The request is sent as well when something reads what it returns.
 *
 * Leaving the stream of a kept call, by its loop or by its `await using` block, ends the reading alone: the call goes on, and `stop()`
 * stops it.
 *
 * @example
 * ```ts
 * const response = client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' }).toResponse()
 * console.log(await response.text())
 * ```
 */
export class ServerChatStream extends ChatStream {
  readonly #onResumed: ((resumed: ResumedStream) => void)[] = []
  #passOnComment: (() => void) | undefined
  #kept: KeptStream | undefined

  /** Streams are made by `client.chat.stream`, by conversations and by `client.calls.resume`. */
  constructor(spec: ServerChatStreamSpec) {
    super({
      ...spec,
      open: (signal) =>
        spec.open(signal, (call) => {
          this.#kept = call
        }),
      read: (response, options) => this.#chunksOf(response, options),
      onComment: () => this.#passOnComment?.(),
    })
  }

  /**
   * Calls the listener for every such event; see {@link ChatStream.on}. A kept stream also has the event `resumed`.
   *
   * @example
   * ```ts
   * client.chat
   *   .stream({ agent: 'dify', query: 'Hello', keep: true })
   *   .on('resumed', ({ lastEventId }) => console.log(`The connection was lost after event ${lastEventId}.`))
   *   .on('end', (reply) => console.log(reply.text))
   *   .on('error', (error) => console.error(error))
   * ```
   */
  override on<Event extends keyof ServerChatStreamEvents>(
    event: Event,
    listener: (value: ServerChatStreamEvents[Event]) => void,
  ): this {
    if (event === 'resumed') this.#onResumed.push(listener as (resumed: ResumedStream) => void)
    // The stream then flows, whatever the event is.
    return super.on(event as keyof ChatStreamEvents, listener as never)
  }

  /**
   * Cancels the request, which ends the run at the platform. The reader gets an `AbortError`. A kept call is stopped at the
   * gateway, without waiting for the answer.
   *
   * @example
   * ```ts
   * const stream = client.chat.stream({ agent: 'dify', query: 'sandbox:slow Hello', keep: true })
   * stream.on('text', () => stream.abort('one word is enough'))
   * stream.on('error', (error) => console.log(error))
   * ```
   */
  override abort(reason?: unknown): void {
    this.#kept?.abandon()
    super.abort(reason)
  }

  /**
   * Stops a kept call, and resolves once the gateway knows of it; rejects where that is not certain. It works also after the loop
   * was left. The reader gets a `StreamFailedError` with the reason `stopped`. A call that is not kept is ended as by `abort()`.
   *
   * @example
   * ```ts
   * const stream = client.chat.stream({ agent: 'dify', query: 'Hello', keep: true })
   * for await (const text of stream.textStream) {
   *   console.log(text)
   *   break
   * }
   * await stream.stop()
   * ```
   */
  async stop(): Promise<void> {
    await (this.#kept?.stop() ?? this.abort())
  }

  /**
   * The stream as bytes, in the form in which the gateway sends it: `readChatStream` reads it, and any OpenAI client. A failure is
   * its last event, which reveals no more than that of {@link ServerChatStream.toResponse}. The gateway's keep-alive comments are passed
   * on. Cancelling it cancels the request, and does not stop a kept call.
   *
   * @example
   * ```ts
   * const bytes = client.chat.stream({ agent: 'dify', query: 'Hello' }).toReadableStream()
   * console.log(await new Response(bytes).text())
   * ```
   */
  toReadableStream(options: VisitorErrorOptions = {}): ReadableStream<Uint8Array> {
    return this.#passOn(() => CHAT_STREAM_FORM, options)
  }

  /**
   * A response for a route handler, so that a browser can stream a chat without having an API key. It begins before the gateway
   * has answered, so that a refusal is an event of it; use `withResponse()` first where the status matters.
   *
   * The visitor sees only failures that it caused or can wait for, such as `content_filtered` or `rate_limited`: the
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
   *       // That a visitor left is no failure.
   *       if (!request.signal.aborted) console.error(error)
   *       return 'Something went wrong. Please try again.'
   *     },
   *   })
   * }
   * ```
   */
  toResponse({ onError, ...init }: ResponseInit & VisitorErrorOptions = {}): Response {
    return responseOf(
      this.#passOn(() => CHAT_STREAM_FORM, { onError }),
      EVENT_STREAM,
      init,
    )
  }

  /**
   * A response for the route of `useChat`, the hook of the AI SDK: the text, the agent's reasoning if `detail` was requested, the id
   * of the conversation as `metadata.conversationId` of the message, the files that the agent has made as parts `file`, and what it
   * asks as a part `data-pause`. Failures are shown to the visitor as by {@link ServerChatStream.toResponse}; the text so far stays.
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
    const loadForm = async () => {
      const { uiMessageForm } = await import('./ui-message-form.ts')
      return uiMessageForm({ onError, messageId, sendReasoning })
    }
    const bytes = this.#passOn(loadForm, { onError })
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
    return responseOf(
      this.#passOn(() => TEXT_FORM, { onError }),
      headers,
      init,
    )
  }

  #chunksOf(response: Response, options: ReadChatStreamOptions): AsyncIterable<ChatChunk> {
    const read = (each: Response, onLine?: ChatStreamReaderOptions['onLine']) =>
      new ChatStreamReader(each, { ...options, onLine })
    const onResumed = (resumed: ResumedStream) => {
      for (const listener of this.#onResumed) listener(resumed)
    }
    return this.#kept?.chunks(response, read, onResumed) ?? read(response)
  }

  /** The form is loaded when something reads. */
  #passOn(
    loadForm: () => PassedOnForm | Promise<PassedOnForm>,
    { onError }: VisitorErrorOptions,
  ): ReadableStream<Uint8Array> {
    let report = onError
    let form: PassedOnForm | undefined
    let chunks: AsyncIterator<ChatChunk, undefined> | undefined
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          form ??= await loadForm()
          const { comment, begin, chunk, end, failure } = form
          const send = (frames: readonly string[]) => {
            for (const frame of frames) if (frame !== '') controller.enqueue(encoder.encode(frame))
            return frames.length > 0
          }
          this.#passOnComment = () => send([comment])
          try {
            if (chunks === undefined) {
              chunks = this[Symbol.asyncIterator]()
              if (send(begin())) return
            }
            for (;;) {
              const { done, value } = await chunks.next()
              if (done) break
              // A chunk that writes nothing is followed by the next one, since there is no pull before something is written.
              if (send(chunk(value))) return
            }
            send(end())
          } catch (error) {
            const told = await visitorError(error, report)
            const frames = failure(told)
            if (frames === undefined) {
              controller.error(new TrunklineError(`${told.error.code}: ${told.error.message}`))
              return
            }
            // Once the stream is cancelled this throws, and the error has no reader.
            send(frames)
          }
          controller.close()
        },
        cancel: (reason) => {
          this.#passOnComment = undefined
          report = undefined
          // The visitor has left, which stops no kept call.
          super.abort(reason)
        },
      },
      // Nothing is requested before the first read.
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
