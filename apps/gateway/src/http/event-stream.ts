import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Chat } from '#core/chat/service.ts'
import { Problem } from '#core/errors.ts'
import { problemOf } from '#core/problem-of.ts'
import type { ChunkEncoder } from './chunk-encoder.ts'

export interface StreamTimes {
  /** How long the response's headers wait for the platform, so that a refusal is an ordinary response. */
  readonly headerHoldMs: number
  /** A comment goes out after so much silence. */
  readonly keepAliveMs: number
}

const KEEP_ALIVE = ': keep-alive\n\n'
/** They end a line for clients that split as Python's `splitlines` does, and would cut an event in two. */
const UNICODE_LINE_ENDS = /[\u0085\u2028\u2029]/g

/**
 * Writes a call as server-sent events. Throws the call's {@link Problem} while no byte has been sent; from then on a
 * failure is one frame, after which the stream closes without `[DONE]`.
 */
export async function sendEventStream(
  reply: FastifyReply,
  chat: Chat,
  encoder: ChunkEncoder,
  times: StreamTimes,
): Promise<void> {
  const stream = new EventStream(reply, times)
  try {
    await chat.events.read((batch) => {
      let text = ''
      for (const event of batch) text += encoder.encode(event)
      // A slow reader is waited for, and so the platform's socket is not read.
      return text === '' || stream.write(text) ? undefined : stream.drained()
    })
  } catch (error) {
    if (!stream.isOpen) throw error
    stream.write(encoder.fail(problemOf(error)))
    if (!(error instanceof Problem)) throw error
  } finally {
    stream.end()
  }
}

/** As JSON allows: outside its strings there is none of them. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * The response as a stream: its headers go with the first text, or when they have been held long enough. A class, because
 * a function for each of its methods would cost every open stream half a kilobyte.
 */
class EventStream {
  readonly #reply: FastifyReply
  readonly #keepAliveMs: number
  #isOpen = false
  #lastWriteMs = performance.now()
  #timer: NodeJS.Timeout

  constructor(reply: FastifyReply, { headerHoldMs, keepAliveMs }: StreamTimes) {
    this.#reply = reply
    this.#keepAliveMs = keepAliveMs
    this.#timer = this.#wakeIn(headerHoldMs)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  write(text: string): boolean {
    if (!this.#isOpen) this.#open()
    this.#lastWriteMs = performance.now()
    const { raw } = this.#reply
    // ASCII, the usual, has no such line ends, and is the same in Latin-1, which needs no encoding.
    if (Buffer.byteLength(text) === text.length) return raw.write(text, 'latin1')
    return raw.write(text.replace(UNICODE_LINE_ENDS, escaped))
  }

  drained(): Promise<void> {
    return drained(this.#reply.raw)
  }

  end(): void {
    clearTimeout(this.#timer)
    if (this.#isOpen) this.#reply.raw.end()
  }

  #open(): void {
    const { raw } = this.#reply
    this.#isOpen = true
    this.#reply.hijack()
    raw.writeHead(200, {
      // What hooks have set: request id, CORS, limits.
      ...(this.#reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    sendHead(raw)
    clearTimeout(this.#timer)
    this.#timer = this.#wakeIn(this.#keepAliveMs)
  }

  #wakeIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#keepAlive(), ms)
  }

  #keepAlive(): void {
    // Fragments move a number, not the timer. Asked once: a second look at the clock could find the time just over.
    const leftMs = this.#isOpen ? this.#keepAliveMs - this.#silentMs() : 0
    if (leftMs <= 0) this.write(KEEP_ALIVE)
    clearTimeout(this.#timer)
    this.#timer = this.#wakeIn(leftMs > 0 ? leftMs : this.#keepAliveMs)
  }

  #silentMs(): number {
    return performance.now() - this.#lastWriteMs
  }
}

/**
 * Writes the head by itself, since Node would otherwise keep the dozens of pieces it was put together from (1.6 kB) as
 * long as the response. The cork lets it leave together with the first text; on the socket, because an end while the
 * response itself is corked loses what was written.
 */
function sendHead(raw: ServerResponse): void {
  const { socket } = raw
  socket?.cork()
  raw.flushHeaders()
  process.nextTick(() => socket?.uncork())
}

/** Resolves when the client has taken what was written, or is gone, which ends the call: `stalled-clients.ts` sees to that. */
function drained(raw: ServerResponse): Promise<void> {
  if (raw.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const settle = () => {
      raw.off('drain', settle).off('close', settle)
      resolve()
    }
    raw.once('drain', settle).once('close', settle)
  })
}
