import type { WithResponse } from '../api-promise.ts'
import { AbortError, InvalidResponseError, TrunklineError } from '../errors.ts'
import type { ChatChunk, DetailEvent, Pause } from '../generated/wire.ts'
import { abortWith, onAbort } from '../transport/on-abort.ts'
import { requestIdOf } from '../transport/response-fields.ts'
import { textIn } from '../transport/text-in.ts'
import { type ReadChatStreamOptions, readChatStream } from './read-chat-stream.ts'
import { type Reply, replyOf } from './reply.ts'
import { type ReplyCollector, replyCollector } from './reply-collector.ts'

/** Safari has no such symbol yet; what is compiled for it looks for this one. */
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')

/** The events of {@link ChatStream.on}, and what a listener receives. */
export interface ChatStreamEvents {
  /** The next piece of the text. */
  text: string
  /** A step of the platform's progress, if `detail` was requested. */
  detail: DetailEvent
  /** The whole reply, once it is complete. */
  end: Reply
  /** The error with which the stream failed. */
  error: unknown
}

/** What a listener takes belongs to its event, which `on` and `#emit` hold together. */
type Listeners = Record<string, ((value: never) => void)[]>

/** What a stream is made of. */
export interface ChatStreamSpec {
  /** Sends the request and resolves with its response. It is called once. */
  readonly open: (signal: AbortSignal) => Promise<Response>
  /** Reads the chunks of the response, instead of {@link readChatStream}. */
  readonly read?:
    | ((response: Response, options: ReadChatStreamOptions) => AsyncIterable<ChatChunk>)
    | undefined
  readonly signal?: AbortSignal | undefined
  readonly idleTimeoutMs?: number | undefined
  /** Whether the reply has a list of details; undefined for one that has it where there are any. */
  readonly wantsDetail?: boolean | undefined
  /** Is called for every chunk of a chat. */
  readonly onChunk?: ((chunk: ChatChunk) => void) | undefined
  /** Is called for every comment of the stream. */
  readonly onComment?: (() => void) | undefined
}

/**
 * A reply that is streamed. The request is sent when something begins to read: a loop, `text()`, `final()` or a
 * listener. It can be read once; `text()` and `final()` may also be called
 * before, during or after a loop.
 *
 * @example
 * ```ts
 * const stream = client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' })
 * for await (const chunk of stream) {
 *   console.log(chunk.choices[0]?.delta.content ?? '')
 * }
 * console.log((await stream.final()).usage)
 * ```
 */
export class ChatStream implements AsyncIterable<ChatChunk> {
  readonly #spec: ChatStreamSpec
  readonly #controller = new AbortController()
  readonly #collector: ReplyCollector
  readonly #listeners: Listeners = {}
  #endListening: (() => void) | undefined
  /** Resolves with the failure, where there is one. */
  readonly #ended: Promise<unknown>
  #settle: ((failure: unknown) => void) | undefined
  #response: Promise<Response> | undefined
  #isRead = false
  #isAwaited = false

