import type { IncomingMessage, ServerResponse } from 'node:http'
import { CHUNKS_PER_STREAM, GATEWAYS_MODEL, PACE } from '../load/workload.ts'
import { PacedStreams } from './paced-streams.ts'
import { serve } from './serve.ts'

/** An OpenAI-compatible platform that costs very little, because every byte that it sends is prepared in advance. */
serve((request, response) => {
  readBody(request, (body) => {
    if (!body.includes('"stream":true')) {
      response.writeHead(200, JSON_HEADERS).end(REPLY)
      return
    }
    response.writeHead(200, STREAM_HEADERS).write(CHUNKS[0])
    if (!body.includes(PACE)) startStream(response)
    else if (body.includes(GATEWAYS_MODEL)) paced.gateway.add(response)
    else paced.passThrough.add(response)
  })
})

/**
 * Real platforms send a token every 10 to 50 ms, so each one is a separate read for the server in front. Chunks written
 * without a pause would arrive many to a read, and would cost the pass-through hardly anything.
 */
const CHUNK_EVERY_MS = 2

const streams = new Map<ServerResponse, number>()
let ticker: NodeJS.Timeout | undefined

function startStream(response: ServerResponse): void {
  streams.set(response, 1)
  response.once('close', () => streams.delete(response))
  ticker ??= setInterval(tick, CHUNK_EVERY_MS)
}

/** One timer serves all streams, because one per stream would cost more than the chunks. */
function tick(): void {
  for (const [response, written] of streams) {
    if (written === CHUNKS_PER_STREAM - 1) {
      streams.delete(response)
      response.end(LAST_CHUNK)
    } else {
      streams.set(response, written + 1)
      response.write(CHUNKS[written % CHUNKS.length])
    }
  }
  if (streams.size > 0) return
  clearInterval(ticker)
  ticker = undefined
}

function readBody(request: IncomingMessage, onBody: (body: Buffer) => void): void {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => onBody(Buffer.concat(parts)))
}

const HEAD = { id: 'chatcmpl-0123456789abcdef', created: 1795161600, model: 'bench-1' }
const USAGE = { prompt_tokens: 12, completion_tokens: 199, total_tokens: 211 }

const REPLY = Buffer.from(
  JSON.stringify({
    ...HEAD,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'A line that joins two exchanges. '.repeat(12) },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: USAGE,
  }),
)
/** Consecutive chunks differ. */
const CHUNKS = [' a', ' line', ' that', ' joins', ' two', ' exchanges', '.', '\n'].map((content) =>
  event([choice({ content }, null)]),
)
const paced = { passThrough: new PacedStreams(CHUNKS), gateway: new PacedStreams(CHUNKS) }
const LAST_CHUNK = Buffer.concat([
  event([choice({}, 'stop')]),
  event([], USAGE),
  Buffer.from('data: [DONE]\n\n'),
])

const JSON_HEADERS = { 'content-type': 'application/json', 'content-length': REPLY.length }
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' }

function choice(delta: object, finishReason: string | null): object {
  return { index: 0, delta, logprobs: null, finish_reason: finishReason }
}

function event(choices: readonly object[], usage?: object): Buffer {
  const chunk = { ...HEAD, object: 'chat.completion.chunk', choices, ...(usage !== undefined && { usage }) }
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)
}
