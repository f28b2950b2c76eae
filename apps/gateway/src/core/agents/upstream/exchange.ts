import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { HeaderReader, UpstreamEvent, UpstreamRequest } from '#core/agents/adapter.ts'
import { EventReader } from './event-reader.ts'
import { requestBody } from './request-body.ts'
import { UpstreamError } from './upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from './upstream-reply.ts'

export interface ExchangeLimits {
  /** A blocking reply, and an event: larger ones are refused. */
  readonly replyBytesMax: number
  /** Parsed events that wait for a slow reader before the platform's socket is paused. */
  readonly unsentBytesMax: number
  /** The reply is read as a body, whatever it looks like. */
  readonly isWholeBody: boolean
}

/** An error body longer than this tells nobody more. */
const ERROR_BODY_BYTES = 64 * 1024

type Headers = Readonly<Record<string, string | string[] | undefined>>

const NO_HEADERS: Headers = {}

/**
 * One request and its reply as a pull: `next` hands over all that has been parsed since, so a slow reader costs one array
 * and not a queue of promises. Written on undici's dispatch handler, since a Readable a reply costs more than the
 * translation of what it carries.
 */
export class Exchange implements UpstreamReply, Dispatcher.DispatchHandler {
  readonly #limits: ExchangeLimits
  /** The body of the request where it is a stream. */
  readonly #sending: Readable | undefined
  /** A blocking reply has none. */
  #reader: EventReader | undefined
  #controller: Dispatcher.DispatchController | undefined
  #status: number | undefined
  #headers = NO_HEADERS
  #mode: 'unknown' | 'events' | 'body' = 'unknown'
  #hasEnded = false
  #isPaused = false
  #failure: Error | undefined
  #waiting: { resolve(part: UpstreamPart): void; reject(error: Error): void } | undefined
  #events: UpstreamEvent[] = []
  #heldCharacters = 0
  #chunks: Buffer[] = []
  #bodyBytes = 0

  constructor(dispatcher: Dispatcher, request: UpstreamRequest, limits: ExchangeLimits) {
    this.#limits = limits
    const { method, headers, body } = request
    if (typeof body === 'object') {
      this.#sending = body
      // The cause is what the caller must learn, not the broken exchange that follows from it.
      body.once('error', (error) => this.cancel(error))
    }
    dispatcher.dispatch({ ...splitUrl(request.url), method, headers, body: requestBody(body) }, this)
  }

  get status(): number | undefined {
    return this.#status
  }

  next(): Promise<UpstreamPart> {
    const part = this.#take()
    if (part !== undefined) return Promise.resolve(part)
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  interrupt(cause: Error): void {
    this.#waiting?.reject(cause)
    this.#waiting = undefined
  }

  finish(): void {
    if (this.#hasEnded || this.#failure !== undefined) return
    this.#mode = 'events'
    this.#hasEnded = true
    this.#controller?.abort(new UpstreamError('agent_truncated'))
    this.#sending?.destroy()
    this.#wake()
  }

  cancel(cause: Error): void {
    if (this.#hasEnded || this.#failure !== undefined) return
    this.#failure = cause
    this.#controller?.abort(cause)
    // A request that still waits for a connection has nothing yet that would abort it.
    this.#sending?.destroy()
    this.#wake()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure !== undefined) controller.abort(this.#failure)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Parsed already; undici would keep them, and the bytes of the read that brought them, as long as the reply.
    controller.rawHeaders = null
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure !== undefined || this.#hasEnded) return
    if (this.#mode === 'unknown') {
      this.#mode = this.#modeOf(chunk)
      // The headers are read only beside a body.
      if (this.#mode === 'events') this.#headers = NO_HEADERS
    }
    if (this.#mode !== 'events') this.#readBody(chunk)
    if (this.#mode !== 'body') this.#readEvents(chunk)
  }

  onResponseEnd(): void {
    if (this.#hasEnded || this.#failure !== undefined) return
    if (this.#mode === 'unknown') this.#mode = this.#isBody() ? 'body' : 'events'
    if (this.#mode === 'events') this.#reader?.end()
    this.#hasEnded = true
    this.#wake()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#hasEnded) return
    this.#failure ??= UpstreamError.of(error, this.#controller !== undefined)
    this.#sending?.destroy()
    this.#wake()
  }

  #readEvents(chunk: Buffer): void {
    this.#reader ??= new EventReader(this.#limits.replyBytesMax, (event) => {
      this.#events.push(event)
      this.#heldCharacters += event.data.length
    })
    if (!this.#reader.feed(chunk)) {
      this.cancel(new UpstreamError('agent_malformed'))
      return
    }
    if (this.#heldCharacters > this.#limits.unsentBytesMax && !this.#isPaused) {
      this.#isPaused = true
      this.#controller?.pause()
    }
    if (this.#events.length > 0) this.#wake()
  }

  #readBody(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bodyBytes += chunk.length
    if (this.#isRefusal() && this.#bodyBytes > ERROR_BODY_BYTES) {
      // The rest is not read: what matters of a refusal stands at its beginning.
      this.onResponseEnd()
      this.#controller?.abort(new UpstreamError('agent_error'))
    } else if (this.#bodyBytes > this.#limits.replyBytesMax) {
      this.cancel(new UpstreamError('agent_malformed'))
    }
  }

  /** Hands over to a waiting reader; a failure comes after what was read before it. */
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
    if (this.#events.length > 0) return this.#takeEvents()
    if (!this.#hasEnded) return undefined
    if (this.#mode !== 'body') return { kind: 'end' }
    this.#mode = 'events'
    const header: HeaderReader = (name) => [this.#headers[name]].flat()[0]
    return { kind: 'body', status: this.#status ?? 0, body: parseBody(this.#chunks), header }
  }

  #takeEvents(): UpstreamPart {
    const part: UpstreamPart = { kind: 'events', events: this.#events }
    this.#events = []
    this.#heldCharacters = 0
    if (this.#isPaused) {
      this.#isPaused = false
      this.#controller?.resume()
    }
    return part
  }

  #isBody(): boolean {
    return this.#isRefusal() || this.#limits.isWholeBody
  }

  #isRefusal(): boolean {
    return this.#status !== undefined && this.#status >= 400
  }

  /** Content types lie (errors come as JSON or HTML to a streaming call, streams without any): the first byte decides. */
  #modeOf(chunk: Buffer): 'events' | 'body' | 'unknown' {
    if (this.#isBody()) return 'body'
    for (const byte of chunk) {
      // White space and the bytes of a BOM say nothing yet.
      if (byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf) continue
      return byte === 0x7b || byte === 0x5b || byte === 0x3c ? 'body' : 'events'
    }
    return 'unknown'
  }
}

const utf8 = new TextDecoder()

function parseBody(chunks: readonly Buffer[]): unknown {
  const text = utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const URLS_MAX = 1_000
const urls = new Map<string, { origin: string; path: string }>()

/** An installation calls a handful of addresses: parsing each once keeps it off the path of a call. */
function splitUrl(url: string): { origin: string; path: string } {
  const known = urls.get(url)
  if (known !== undefined) return known
  const { origin, pathname, search } = new URL(url)
  const parts = { origin, path: pathname + search }
  if (urls.size >= URLS_MAX) urls.clear()
  urls.set(url, parts)
  return parts
}
