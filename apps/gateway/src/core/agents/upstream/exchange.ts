import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { HeaderReader, UpstreamEvent, UpstreamRequest } from '#core/agents/adapter.ts'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import { parseJson } from '#core/base/values/json.ts'
import { parseLenientJson } from '#core/base/values/lenient-json.ts'
import { ContentDecoder, type ContentReader, encodingsOf, type PausableSource } from './content-decoder.ts'
import { EventReader } from './event-reader.ts'
import { LARGE_CHARACTERS, LargeBody } from './request-body.ts'
import { UpstreamError } from './upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from './upstream-reply.ts'

export interface ExchangeLimits {
  /** The largest blocking reply and the largest single event; larger ones are rejected as malformed. */
  readonly replyBytesMax: number
  /** How much parsed data may wait for a slow reader before the platform's socket is paused. */
  readonly unsentBytesMax: number
  readonly now: () => Date
  /** Whether the reply is read as one body, even if it looks like an event stream. */
  readonly isWholeBody: boolean
  /** Whether the first bytes of an event stream are a part of their own, without events: a heartbeat shows that somebody listens. */
  readonly announcesStream?: boolean | undefined
  /** Called with the head of a reply that is none of an error, before its first byte. */
  readonly onHead?: ((header: HeaderReader) => void) | undefined
}

/** How much of an error body is read, after decoding. Servers that echo what they were sent answer with long errors. */
const ERROR_BODY_BYTES = 1024 * 1024

type Headers = Readonly<Record<string, string | string[] | undefined>>

const NO_HEADERS: Headers = {}

/** Some servers encode all the same. */
const ACCEPTED = { 'accept-encoding': 'identity' }

/**
 * One request and its reply, read by pulling: `next` returns everything parsed since the previous call, so a
 * slow reader costs one array instead of a queue of promises. Implements undici's dispatch handler directly,
 * because a `Readable` per reply would cost more than translating its content.
 */
export class Exchange implements UpstreamReply, Dispatcher.DispatchHandler, ContentReader {
  readonly #limits: ExchangeLimits
  readonly #url: string
  /** The request body if it is a stream. */
  readonly #sending: Readable | undefined
  /** Undefined for a blocking reply. */
  #reader: EventReader | undefined
  /** Set directly before the first byte is written, from when on the platform may have the request. */
  #controller: Dispatcher.DispatchController | undefined
  /** Undefined for a response that is not encoded, which is nearly every one. */
  #decoder: ContentDecoder | undefined
  status: number | undefined
  #headers = NO_HEADERS
  /** A refusal is a body, whatever it looks like. */
  #mode: 'unknown' | 'events' | 'body'
  #hasEnded = false
  #isPaused = false
  #failure: Error | undefined
  #waiting: PromiseWithResolvers<UpstreamPart> | undefined
  #events: UpstreamEvent[] = []
  /** Whether the beginning of the stream is still to be announced. */
  #isNews = false
  #heldCharacters = 0
  #chunks: Buffer[] = []
  #bodyBytes = 0

  constructor(dispatcher: Dispatcher, request: UpstreamRequest, limits: ExchangeLimits) {
    this.#limits = limits
    this.#mode = limits.isWholeBody ? 'body' : 'unknown'
    this.#url = request.url
    const { method, headers, body } = request
    if (typeof body === 'object') {
      this.#sending = body
      // The caller must see the stream's error, not the aborted exchange that results from it.
      body.once('error', (error) => this.cancel(error))
    }
    const isLarge = typeof body === 'string' && body.length >= LARGE_CHARACTERS
    const sent = {
      method,
      headers: { ...ACCEPTED, ...headers },
      body: isLarge ? new LargeBody(body) : (body ?? null),
    }
    dispatcher.dispatch({ ...splitUrl(request.url), ...sent }, this)
  }

  get wasBegun(): boolean {
    return this.#controller !== undefined
  }

