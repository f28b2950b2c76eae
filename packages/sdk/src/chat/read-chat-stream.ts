import { checkOptions } from '../check-options.ts'
import {
  AbortError,
  type ErrorFields,
  IdleTimeoutError,
  InvalidResponseError,
  StreamFailedError,
  TruncatedStreamError,
  TrunklineError,
} from '../errors.ts'
import type { ChatChunk } from '../generated/wire.ts'
import { type BytePiece, type ByteSource, bytesOf, openBody } from '../transport/byte-source.ts'
import { connectionError } from '../transport/connection-error.ts'
import { setLongTimeout } from '../transport/long-timeout.ts'
import { abortWith } from '../transport/on-abort.ts'
import { responseFields } from '../transport/response-fields.ts'
import { shownCause } from '../transport/shown-cause.ts'
import { readStatusError } from '../transport/status-error.ts'
import { textIn } from '../transport/text-in.ts'
import { type EventParser, type EventParserOptions, eventParser, type ServerEvent } from './event-parser.ts'

/** Options of {@link readChatStream}. */
export interface ReadChatStreamOptions {
  /** Ends the stream: the request is cancelled, and the reader throws an `AbortError`. */
  readonly signal?: AbortSignal | undefined
  /** How long no byte may arrive before the reader throws an `IdleTimeoutError`. The default is 60 s; 0 waits for ever. */
  readonly idleTimeoutMs?: number | undefined
  /** How many characters a line, or the data of an event, may have; the default is 16 Mi. */
  readonly lineLengthMax?: number | undefined
  /** Is called for every comment of the stream. The gateway sends one in every 15 s in which the agent says nothing. */
  readonly onComment?: (() => void) | undefined
}

/** Options of a reader of this package, which may want to know the lines of the stream as well. */
export type ChatStreamReaderOptions = ReadChatStreamOptions & Pick<EventParserOptions, 'onLine'>

/** What {@link readChatStream} reads: a response, its body, or bytes that can be iterated, such as a stream of Node. */
export type ChatStreamSource = Response | ReadableStream<BytePiece> | AsyncIterable<BytePiece>

/**
 * Reads the chunks of a chat stream, over any response or byte stream. Leaving the loop early cancels the request.
 *
 * It needs no client: use it in a browser on the response of your own route handler.
 *
 * @example
 * ```ts
 * import { readChatStream } from '@trunkline/sdk/chat'
 *
 * const response = await fetch('/api/chat', { method: 'POST', body: JSON.stringify({ query: 'Hello' }) })
 * for await (const chunk of readChatStream(response)) {
 *   console.log(chunk.choices[0]?.delta.content ?? '')
 * }
 * ```
 *
 * @throws StreamFailedError the agent failed after the stream had begun
 * @throws TruncatedStreamError the stream ended with neither `[DONE]` nor a finish reason, or within an event
 * @throws IdleTimeoutError no byte arrived for `idleTimeoutMs`
 * @throws AbortError the signal was aborted
 * @throws InvalidResponseError the body is no event stream, an event that was ended is not JSON, or a line is too long
 * @throws ConnectionError the connection broke
 */
export function readChatStream(
  source: ChatStreamSource,
  options: ReadChatStreamOptions = {},
): AsyncIterableIterator<ChatChunk, undefined> {
  return new ChatStreamReader(source, options)
}

/** Written as an iterator and not as an async generator, which would cost more for each chunk than parsing it does. */
export class ChatStreamReader implements AsyncIterableIterator<ChatChunk, undefined> {
  readonly #response: Response | undefined
  readonly #body: Exclude<ChatStreamSource, Response> | null | undefined
  /** What every error says of the response. */
  readonly #fields: ErrorFields
  readonly #options: ReadChatStreamOptions
  readonly #events: EventParser
  /** What is left of the last bytes. */
  #received: Iterator<ServerEvent, undefined> | undefined
  #endListening: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #bytes: ByteSource | undefined
  #state: 'new' | 'open' | 'out of bytes' | 'ended' = 'new'
  #hasFinishReason = false
  /** What the next call throws, because the signal was aborted or no byte arrived for too long. */
  #failure: Error | undefined
  /** The call of `next` that waits for bytes; a further call waits for it. */
  #reading: Promise<IteratorResult<ChatChunk, undefined>> | undefined

