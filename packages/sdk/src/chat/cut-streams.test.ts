import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InvalidResponseError, TruncatedStreamError, TrunklineError } from '../errors.ts'
import { type ChatStreamSource, readChatStream } from './read-chat-stream.ts'

const encoder = new TextEncoder()
const chunk = (content: string | null, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`
const DONE = 'data: [DONE]'
const HEAD = { 'content-type': 'text/event-stream; charset=utf-8' }

/** Reads to the end and returns the text, and the error that was thrown. */
async function outcomeOf(source: ChatStreamSource) {
  let text = ''
  try {
    for await (const { choices } of readChatStream(source)) text += choices[0]?.delta?.content ?? ''
    return { text, error: undefined }
  } catch (error) {
    return { text, error }
  }
}

function bodyOf(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
}

const WAYS: Readonly<Record<string, (bytes: Uint8Array) => ChatStreamSource>> = {
  'a response, whole': (bytes) => new Response(bodyOf(bytes, bytes.length), { headers: HEAD }),
  'a response, byte by byte': (bytes) => new Response(bodyOf(bytes, 1), { headers: HEAD }),
  'a body, whole': (bytes) => bodyOf(bytes, bytes.length),
  'a body, byte by byte': (bytes) => bodyOf(bytes, 1),
}

describe.each(Object.entries(WAYS))('%s', (way, open) => {
  test('that is cut anywhere is a truncated stream', async () => {
    const whole = encoder.encode(`: keep-alive\n\n${chunk('Hé')}event: message\n${chunk('🎉')}${DONE}\n\n`)
    const complete = whole.length - 2
    // An empty body that is not declared as an event stream is not taken for one.
    for (let at = way.startsWith('a body') ? 1 : 0; at < complete; at += 1) {
      const { error } = await outcomeOf(open(whole.subarray(0, at)))
      expect(error, `cut at ${at}`).toBeInstanceOf(TruncatedStreamError)
    }
    for (const at of [complete, complete + 1, complete + 2]) {
      expect(await outcomeOf(open(whole.subarray(0, at)))).toEqual({ text: 'Hé🎉', error: undefined })
    }
  })

  test('that is cut within an event after the last chunk is one as well', async () => {
    const last = chunk('Hello') + chunk(null, 'stop')
    for (const rest of ['data: [', 'data: [DON', 'data: {"id":"c","cho', 'data: {}\ndata: {']) {
      const { text, error } = await outcomeOf(open(encoder.encode(last + rest)))
      expect(text).toBe('Hello')
      expect(error, rest).toBeInstanceOf(TruncatedStreamError)
    }
  })

  test.each(['data: {"a":\n\n', 'data: {"a":\r\n\r\n', 'data: {"a":\r\r'])(
    'whose event %j is ended and is no JSON is an invalid response',
    async (event) => {
      for (const rest of ['', 'data: {"b', `${DONE}\n\n`]) {
        const { text, error } = await outcomeOf(open(encoder.encode(chunk('Hello') + event + rest)))
        expect(text).toBe('Hello')
        expect(error, rest).toBeInstanceOf(InvalidResponseError)
      }
    },
  )
})

test('a page is not taken for a stream that was cut', async () => {
  for (const page of ['<html>', 'no', 'Hello\n', 'den']) {
    expect((await outcomeOf(new Response(page))).error, page).toBeInstanceOf(InvalidResponseError)
  }
})

describe('a compressed body', () => {
  let answer: { body: Uint8Array; encoding: string; size: number }
  const server = createServer((_request, response) => {
    const { body, encoding, size } = answer
    response.writeHead(200, { ...HEAD, 'content-encoding': encoding })
    for (let at = 0; at < body.length; at += size) response.write(body.subarray(at, at + size))
    response.end()
  })
  let url = ''
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const stream = chunk('Hello ') + chunk('world 🎉') + DONE
  test.each([
    ['gzip', gzipSync, 1],
    ['gzip', gzipSync, 1024],
    ['br', brotliCompressSync, 1024],
  ] as const)('by %s that is cut anywhere', async (encoding, compress, size) => {
    const body = compress(`${stream}\n\n`)
    let complete = 0
    for (let at = 0; at < body.length; at += 1) {
      answer = { body: body.subarray(0, at), encoding, size }
      const { text, error } = await outcomeOf(await fetch(url))
      if (error === undefined) {
        // Only what follows the last event is missing.
        complete += 1
        expect(text).toBe('Hello world 🎉')
      } else
        expect(error instanceof TrunklineError ? error.name : error, `cut at ${at}`).toBe(
          'TruncatedStreamError',
        )
    }
    expect(complete).toBeLessThan(12)
  })
})