  next(): Promise<UpstreamPart> {
    const part = this.#take()
    if (part !== undefined) return Promise.resolve(part)
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  interrupt(cause: Error): void {
    this.#waiting?.reject(cause)
    this.#waiting = undefined
  }

  finish(): void {
    if (this.#hasEnded || this.#failure !== undefined) return
    this.#mode = 'events'
    this.#hasEnded = true
    this.#stopReading(new UpstreamError('agent_truncated'))
    this.#sending?.destroy()
    this.#wake()
  }

  cancel(cause: Error): void {
    if (this.#hasEnded || this.#failure !== undefined) return
    this.#failure = cause
    this.#stopReading(cause)
    // A request that still waits for a connection has no controller yet that would destroy the stream.
    this.#sending?.destroy()
    this.#wake()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // What has ended before it was connected is never begun.
    if (this.#failure !== undefined || this.#hasEnded)
      controller.abort(this.#failure ?? new UpstreamError('agent_truncated'))
    else this.#controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // The parsed headers are enough. undici would keep the raw ones, and the socket buffer that they are
    // slices of, in memory until the reply ends.
    controller.rawHeaders = null
    this.status = status
    this.#headers = headers
    if (status >= 300 && status < 400) {
      this.cancel(UpstreamError.redirect(status, this.#header('location'), this.#url))
      return
    }
    if (status >= 400) this.#mode = 'body'
    else this.#limits.onHead?.((name) => this.#header(name))
    const encoding = headers['content-encoding']
    if (encoding === undefined) return
    const encodings = encodingsOf(encoding)
    if (encodings.length > 0) this.#decoder = new ContentDecoder(encodings, controller, this)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decoder === undefined) this.write(chunk)
    else this.#decoder.write(chunk)
  }

  onResponseEnd(): void {
    if (this.#decoder === undefined) this.end(undefined)
    else this.#decoder.end(undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#sending?.destroy()
    // A reply whose end has come is whole, so it is decoded before the failure is reported.
    if (this.#decoder === undefined) this.end(error)
    else this.#decoder.end(error)
  }

  /** Takes a piece of the body as it is after decoding. */
  write(chunk: Buffer): void {
    if (this.#failure !== undefined || this.#hasEnded) return
    if (this.#mode === 'unknown') {
      this.#mode = modeOf(chunk)
      // Headers are used only together with a body, so a long stream need not keep them in memory.
      if (this.#mode === 'events') {
        this.#headers = NO_HEADERS
        this.#isNews = this.#limits.announcesStream === true
      }
    }
    if (this.#mode !== 'events') this.#readBody(chunk)
    if (this.#mode !== 'body') this.#readEvents(chunk)
  }

  /** The body has ended, or nothing more of it can be read. A body that is whole all the same counts as such. */
  end(fault: Error | undefined): void {
    if (this.#hasEnded || this.#failure !== undefined) return
    if (this.#mode !== 'body') {
      this.#mode = 'events'
      this.#reader?.end()
    }
    if (fault === undefined || (this.#mode === 'body' && isJson(this.#chunks))) this.#hasEnded = true
    else this.#failure = UpstreamError.of(fault, this.wasBegun)
    // The connection itself may go on.
    if (fault !== undefined) this.#controller?.abort(fault)
    this.#wake()
  }

  #readEvents(chunk: Buffer): void {
    this.#reader ??= new EventReader(this.#limits.replyBytesMax, (event) => {
      this.#events.push(event)
      this.#heldCharacters += event.data.length
    })
    if (!this.#reader.feed(chunk)) {
      this.cancel(new UpstreamError('agent_malformed', { isTooLarge: true }))
      return
    }
    if (this.#heldCharacters > this.#limits.unsentBytesMax && !this.#isPaused) {
      this.#isPaused = true
      this.#source?.pause()
    }
    if (this.#events.length > 0 || this.#isNews) this.#wake()
  }

  #readBody(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bodyBytes += chunk.length
    const { replyBytesMax } = this.#limits
    const isRefusal = this.status !== undefined && this.status >= 400
    const excessBytes =
      this.#bodyBytes - (isRefusal ? Math.min(ERROR_BODY_BYTES, replyBytesMax) : replyBytesMax)
    if (excessBytes <= 0) return
    if (isRefusal) {
      this.#chunks[this.#chunks.length - 1] = chunk.subarray(0, -excessBytes)
      // The rest is not read: an error that is longer counts as a text.
      this.end(undefined)
      this.#stopReading(new UpstreamError('agent_error'))
    } else this.cancel(new UpstreamError('agent_malformed', { isTooLarge: true }))
  }

  /** Resolves a waiting `next`. Data that arrived before a failure is delivered before the failure. */
  #wake(): void {
    const reader = this.#waiting
    if (reader === undefined) return
    const part = this.#take()
    if (part === undefined && this.#failure === undefined) return
    this.#waiting = undefined
    if (part !== undefined) reader.resolve(part)
    else if (this.#failure !== undefined) reader.reject(this.#failure)
  }

  #take(): UpstreamPart | undefined {
    if (this.#events.length > 0 || this.#isNews) return this.#takeEvents()
    if (!this.#hasEnded) return undefined
    if (this.#mode !== 'body') return { kind: 'end' }
    this.#mode = 'events'
    const header: HeaderReader = (name) => (name === 'date' ? this.#date : this.#header(name))
    return { kind: 'body', status: this.status ?? 0, body: parseBody(this.#chunks), header }
  }

  #takeEvents(): UpstreamPart {
    const part: UpstreamPart = { kind: 'events', events: this.#events }
    this.#events = []
    this.#isNews = false
    this.#heldCharacters = 0
    if (this.#isPaused) {
      this.#isPaused = false
      this.#source?.resume()
    }
    return part
  }

  get #source(): PausableSource | undefined {
    return this.#decoder ?? this.#controller
  }

  #stopReading(cause: Error): void {
    this.#decoder?.destroy()
    this.#controller?.abort(cause)
  }

  #header(name: string): string | undefined {
    return [this.#headers[name]].flat()[0]
  }

  /** By the platform's clock, to which its other dates refer; by the gateway's if the platform does not tell. */
  get #date(): string {
    const told = this.#header('date')
    return told === undefined || Number.isNaN(Date.parse(told)) ? this.#limits.now().toUTCString() : told
  }
}

/**
 * Decides by the first byte, because content types are unreliable: streaming calls are answered with JSON
 * or HTML errors, and some streams have no content type at all.
 */
function modeOf(chunk: Buffer): 'events' | 'body' | 'unknown' {
  for (const byte of chunk) {
    // White space and a byte order mark may precede either.
    if (byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf) continue
    return byte === 0x7b || byte === 0x5b || byte === 0x3c ? 'body' : 'events'
  }
  return 'unknown'
}

const utf8 = new TextDecoder()

function isJson(chunks: readonly Buffer[]): boolean {
  const body = parseBody(chunks)
  return typeof body === 'object' && body !== null
}

function parseBody(chunks: readonly Buffer[]): unknown {
  const text = utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  const parsed = parseJson(text)
  return parsed === undefined ? (parseLenientJson(text) ?? text) : parsed
}

const URLS_MAX = 1_000
const urls = new BoundedMap<string, { origin: string; path: string }>(URLS_MAX)

/** Caches parsed URLs, which saves parsing the same handful of addresses on every call. */
function splitUrl(url: string): { origin: string; path: string } {
  const known = urls.get(url)
  if (known !== undefined) return known
  const { origin, pathname, search } = new URL(url)
  const parts = { origin, path: pathname + search }
  urls.set(url, parts)
  return parts
}
