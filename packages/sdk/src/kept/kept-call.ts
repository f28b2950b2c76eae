import type { WithResponse } from '../api-promise.ts'
import type { Reply, replyOf } from '../chat/reply.ts'
import type { KeptStream, OpenOptions } from '../chat/server-chat-stream.ts'
import type { ConnectionError, TrunklineError } from '../errors.ts'
import type { ChatChunk, ChatReply } from '../generated/wire.ts'
import type { CallOptions, ChatClientOptions, ChatStreamOptions } from '../options.ts'
import type { RequestSpec, Transport } from '../transport/transport.ts'
import type { CallReference, ReplyOptions, RunningCall, StoppedCall } from './kept-types.ts'

/** What the header may hold. Spaces at its ends would be cut off on the way. */
const KEY = /^[!-~]([ -~]{0,253}[!-~])?$/

/** How long to wait for a reply where the gateway does not say it. */
const POLL_MS = 1_000

/** What breaks a connection and not the call. Names are compared, because the classes are not at hand. */
const BROKEN: readonly unknown[] = [
  'ConnectionError',
  'IdleTimeoutError',
  'TimeoutError',
  'TruncatedStreamError',
]

/**
 * One kept call: its request is repeated with the same `Idempotency-Key`, and its stream goes on after the last event that was
 * received. The gateway knows the call by its key or by its id, so that it never runs twice.
 *
 * This module imports nothing but types. It is loaded with the first kept call, and what a bundler found both here and in the rest
 * of the package would become a third file, which makes every page larger. What it needs is passed to it.
 */
export class KeptCall implements KeptStream {
  readonly #transport: Transport
  readonly #maxRetries: number
  readonly #ConnectionError: typeof ConnectionError
  readonly #key: string | undefined
  #callId: string | undefined
  #lastEventId: number | undefined
  /** Whether each event had a number, so that the stream can go on after it. */
  #isNumbered = true
  /** How many attempts to resume there were since the last event. */
  #retries = 0
  /** Whether the gateway may be at work on the call: it was sent, and its last event has not been received. */
  #mayRun = false
  #stopping: Promise<unknown> | undefined
  #options: ChatStreamOptions = {}

