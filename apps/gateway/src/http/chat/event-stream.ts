import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import { jsonEscape } from '#core/base/values/json-escape.ts'
import type { Chat } from '#core/calls/chats.ts'
import { KEEP_ALIVE } from '#http/descriptions/chat-descriptions.ts'
import type { ChunkEncoder } from './completion-form.ts'

export interface StreamTimes {
  /** How long the response's headers wait for the first text, so that an error before it is an ordinary response. */
  readonly headerHoldMs: number
  /** After this much silence a comment is sent, so that proxies do not close the connection. */
  readonly keepAliveMs: number
}

interface StreamOptions extends StreamTimes {
  /** The value of `Cache-Control`. Responses to GET requests need `no-store`, since caches may store them otherwise. */
  readonly lifetime?: 'no-cache' | 'no-store'
}

const SILENCE = `${KEEP_ALIVE}\n\n`
/** Clients that split lines like Python's `splitlines` take these for line ends and would cut an event in two. */
const UNICODE_LINE_ENDS = /[\u0085\u2028\u2029]/g

/**
 * Writes a call as server-sent events. Once a byte has been sent, a failure becomes one event, after which the stream ends
 * without `[DONE]`.
 *
 * @throws the call's {@link Problem} if it fails before the first byte, and errors that are not problems in any case
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
      // Waits for a slow reader. Meanwhile nothing is read from the platform, which slows it down in turn.
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

/**
 * The response as a stream. Its headers are sent with the first text, or when they have been held for `headerHoldMs`. It is
 * a class because a closure for each of its methods would cost every open stream half a kilobyte.
 */
export class EventStream {
  readonly #reply: FastifyReply
  readonly #keepAliveMs: number
  readonly #lifetime: StreamOptions['lifetime']
  #isOpen = false
  #lastWriteMs = performance.now()
  #timer: NodeJS.Timeout

  constructor(reply: FastifyReply, { headerHoldMs, keepAliveMs, lifetime = 'no-cache' }: StreamOptions) {
    this.#reply = reply
    this.#lifetime = lifetime
    this.#keepAliveMs = keepAliveMs
    this.#timer = this.#wakeIn(headerHoldMs)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  write(text: string): boolean {
    if (!this.#isOpen) this.open()
    this.#lastWriteMs = performance.now()
    const { raw } = this.#reply
    // Text in ASCII, the usual case, has no such line ends and is the same in Latin-1, which Node writes without encoding.
    if (Buffer.byteLength(text) === text.length) return raw.write(text, 'latin1')
    return raw.write(text.replace(UNICODE_LINE_ENDS, jsonEscape))
  }

  drained(): Promise<void> {
    return drained(this.#reply.raw)
  }

  end(): void {
    clearTimeout(this.#timer)
    if (this.#isOpen) this.#reply.raw.end()
  }

  /** Sends the headers. */
  open(): void {
    const { raw } = this.#reply
    this.#isOpen = true
    this.#reply.hijack()
    raw.writeHead(200, {
      // The headers that hooks have set: request id, CORS and limits.
      ...(this.#reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': `${this.#lifetime}, no-transform`,
      'x-accel-buffering': 'no',
      // A stream may outlast the listener of a process that stops. A client that was promised the connection would send its next
      // request at the moment in which it closes, and cannot know what became of that request.
      connection: 'close',
    })
    sendHead(raw)
    clearTimeout(this.#timer)
    this.#timer = this.#wakeIn(this.#keepAliveMs)
  }

  #wakeIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#keepAlive(), ms)
  }

  #keepAlive(): void {
    // Writes only store their time. To restart the timer with each of them would cost every fragment. The clock is read once,
    // because a second reading could be past the deadline and give a negative wait.
    const leftMs = this.#isOpen ? this.#keepAliveMs - this.#silentMs() : 0
    if (leftMs <= 0) this.write(SILENCE)
    clearTimeout(this.#timer)
    this.#timer = this.#wakeIn(leftMs > 0 ? leftMs : this.#keepAliveMs)
  }

  #silentMs(): number {
    return performance.now() - this.#lastWriteMs
  }
}

/**
 * Flushes the head before the first text. Otherwise Node keeps the dozens of strings that make up the head (1.6 kB) as long
 * as the response lives. The cork lets head and first text leave in one packet. It is set on the socket because ending a
 * response while the response itself is corked loses what was written.
 */
function sendHead(raw: ServerResponse): void {
  const { socket } = raw
  socket?.cork()
  raw.flushHeaders()
  process.nextTick(() => socket?.uncork())
}

/**
 * Resolves when the client has read what was written, or is gone. `connections.ts` closes the connection of a client
 * that reads nothing, so this cannot wait forever.
 */
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
