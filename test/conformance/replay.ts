import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import {
  type Transcript,
  transcriptNamed,
} from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'

/** A server that answers queries made by {@link replayOf} with the recorded bytes of a transcript. */
export interface Replay {
  readonly origin: string
  /** Returns a query that is answered with these pieces of an event stream. */
  play(pieces: readonly string[], how?: Playing): string
  /** Resolves when the gateway has closed the connection of a query with the pace `hold`. */
  closed(query: string): Promise<void>
  /** Resolves when the gateway has requested a HiAgent conversation with this input `create`; such a request fails. */
  creating(input: string): Promise<void>
  close(): Promise<void>
}

/** Whether the pieces are sent one by one, and whether the connection breaks in place of a proper end. */
export interface Playing {
  readonly everyMs?: number
  readonly breaks?: boolean
}

const ENCODERS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const

type Encoding = keyof typeof ENCODERS

export const ENCODINGS: readonly Encoding[] = ['gzip', 'deflate', 'br', 'zstd']

/** How the bytes are sent: all at once, in pieces of the given size, only the first half of them, or compressed. */
export type Pace = 'whole' | `${number}` | 'hold' | Encoding

export function replayOf(name: string, pace: Pace, marker: string): string {
  return `replay:${name}:${pace}:${marker}`
}

/** @param folders - the directory that contains the folders of the platforms whose transcripts are replayed */
export async function startReplay(folders: URL): Promise<Replay> {
  const [closed, creating] = [createSignals(), createSignals()]
  const conclusions = new Map<string, unknown>()
  const plays = new Map<string, { pieces: readonly string[]; how: Playing }>()
  const server = createServer(async (request, response) => {
    const body = await textOf(request)
    if (request.url?.endsWith('/create_conversation')) return createConversation(body, response, creating)
    const played = plays.get(/play:(\w+)/.exec(body)?.[1] ?? '')
    if (played !== undefined) return playPieces(played.pieces, played.how, response)
    const [query, name = '', pace = ''] = /replay:([\w./-]+):(\w+):\w+/.exec(body) ?? []
    if (query === undefined) {
      // Other requests of the gateway: how a reply has ended, or to stop a run.
      const scope = scopeOf(request)
      const [, concluded = {}] =
        [...conclusions].find(
          ([about]) => about.startsWith(scope) && (request.url + body).includes(about.slice(scope.length)),
        ) ?? []
      return response.end(JSON.stringify(concluded))
    }
    const transcript = transcriptNamed(name, folders)
    const { concluded } = transcript
    for (const { about, body } of [concluded ?? []].flat()) conclusions.set(scopeOf(request) + about, body)
    if (pace === 'hold') response.once('close', closed(query).resolve)
    await play(transcript, pace as Pace, response)
  })
  // Longer than the gateway keeps idle sockets, so that it never reuses one that this server is closing.
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play(pieces, how = {}) {
      const id = randomUUID().replaceAll('-', '')
      plays.set(id, { pieces, how })
      return `play:${id}`
    },
    closed: (query) => closed(query).promise,
    creating: (input) => creating(input).promise,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Where a platform keeps the runs of a conversation under one address: that address, since other replies are played at the same time. */
function scopeOf({ url = '' }: IncomingMessage): string {
  return /^\/threads\/[^/]+/.exec(url)?.[0] ?? ''
}

type Signals = (name: string) => PromiseWithResolvers<void>

/** Creates named signals that fire once and can be awaited before and after that. */
function createSignals(): Signals {
  const signals = new Map<string, PromiseWithResolvers<void>>()
  return (name) => {
    const signal = signals.get(name) ?? Promise.withResolvers<void>()
    signals.set(name, signal)
    return signal
  }
}

async function play(transcript: Transcript, pace: Pace, response: ServerResponse): Promise<void> {
  const { http_status: status, content_type: type, extra_headers: headers, outcome } = transcript
  const encoding = ENCODINGS.find((each) => each === pace)
  const bytes = encoding === undefined ? transcript.bytes : ENCODERS[encoding](transcript.bytes)
  response.writeHead(status, {
    ...headers,
    ...(type !== '' && { 'content-type': type }),
    ...(encoding !== undefined && { 'content-encoding': encoding }),
  })
  if (pace === 'hold') {
    response.write(bytes.subarray(0, bytes.length >> 1))
    return
  }
  const size = Number.isInteger(Number(pace)) ? Number(pace) : Math.max(1, bytes.length)
  for (let start = 0; start < bytes.length; start += size) {
    response.write(bytes.subarray(start, start + size))
    // Without this pause Node would combine the pieces into one segment.
    await nextTurn()
  }
  if (outcome !== 'timeout') response.end()
}

async function playPieces(
  pieces: readonly string[],
  { everyMs = 0, breaks = false }: Playing,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const piece of pieces) {
    response.write(piece)
    if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  if (!breaks) response.end()
  // Without the last chunk of the encoding, once everything before it has been sent.
  else response.write('', () => setTimeout(() => response.destroy(), BREAK_AFTER_MS))
}

/** Long enough for what was written to arrive before the connection breaks. */
const BREAK_AFTER_MS = 50

/** Answers the request for a conversation that precedes a HiAgent chat. */
function createConversation(body: string, response: ServerResponse, creating: Signals): void {
  const { Inputs } = JSON.parse(body) as { Inputs: { create?: string } }
  if (Inputs.create === undefined) {
    response.end(JSON.stringify({ Conversation: { AppConversationID: randomUUID() }, BaseResp: null }))
    return
  }
  creating(Inputs.create).resolve()
  // The delay lets another call start to wait for this conversation.
  setTimeout(() => response.writeHead(502, { 'content-type': 'text/html' }).end('<html></html>'), 150)
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
