import {
  AbortError,
  ConnectionError,
  type ErrorFields,
  IdleTimeoutError,
  InvalidResponseError,
  StreamFailedError,
  TruncatedStreamError,
  TrunklineError,
} from '../errors.ts'
import type { ChatChunk } from '../generated/wire.ts'
import { onAbort } from '../on-abort.ts'
import { responseFields } from '../response-fields.ts'
import { readStatusError } from '../status-error.ts'
import { textIn } from '../text-in.ts'
import { type BytePiece, type ByteSource, bytesOf, openSource } from './byte-source.ts'
import { EventParser } from './event-parser.ts'
import { IdleWatch } from './idle-watch.ts'

const IDLE_TIMEOUT_MS = 60_000
/** Far above the longest event of a gateway, which holds at most 1 MiB of a stream back. */
const LINE_LENGTH_MAX = 16 * 1024 * 1024

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
 * @throws TruncatedStreamError the stream ended with neither `[DONE]` nor a finish reason
 * @throws IdleTimeoutError no byte arrived for `idleTimeoutMs`
 * @throws AbortError the signal was aborted
 * @throws InvalidResponseError the body is no event stream, an event is not JSON, or a line is too long
 * @throws ConnectionError the connection broke
 */
export function readChatStream(
  source: ChatStreamSource,
  options: ReadChatStreamOptions = {},
): AsyncIterableIterator<ChatChunk, undefined> {
  return new ChatStreamReader(source, options)
}

/** Written as an iterator and not as an async generator, which would cost more for each chunk than parsing it does. */
class ChatStreamReader implements AsyncIterableIterator<ChatChunk, undefined> {
  readonly #response: Response | undefined
  readonly #body: Exclude<ChatStreamSource, Response> | null
  /** What every error says of the response. */
  readonly #fields: ErrorFields
  readonly #signal: AbortSignal | undefined
  readonly #events: EventParser
  readonly #idle: IdleWatch
  #bytes: ByteSource | undefined
  #endWaiting: (() => void) | undefined
  #state: 'new' | 'open' | 'out of bytes' | 'ended' = 'new'
  #hasFinishReason = false
  /** What the next call throws, because the signal was aborted or no byte arrived for too long. */
  #failure: Error | undefined
  /** The call of `next` that waits for bytes; a further call waits for it. */
  #reading: Promise<unknown> | undefined