  /**
   * @param reference what names the call
   * @param after the number of the last event that was received already
   * @throws TrunklineError naming what is at fault
   */
  constructor(
    transport: Transport,
    { maxRetries = 2 }: ChatClientOptions,
    connectionError: typeof ConnectionError,
    reference: CallReference,
    after = 0,
  ) {
    this.#transport = transport
    this.#maxRetries = maxRetries
    this.#ConnectionError = connectionError
    if (typeof reference === 'string') {
      // Dots would lead to another path.
      if (!/[^.]/.test(reference)) this.#refuse('The id of a call must be a text that is not empty.')
      this.#callId = reference
    } else {
      this.#key = `${Object(reference).idempotencyKey ?? ''}`
      if (!KEY.test(this.#key)) this.#refuse('idempotencyKey must be 1 to 255 printable ASCII characters.')
    }
    if (!Number.isSafeInteger(after) || after < 0) this.#refuse('after must be the number of an event.')
    // The events are counted from 1 on.
    this.#lastEventId = after || undefined
  }

  /** Sends the request of a reply that is no stream. Where it is repeated, it waits for the same run. */
  async send<T>(
    spec: RequestSpec,
    options: CallOptions = {},
    read: (response: Response) => Promise<T>,
  ): Promise<WithResponse<T>> {
    const { signal } = options
    const abandon = () => this.abandon()
    this.#mayRun = signal?.aborted !== true
    signal?.addEventListener('abort', abandon)
    try {
      return await this.#transport.send(this.#keyed(spec), options, read)
    } catch (error) {
      throw this.#told(error)
    } finally {
      this.#mayRun = false
      signal?.removeEventListener('abort', abandon)
    }
  }

  /** Sends the request of a stream, whose chunks are then those of {@link KeptCall.chunks}. */
  async open(spec: RequestSpec, options: OpenOptions): Promise<Response> {
    return await this.#begin(this.#keyed(spec), options)
  }

  /** Asks for the stream of a call that was sent before. */
  async resume(options: OpenOptions): Promise<Response> {
    return await this.#begin(this.#streamSpec(), options)
  }

  /** The chunks of the call, each once, over as many connections as it takes. */
  async *chunks(
    ...[first, read, onResumed]: Parameters<KeptStream['chunks']>
  ): AsyncGenerator<ChatChunk, undefined> {
    let hasEnded = false
    for (let response = first; ; ) {
      const before = this.#lastEventId
      let id = ''
      /** The line `id` of the last event; empty if it has none, and undefined if it may be cut. */
      let eventId: string | undefined
      const chunks = read(response, (line, isCut) => {
        if (line !== '') id = /^id: ?(.*)$/.exec(line)?.[1] ?? id
        else [eventId, id] = [isCut ? undefined : id, '']
      })
      try {
        for await (const chunk of chunks) if (this.#isNew(eventId)) yield chunk
        // A stream may also end after a finish reason, before the usage and the end.
        if (!this.#isNew(eventId)) throw new this.#ConnectionError('The stream ended before its last event.')
        this.#mayRun = false
        return undefined
      } catch (failure) {
        const name = nameOf(failure)
        if (name === 'StreamFailedError') this.#mayRun = false
        const isEmpty = name === 'TruncatedStreamError' && before === this.#lastEventId
        if (isEmpty && hasEnded) {
          this.#mayRun = false
          return undefined
        }
        hasEnded = isEmpty && (await this.#hasEnded())
        response = await this.#reopened(failure)
      }
      onResumed({ attempt: this.#retries, lastEventId: this.#lastEventId, callId: this.#callId })
    }
  }

  async stop(): Promise<void> {
    if (!this.#mayRun) return
    this.#stopping ??= this.requestStop()
    try {
      await this.#stopping
    } catch (error) {
      // The caller may try again.
      this.#stopping = undefined
      throw error
    }
  }

  abandon(): void {
    // The caller does not wait for the answer, and the gateway itself stops a call without readers.
    this.stop().catch(() => {})
  }

  /** @param credential the token for any call that its user may stop, the key for one that was made with it */
  async requestStop(
    options?: CallOptions,
    credential: 'key' | 'token' = 'key',
  ): Promise<WithResponse<StoppedCall>> {
    const spec = {
      method: 'POST',
      path: this.#path('stop'),
      credential,
      init: { keepalive: true },
    } as const
    return await this.#transport.send(spec, options, async (response) => {
      const { call_id = this.#callId ?? '', outcome = null } = Object(Object(await response.json()).data)
      return { call_id, outcome }
    })
  }

  /** Reads the whole reply. */
  async reply(
    { wait, ...options }: ReplyOptions = {},
    toReply: typeof replyOf,
  ): Promise<WithResponse<Reply | RunningCall>> {
    for (;;) {
      const received = await this.#transport.send(this.#replySpec(), options, async (response) => {
        const body = await response.json()
        if (response.status !== 202) return toReply(body as ChatReply, response)
        return {
          status: 'running',
          callId: Object(Object(body).data).call_id ?? this.#callId,
          retryAfterMs: 1_000 * Number(response.headers.get('retry-after')) || POLL_MS,
        } as const
      })
      if (!wait || !('status' in received.data)) return received
      await pause(received.data.retryAfterMs, options.signal)
    }
  }

  async deleteReply(options?: CallOptions): Promise<void> {
    try {
      const spec = { ...this.#replySpec(), method: 'DELETE' } as const
      await this.#transport.send(spec, options, (response) => response.text())
    } catch (error) {
      // Also what was deleted by an attempt whose answer was lost.
      if (Object(error).reason !== 'reply_gone') throw error
    }
  }

  #refuse(message: string): never {
    throw new this.#TrunklineError(message)
  }

  /** The class above that of a connection that failed. */
  get #TrunklineError(): typeof TrunklineError {
    return Object.getPrototypeOf(this.#ConnectionError)
  }

  #path(what: 'stream' | 'stop' | 'reply'): string {
    return `/calls/${encodeURIComponent(this.#callId ?? `key:${this.#key}`)}/${what}`
  }

  #replySpec(): RequestSpec {
    return { method: 'GET', path: this.#path('reply'), credential: 'key' }
  }

  #streamSpec(): RequestSpec {
    const cursor = this.#lastEventId && { 'last-event-id': `${this.#lastEventId}` }
    const headers = { accept: 'text/event-stream', ...cursor }
    return { method: 'GET', path: this.#path('stream'), headers, credential: 'key' }
  }

  #keyed(spec: RequestSpec): RequestSpec {
    // With a key, the request may be sent again whatever has become of the first one.
    const headers = { ...spec.headers, 'idempotency-key': `${this.#key}` }
    return { ...spec, headers, repeatable: undefined }
  }

  async #begin(spec: RequestSpec, { onKept, ...options }: OpenOptions): Promise<Response> {
    this.#options = options
    this.#mayRun = options.signal?.aborted !== true
    onKept?.(this)
    try {
      return await this.#opened(spec, options)
    } catch (error) {
      // A request that was refused has left nothing to stop.
      if (nameOf(error) !== 'ConnectionError') this.#mayRun = false
      throw this.#told(error)
    }
  }

  async #opened(spec: RequestSpec, options: ChatStreamOptions): Promise<Response> {
    const response = await this.#transport.open(spec, options)
    this.#callId = response.headers.get('x-call-id') ?? this.#callId
    return response
  }

  /** Takes note of an event. Returns whether it was received whole, and for the first time. */
  #isNew(id: string | undefined): boolean {
    if (id === undefined) return false
    const number = /^\d+$/.test(id) ? Number(id) : undefined
    if (number === undefined) this.#isNumbered = false
    else if (number <= (this.#lastEventId ?? 0)) return false
    else this.#lastEventId = number
    this.#retries = 0
    return true
  }

  /**
   * An empty stream is that of a call whose last event was received already, or of a gateway that restarts and has closed it. If the
   * call has ended, the next stream shows it: it has the events that are left, or is empty because there are none.
   */
  async #hasEnded(): Promise<boolean> {
    // Before its first event, a call has not ended.
    if (this.#lastEventId === undefined) return false
    try {
      const read = async (response: Response) => response.body?.cancel()
      const options = { ...this.#options, maxRetries: 0 }
      const { response } = await this.#transport.send(this.#replySpec(), options, read)
      return response.status !== 202
    } catch {
      // The next attempt to resume shows what is wrong.
      return false
    }
  }

  /** Opens the stream after the last event again, as often as the caller wants it. */
  async #reopened(broken: unknown): Promise<Response> {
    const { maxRetries = this.#maxRetries, signal } = this.#options
    for (let failure = broken; ; ) {
      const isBroken = BROKEN.includes(nameOf(failure))
      if (!this.#isNumbered) throw this.#told(failure)
      const spec = this.#streamSpec()
      if (this.#retries >= maxRetries)
        throw isBroken || isPassing(failure) ? this.#lost(failure) : this.#told(failure)
      // A stream that ends early or falls silent is a connection that was lost.
      const lost = isBroken ? new this.#ConnectionError(`${Object(failure).message}`) : failure
      const delayMs = this.#transport.delayBeforeRetry(lost, spec, this.#retries)
      if (delayMs === undefined) throw this.#told(failure)
      this.#retries++
      await pause(delayMs, signal)
      try {
        return await this.#opened(spec, { ...this.#options, maxRetries: 0 })
      } catch (error) {
        failure = error
      }
    }
  }

  /** Adds the id of the call to an error, and to that of a lost connection how to go on. */
  #told(error: unknown): unknown {
    const wasLost = BROKEN.includes(nameOf(error)) && Object(error).wasConnected !== false
    if (this.#isNumbered && wasLost) return this.#lost(error)
    const isOwn = error instanceof this.#TrunklineError
    return isOwn ? Object.assign(error, this.#names()) : error
  }

  #lost(cause: unknown): ConnectionError {
    const { status, headers, requestId, message }: Partial<TrunklineError> = Object(cause)
    const what = 'The connection was lost, and the call may still be running'
    const text = `${what}: client.calls.resume and client.calls.reply read on. ${message}`
    return new this.#ConnectionError(text, { status, headers, requestId, ...this.#names(), cause })
  }

  #names(): Pick<TrunklineError, 'callId' | 'idempotencyKey' | 'lastEventId'> {
    return { callId: this.#callId, idempotencyKey: this.#key, lastEventId: this.#lastEventId }
  }
}

/** Whether the gateway itself failed or restarts, and not the call. */
function isPassing(failure: unknown): boolean {
  const { status, headers }: Partial<TrunklineError> = Object(failure)
  return (status ?? 0) >= 500 && headers?.get('x-should-retry') !== 'false'
}

function nameOf(failure: unknown): unknown {
  return Object(failure).name
}

/** Waits, or no longer than the signal, which the next request then finds aborted. */
async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}