  /** Streams are made by `client.chat.stream` and by conversations. */
  constructor(spec: ChatStreamSpec) {
    this.#spec = spec
    this.#collector = replyCollector(spec.wantsDetail)
    this.#ended = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Reads the chunks. Leaving the loop early cancels the request, which ends the run at the platform. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ChatChunk, undefined> {
    if (this.#isRead) throw new TrunklineError('A stream can be read once.')
    this.#isRead = true
    return this.#read()
  }

  /**
   * The pieces of the text, without what else is in the chunks. It reads the stream, as a loop over the stream itself does.
   *
   * @example
   * ```ts
   * const stream = client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' })
   * for await (const text of stream.textStream) console.log(text)
   * ```
   */
  get textStream(): AsyncIterableIterator<string, undefined> {
    return textsOf(this)
  }

  /**
   * What the agent asks, where its run waits for the answer; undefined before the end of the stream, which tells it.
   *
   * @example
   * ```ts
   * const stream = client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'sandbox:interactive' })
   * console.log(await stream.text())
   * console.log(stream.pause?.options.map(({ title }) => title))
   * ```
   */
  get pause(): Pause | undefined {
    return this.#collector.pause()
  }

  /**
   * Cancels the request, unless the stream has ended: `await using stream = client.chat.stream(…)` leaves nothing open, however the
   * block is left.
   */
  async [asyncDispose](): Promise<void> {
    this.#isAwaited = true
    this.#controller.abort()
  }

  /**
   * Resolves to the whole text of the reply.
   *
   * @example
   * ```ts
   * const text = await client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' }).text()
   * console.log(text)
   * ```
   */
  async text(): Promise<string> {
    await this.#end()
    return this.#collector.text()
  }

  /**
   * Resolves to the reply as `client.chat.create` returns it. Where a platform replaced its answer, the reply is the replacement
   * alone if `detail` was requested; without it the stream does not tell, and the replacement is the last paragraph.
   *
   * @example
   * ```ts
   * const reply = await client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' }).final()
   * console.log(reply.text, reply.usage)
   * ```
   */
  async final(): Promise<Reply> {
    await this.#end()
    return await this.#reply()
  }

  /**
   * Cancels the request, which ends the run at the platform. The reader gets an `AbortError`.
   *
   * @example
   * ```ts
   * const stream = client.chat.stream({ agent: 'dify', query: 'sandbox:slow Hello' })
   * stream.on('text', () => stream.abort('one word is enough'))
   * stream.on('error', (error) => console.log(error))
   * ```
   */
  abort(reason?: unknown): void {
    this.#controller.abort(reason)
  }

  /**
   * Calls the listener for every such event. Unless something else begins to read in the same turn, the stream then flows by
   * itself; without a listener for `error` its failure is an unhandled rejection.
   *
   * @example
   * ```ts
   * client.chat
   *   .stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' })
   *   .on('text', (text) => console.log(text))
   *   .on('end', (reply) => console.log(reply.usage))
   *   .on('error', (error) => console.error(error))
   * ```
   */
  on<Event extends keyof ChatStreamEvents>(
    event: Event,
    listener: (value: ChatStreamEvents[Event]) => void,
  ): this {
    this.#listeners[event] = [...(this.#listeners[event] ?? []), listener]
    void this.#flow()
    return this
  }

  /**
   * Sends the request, if that has not happened yet, and resolves with its headers before the stream is read.
   *
   * @example
   * ```ts
   * const { data, requestId } = await client.chat.stream({ agent: 'dify', query: 'Hello' }).withResponse()
   * console.log(requestId, await data.text())
   * ```
   */
  async withResponse(): Promise<WithResponse<this>> {
    const response = await this.#openOnce()
    // What is being read is cancelled by its reader.
    onAbort(this.#controller.signal, () => this.#isRead || response.body?.cancel())
    return { data: this, response, requestId: requestIdOf(response) }
  }

  async *#read(): AsyncGenerator<ChatChunk, undefined> {
    let failure: unknown = new AbortError('The stream was left.')
    try {
      const response = await this.#openOnce()
      const options = { ...this.#spec, signal: this.#controller.signal }
      for await (const chunk of (this.#spec.read ?? readChatStream)(response, options)) {
        this.#take(chunk)
        yield chunk
      }
      if (this.#listeners.end) this.#emit('end', await this.#reply())
      failure = undefined
    } catch (error) {
      failure = error
      this.#emit('error', error)
      throw error
    } finally {
      this.#endListening?.()
      this.#settle?.(failure)
    }
  }

  #take(chunk: ChatChunk): void {
    // Of another server, a chunk may be anything that is JSON.
    if (!chunk?.choices) return
    try {
      this.#collector.add(chunk)
    } catch (cause) {
      throw new InvalidResponseError('An event of the stream is not of a chat.', { cause })
    }
    this.#spec.onChunk?.(chunk)
    this.#emit('text', textOf(chunk))
    this.#emit('detail', chunk.detail)
  }

  async #reply(): Promise<Reply> {
    return replyOf(this.#collector.reply(), await this.#openOnce())
  }

  #emit<Event extends keyof ChatStreamEvents>(
    event: Event,
    value: ChatStreamEvents[Event] | undefined,
  ): void {
    if (value) for (const listener of this.#listeners[event] ?? []) listener(value as never)
  }

  #openOnce(): Promise<Response> {
    // Not AbortSignal.any, which the first versions of Node 20 do not have.
    this.#endListening ??= abortWith(this.#spec.signal, this)
    this.#response ??= this.#spec.open(this.#controller.signal)
    return this.#response
  }

  async #end(): Promise<void> {
    this.#isAwaited = true
    void this.#flow()
    const failure = await this.#ended
    if (failure !== undefined) throw failure
  }

  async #flow(): Promise<void> {
    // A loop that begins in the same turn reads, and who else waits for the end waits for that.
    await undefined
    if (this.#isRead) return
    try {
      for await (const _ of this);
    } catch (error) {
      if (!this.#isAwaited && !this.#listeners.error) throw error
    }
  }
}

/** Returns the piece of the text that a chunk has. */
function textOf(chunk: ChatChunk): string | undefined {
  return textIn(Object(chunk?.choices)[0]?.delta, 'content')
}

async function* textsOf(chunks: AsyncIterable<ChatChunk>): AsyncGenerator<string, undefined> {
  for await (const chunk of chunks) {
    const text = textOf(chunk)
    if (text) yield text
  }
}
