import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Chat } from '#core/chat/service.ts'
import { Problem } from '#core/errors.ts'
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
  const stream = openStream(reply, times)
  try {
    await chat.events.read((batch) => {
      let text = ''
      for (const event of batch) text += encoder.encode(event)
      // A slow reader is waited for, and so the platform's socket is not read.
      return text === '' || stream.write(text) ? undefined : stream.drained()
    })
  } catch (error) {
    if (!stream.isOpen) throw error
    stream.write(encoder.fail(error instanceof Problem ? error : new Problem('internal_error')))
    if (!(error instanceof Problem)) throw error
  } finally {
    stream.end()
  }
}

/** As JSON allows: outside its strings there is none of them. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The response as a stream: its headers go with the first text, or when they have been held long enough. */
function openStream(reply: FastifyReply, { headerHoldMs, keepAliveMs }: StreamTimes) {
  const { raw } = reply
  let isOpen = false
  let lastWriteMs = performance.now()
  let timer = setTimeout(keepAlive, headerHoldMs)

  function open(): void {
    isOpen = true
    reply.hijack()
    raw.writeHead(200, {
      // What hooks have set: request id, CORS, limits.
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    sendHead(raw)
    wakeIn(keepAliveMs)
  }

  function wakeIn(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(keepAlive, ms)
  }

  function keepAlive(): void {
    // Fragments move a number, not the timer.
    if (!isOpen || silentMs() >= keepAliveMs) write(KEEP_ALIVE)
    wakeIn(keepAliveMs - silentMs())
  }

  function silentMs(): number {
    return performance.now() - lastWriteMs
  }

  function write(text: string): boolean {
    if (!isOpen) open()
    lastWriteMs = performance.now()
    // ASCII, the usual, has no such line ends, and is the same in Latin-1, which needs no encoding.
    if (Buffer.byteLength(text) === text.length) return raw.write(text, 'latin1')
    return raw.write(text.replace(UNICODE_LINE_ENDS, escaped))
  }

  return {
    get isOpen() {
      return isOpen
    },
    write,
    drained: () => drained(raw),
    end() {
      clearTimeout(timer)
      if (isOpen) raw.end()
    },
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