  constructor(source: ChatStreamSource, options: ReadChatStreamOptions) {
    const { signal, onComment, idleTimeoutMs = IDLE_TIMEOUT_MS, lineLengthMax = LINE_LENGTH_MAX } = options
    const response = isResponse(source) ? source : undefined
    this.#response = response
    this.#body = isResponse(source) ? source.body : source
    this.#fields = response === undefined ? {} : responseFields(response)
    this.#signal = signal
    this.#events = new EventParser(lineLengthMax, onComment)
    this.#idle = new IdleWatch(idleTimeoutMs, () => {
      const message = `No byte of the stream arrived for ${idleTimeoutMs} ms.`
      this.#fail(new IdleTimeoutError(message, this.#fields))
    })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ChatChunk, undefined>> {
    if (this.#reading !== undefined) {
      const retry = () => this.next()
      return this.#reading.then(retry, retry)
    }
    try {
      const result = this.#nextReceived()
      if (result !== undefined) return Promise.resolve(result)
    } catch (error) {
      this.#close()
      return Promise.reject(error)
    }
    const reading = this.#readOn()
    this.#reading = reading
    return reading
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    if (this.#state === 'new') this.#openBody()
    this.#close()
    return Promise.resolve(ENDED)
  }

  /** Returns what comes next in the bytes that were received, or undefined if more are needed. */
  #nextReceived(): IteratorResult<ChatChunk, undefined> | undefined {
    if (this.#state === 'ended') return ENDED
    if (this.#failure !== undefined) throw this.#failure
    if (this.#events.next()) return this.#resultOfEvent()
    if (this.#state !== 'out of bytes') return undefined
    this.#close()
    if (this.#hasFinishReason) return ENDED
    throw this.#events.hasSeenField
      ? new TruncatedStreamError('The stream ended before the reply was complete.', this.#fields)
      : new InvalidResponseError('The response is not an event stream.', this.#fields)
  }

  /** Waits for bytes until there is something to return. It always waits, so that `next` can remember that it does. */
  async #readOn(): Promise<IteratorResult<ChatChunk, undefined>> {
    try {
      if (this.#state === 'new') {
        await this.#open()
        // It may have been ended meanwhile.
        const result = this.#nextReceived()
        if (result !== undefined) return result
      }
      for (;;) {
        this.#idle.begin()
        const read = await this.#bytes?.read()
        this.#idle.end()
        if (read?.done === false) this.#events.push(bytesOf(read.value))
        else if (this.#state === 'open') {
          this.#state = 'out of bytes'
          this.#events.end()
        }
        const result = this.#nextReceived()
        if (result !== undefined) return result
      }
    } catch (error) {
      this.#close()
      // Other errors are those of the source.
      throw error instanceof TrunklineError ? error : (this.#failure ?? this.#errorOfSource(error))
    } finally {
      this.#reading = undefined
    }
  }

  async #open(): Promise<void> {
    const response = this.#response
    this.#state = 'open'
    if (response?.ok === false) throw await readStatusError(response)
    this.#openBody()
    const type = response?.headers.get('content-type') ?? 'text/plain'
    if (!EVENT_STREAM_TYPE.test(type)) {
      const message = `The response is not an event stream, but of the type ${type}.`
      throw new InvalidResponseError(message, this.#fields)
    }
    const signal = this.#signal
    this.#endWaiting = onAbort(signal, () => this.#fail(this.#abortError(signal?.reason)))
  }

  #openBody(): void {
    if (this.#body !== null) this.#bytes = openSource(this.#body)
  }

  #resultOfEvent(): IteratorResult<ChatChunk, undefined> {
    const { data, event } = this.#events
    if (data === '[DONE]') {
      this.#close()
      return ENDED
    }
    // The contract says what it is; anything else that is JSON is passed on, as the `openai` package does.
    let chunk: (ChatChunk & { readonly error?: unknown }) | null
    try {
      chunk = JSON.parse(data)
    } catch (cause) {
      throw new InvalidResponseError('An event of the stream is not JSON.', { ...this.#fields, cause })
    }
    // The events of OpenAI's Assistants, which that package wraps.
    if (event?.startsWith('thread.') === true) return { done: false, value: { event, data: chunk } as never }
    const error = chunk?.error
    if (event === 'error' || error) throw this.#streamFailed(error ?? chunk)
    if (!this.#hasFinishReason) this.#hasFinishReason = hasFinishReason(chunk)
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
    this.#idle.close()
    this.#endWaiting?.()
    this.#bytes?.cancel()
  }

  #abortError(cause: unknown): AbortError {
    return new AbortError('The stream was aborted.', { ...this.#fields, cause })
  }

  #errorOfSource(cause: unknown): Error {
    if (textIn(cause, 'name') === 'AbortError') return this.#abortError(cause)
    return new ConnectionError('The connection broke before the stream ended.', { ...this.#fields, cause })
  }

  #streamFailed(error: unknown): StreamFailedError {
    const message = typeof error === 'string' ? error : textIn(error, 'message')
    const code = textIn(error, 'code')
    const text = message ?? 'The stream ended with an error.'
    return new StreamFailedError(code === undefined ? text : `${code}: ${text}`, {
      ...this.#fields,
      reason: code,
      detail: message,
    })
  }
}

const ENDED: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** By its form, because a response may come from another implementation of fetch. */
function isResponse(source: ChatStreamSource): source is Response {
  return 'headers' in source && 'body' in source
}

/** Text that is not declared as an event stream is read as one, because frameworks declare so what they do not know. */
const EVENT_STREAM_TYPE = /^\s*text\/(event-stream|plain)\s*(;|$)/i

function hasFinishReason(chunk: Partial<ChatChunk> | null): boolean {
  const choices: unknown = chunk?.choices
  return Array.isArray(choices) && choices.some((choice) => textIn(choice, 'finish_reason') !== undefined)
}