  constructor(source: ChatStreamSource, options: ChatStreamReaderOptions) {
    // By its form, because a response may come from another implementation of fetch, and have no body there.
    this.#response = 'ok' in Object(source) ? (source as Response) : undefined
    this.#body = this.#response ? this.#response.body : (source as Exclude<ChatStreamSource, Response>)
    this.#fields = this.#response ? responseFields(this.#response) : {}
    this.#options = options
    this.#events = eventParser(options)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ChatChunk, undefined>> {
    if (this.#reading) return this.#reading.catch(() => {}).then(() => this.next())
    try {
      const result = this.#nextReceived()
      if (result) return Promise.resolve(result)
    } catch (error) {
      this.#close()
      return Promise.reject(error)
    }
    this.#reading = this.#readOn()
    return this.#reading
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    try {
      if (this.#state === 'new') this.#bytes = openBody(this.#body, this.#fields)
    } catch {
      // There is nothing to end.
    }
    this.#close()
    return Promise.resolve(ENDED)
  }

  /** Returns what comes next in the bytes that were received, or undefined if more are needed. */
  #nextReceived(): IteratorResult<ChatChunk, undefined> | undefined {
    if (this.#state === 'ended') return ENDED
    if (this.#failure) throw this.#failure
    const received = this.#received?.next().value
    const result = received && this.#resultOf(received)
    if (result || this.#state !== 'out of bytes') return result
    this.#close()
    if (this.#hasFinishReason) return ENDED
    throw this.#events.hasSeenField
      ? new TruncatedStreamError('The stream ended before the reply was complete.', this.#fields)
      : this.#invalid()
  }

  /** Waits for bytes until there is something to return. It always waits, so that `next` can remember that it does. */
  async #readOn(): Promise<IteratorResult<ChatChunk, undefined>> {
    const { idleTimeoutMs = 60_000 } = this.#options
    try {
      for (;;) {
        if (this.#state === 'new') await this.#open()
        else {
          // There is no timer while no read is pending, because it would keep a process of Node alive.
          this.#timer = setLongTimeout(idleTimeoutMs, () =>
            this.#fail(new IdleTimeoutError(`No byte arrived for ${idleTimeoutMs} ms.`, this.#fields)),
          )
          const read = await this.#bytes?.read()
          clearTimeout(this.#timer)
          if (read?.done === false) this.#received = this.#events.push(bytesOf(read.value))
          else if (this.#state !== 'ended') {
            this.#state = 'out of bytes'
            this.#received = this.#events.push()
          }
        }
        // It may have been ended meanwhile.
        const result = this.#nextReceived()
        if (result) return result
      }
    } catch (error) {
      this.#close()
      if (error instanceof TrunklineError) throw error
      // Other errors are those of the source.
      throw (
        this.#failure ??
        (textIn(error, 'name') === 'AbortError'
          ? new AbortError('The call was aborted.', { ...this.#fields, cause: shownCause(error) })
          : connectionError('The connection broke before the reply was complete', error, this.#fields))
      )
    } finally {
      this.#reading = undefined
    }
  }

  async #open(): Promise<void> {
    const response = this.#response
    this.#state = 'open'
    checkOptions(this.#options)
    if (response?.ok === false) throw await readStatusError(response)
    this.#bytes = openBody(this.#body, this.#fields)
    const type = response?.headers.get('content-type') ?? 'text/plain'
    const kind = EVENT_STREAM_TYPE.exec(type)?.[1]
    if (!kind) throw this.#invalid()
    // Such a stream may also be cut before its first field.
    this.#events.hasSeenField = kind !== 'plain'
    this.#endListening = abortWith(this.#options.signal, this)
  }

  /** Returns undefined for an event that is cut by the end of the stream. */
  #resultOf({ data, event }: ServerEvent): IteratorResult<ChatChunk, undefined> | undefined {
    if (data === '[DONE]') {
      this.#close()
      return ENDED
    }
    // The contract says what it is; anything else that is JSON is passed on, as the `openai` package does.
    let chunk: (ChatChunk & { readonly error?: unknown }) | null
    try {
      chunk = JSON.parse(data)
    } catch (cause) {
      if (this.#state === 'out of bytes') {
        // No blank line has ended this event, so it is not malformed, but cut.
        this.#hasFinishReason = false
        return undefined
      }
      throw new InvalidResponseError('An event of the stream is not JSON.', { ...this.#fields, cause })
    }
    // The events of OpenAI's Assistants, which that package wraps.
    if (event?.startsWith('thread.')) return { done: false, value: { event, data: chunk } as never }
    const error = chunk?.error
    if (event === 'error' || error) throw this.#streamFailed(error ?? chunk)
    this.#hasFinishReason ||= [chunk?.choices]
      .flat()
      .some((choice) => textIn(choice, 'finish_reason') !== undefined)
    return { done: false, value: chunk as ChatChunk }
  }

  /** The next call throws the error. The request need not wait for that, nor does a read. */
  #fail(error: Error): void {
    this.#failure = error
    this.#bytes?.cancel()
  }

  #close(): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    clearTimeout(this.#timer)
    this.#endListening?.()
    this.#bytes?.cancel()
  }

  abort(cause: unknown): void {
    this.#fail(new AbortError('The call was aborted.', { ...this.#fields, cause }))
  }

  #invalid(): InvalidResponseError {
    return new InvalidResponseError('The response is not an event stream.', this.#fields)
  }

  #streamFailed(error: unknown): StreamFailedError {
    const message = typeof error === 'string' ? error : textIn(error, 'message')
    const { code, retry_after_ms: wait } = Object(error)
    const reason = typeof code === 'number' ? `${code}` : textIn(error, 'code')
    return new StreamFailedError([reason, message ?? 'The stream failed.'].filter(Boolean).join(': '), {
      ...this.#fields,
      reason,
      code: reason && code,
      type: textIn(error, 'type'),
      detail: message,
      // The SDK adds it where a stream is passed on.
      retryAfterMs: typeof wait === 'number' ? wait : undefined,
    })
  }
}

const ENDED: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Text that is not declared as an event stream is read as one, because frameworks declare so what they do not know. */
const EVENT_STREAM_TYPE = /^\s*text\/(event-stream|plain)\s*(;|$)/i
