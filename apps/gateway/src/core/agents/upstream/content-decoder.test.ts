import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { ContentDecoder, encodingsOf } from './content-decoder.ts'
import { createUpstream, type Upstream } from './upstream.ts'
import { UpstreamError } from './upstream-error.ts'
import type { UpstreamPart } from './upstream-reply.ts'

const KIB = 1024
const ENCODERS = [
  { name: 'gzip', header: 'gzip', encode: gzipSync, stream: createGzip },
  { name: 'gzip by its old name', header: 'X-GZip', encode: gzipSync, stream: createGzip },
  { name: 'deflate', header: 'deflate', encode: deflateSync, stream: createDeflate },
  { name: 'deflate without a header', header: 'deflate', encode: deflateRawSync, stream: createDeflateRaw },
  { name: 'br', header: 'br', encode: brotliCompressSync, stream: createBrotliCompress },
  { name: 'zstd', header: 'zstd', encode: zstdCompressSync, stream: createZstdCompress },
] as const

describe('a decoder', () => {
  test('gives what was encoded, in whatever encodings and pieces it comes', async () => {
    const encodings = fc.array(fc.constantFrom(...ENCODERS), { minLength: 1, maxLength: 3 })
    const content = fc.uint8Array({ maxLength: 4 * KIB }).map(Buffer.from)
    const property = fc.asyncProperty(
      content,
      encodings,
      fc.integer({ min: 1, max: 200 }),
      async (...args) => {
        const [bytes, applied, size] = args
        // Only of the encoding that was applied last the first byte is known.
        fc.pre(applied.slice(0, -1).every(({ encode }) => encode !== deflateRawSync))
        const encoded = applied.reduce<Buffer>((all, { encode }) => encode(all), bytes)
        const header = applied.map(({ header }) => header).join(', ')
        const read = await decode(header, piecesOf(encoded, size))
        expect(read.fault).toBeUndefined()
        expect(read.bytes.equals(bytes)).toBe(true)
      },
    )
    await fc.assert(property, { numRuns: process.env.SOAK ? 5_000 : 50 })
  })

  test('reads content of gzip whose parts were encoded each by itself', async () => {
    const parts = ['one ', 'two ', 'three'].map((part) => gzipSync(part))
    for (const size of [1, 3, 1_000]) {
      const { bytes, fault } = await decode('gzip', piecesOf(Buffer.concat(parts), size))
      expect([bytes.toString(), fault]).toEqual(['one two three', undefined])
    }
  })

  test('loses no frame of zstd unnoticed', async () => {
    const frames = ['one ', 'two'].map((part) => zstdCompressSync(part))
    expect(await decode('zstd', frames)).toEqual({ bytes: Buffer.from('one two'), fault: undefined })
    const { fault } = await decode('zstd', [Buffer.concat(frames)])
    expect(fault).toMatchObject({ encoding: 'zstd', isCut: false })
  })

  test.each(ENCODERS)(
    'makes at most 16 KiB of few bytes of $name while its reader waits',
    async (encoder) => {
      const sizes: number[] = []
      const { promise, resolve } = Promise.withResolvers<unknown>()
      const decoder: ContentDecoder = new ContentDecoder(encodingsOf(encoder.header), SOURCE, {
        write(chunk) {
          sizes.push(chunk.length)
          decoder.pause()
        },
        end: resolve,
      })
      decoder.write(encoder.encode(Buffer.alloc(KIB * KIB)))
      decoder.end(undefined)
      for (let read = 1; read <= 3; read += 1) {
        // A second decoder works in the meantime, so that the first has had the time for more.
        await decode(encoder.header, [encoder.encode(Buffer.alloc(KIB * KIB))])
        expect(sizes).toHaveLength(read)
        decoder.resume()
      }
      const keepReading = setInterval(() => decoder.resume())
      expect(await promise).toBeUndefined()
      clearInterval(keepReading)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(16 * KIB)
      expect(sizes.reduce((sum, size) => sum + size)).toBe(KIB * KIB)
    },
  )

  test('lets its source wait while its reader does', async () => {
    const asked: string[] = []
    const source = { pause: () => asked.push('pause'), resume: () => asked.push('resume') }
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const decoder = new ContentDecoder(['gzip', 'br'], source, { write: () => undefined, end: resolve })
    const noise = Buffer.from(
      fc.sample(fc.uint8Array({ minLength: KIB, maxLength: KIB }), 400).flatMap((part) => [...part]),
    )
    for (const piece of piecesOf(brotliCompressSync(gzipSync(noise)), 16 * KIB)) {
      decoder.write(piece)
      decoder.pause()
    }
    expect(asked.at(-1)).toBe('pause')
    decoder.resume()
    await expect.poll(() => asked.at(-1)).toBe('resume')
    decoder.end(undefined)
    expect(await promise).toBeUndefined()
  })

  test.each(ENCODERS)('gives all of $name that came before it broke off', async ({ header, stream }) => {
    const encoder = stream()
    encoder.write('the first event')
    await new Promise<void>((resolve) => encoder.flush(flushOf(header), resolve))
    const broke = new Error('the connection broke')
    const { bytes, fault } = await decode(header, [encoder.read()], broke)
    expect([bytes.toString(), fault]).toEqual(['the first event', broke])
  })
})

describe('a response', () => {
  let respond: (response: ServerResponse) => unknown
  const server = createServer((request, response) => {
    // The gateway asks for no encoding, also of those who encode all the same.
    expect(request.headers['accept-encoding']).toBe('identity')
    respond(response)
  })
  let upstream: Upstream

  beforeEach(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    upstream = createUpstream({ replyBytesMax: 256 * KIB, unsentBytesMax: 64 * KIB })
  })
  afterEach(async () => {
    await upstream.close()
    server.closeAllConnections()
    server.close()
  })

  const open = () => {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const timeouts = { connectMs: 1_000, firstByteMs: 1_000, idleMs: 1_000, totalMs: 1_000 }
    const agent = agentOf('openai', { baseUrl, timeouts })
    return upstream.open(agent, { method: 'POST', url: baseUrl, headers: {}, body: '{}' })
  }
  const send = (header: string, body: Buffer, status = 200) => {
    respond = (response) => response.writeHead(status, { 'content-encoding': header }).end(body)
  }

  test.each(ENCODERS)('in $name is passed on event by event', async ({ header, stream }) => {
    const next = Promise.withResolvers<void>()
    respond = async (response) => {
      response.writeHead(200, { 'content-encoding': header })
      const encoder = stream()
      encoder.pipe(response)
      encoder.write('data: 1\n\n')
      encoder.flush(flushOf(header))
      await next.promise
      encoder.end('data: 2\n\n')
    }
    const reply = open()
    expect(await reply.next()).toMatchObject({ events: [{ data: '1' }] })
    next.resolve()
    expect(await reply.next()).toMatchObject({ events: [{ data: '2' }] })
    expect(await reply.next()).toEqual({ kind: 'end' })
  })

  test.each([200, 429])('in any encoding is read as JSON with status %i', async (status) => {
    for (const { header, encode } of ENCODERS) {
      send(header, encode('{"a":"ä"}'), status)
      expect(await open().next()).toMatchObject({ kind: 'body', status, body: { a: 'ä' } })
    }
  })

  test.each(['deflate', 'br'])(
    'in %s is read to the end of its content, whatever follows',
    async (header) => {
      for (const { encode } of ENCODERS.filter((encoder) => encoder.header === header)) {
        send(header, Buffer.concat([encode('{"a":1}'), Buffer.alloc(KIB * KIB)]))
        expect(await open().next()).toMatchObject({ body: { a: 1 } })
      }
    },
  )

  test('without content has no encoding', async () => {
    send('gzip', Buffer.alloc(0), 401)
    expect(await open().next()).toMatchObject({ kind: 'body', status: 401, body: '' })
    send('gzip', Buffer.alloc(0))
    expect(await open().next()).toEqual({ kind: 'end' })
  })

  test.each(ENCODERS)(
    'of few bytes of $name is bounded by what they stand for',
    async ({ header, encode }) => {
      send(header, encode(Buffer.alloc(4 * KIB * KIB, ' ')))
      expect(await outcomeOf(open())).toEqual({
        parts: [],
        fault: { reason: 'agent_malformed', isTooLarge: true },
      })
      send(header, encode(Buffer.alloc(4 * KIB * KIB, 'x')), 400)
      const part = await open().next()
      expect(part.kind === 'body' && part.body).toBe('x'.repeat(256 * KIB))
    },
  )

  test.each(ENCODERS)(
    'in $name that lacks its last bytes has all its events, and then fails',
    async (encoder) => {
      send(encoder.header, encoder.encode(Buffer.from('data: 1\n\ndata: 2\n\n')).subarray(0, -1))
      const { parts, fault } = await outcomeOf(open())
      // The last byte of `br` and of `deflate` without a header has data in it.
      if (encoder.encode !== brotliCompressSync && encoder.encode !== deflateRawSync)
        expect(parts.flatMap((part) => (part.kind === 'events' ? part.events : []))).toHaveLength(2)
      expect(fault).toMatchObject({
        reason: 'agent_truncated',
        note: `content encoding "${encoder.header.toLowerCase()}"`,
      })
    },
  )

  test('whose check sum is wrong is malformed', async () => {
    send('gzip', withWrongCheckSum(gzipSync('data: 1\n\ndata: 2\n\n')))
    expect(await outcomeOf(open())).toMatchObject({
      fault: { reason: 'agent_malformed', note: 'content encoding "gzip"' },
    })
  })

  test('whose encoding lacks its end is whole if its JSON is', async () => {
    send('gzip', gzipSync('{"a":1}').subarray(0, -8))
    expect(await open().next()).toMatchObject({ body: { a: 1 } })
    send('gzip', gzipSync('{"a":1').subarray(0, -8))
    expect(await outcomeOf(open())).toMatchObject({ fault: { reason: 'agent_truncated' } })
  })

  test.each([
    ['gzip', Buffer.from('data: 1\n\n')],
    ['br', Buffer.from('<html>')],
    ['deflate', gzipSync('{}')],
    ['zstd', Buffer.from('{"a":1}')],
    ['compress', Buffer.from('{"a":1}')],
    ['gzip, gzip, gzip, gzip', Buffer.from('{}')],
  ])(
    'that says %s and is not is malformed, whatever its status, and the log names the encoding',
    async (header, body) => {
      for (const status of [200, 401]) {
        send(header, body, status)
        expect(await outcomeOf(open())).toEqual({
          parts: [],
          fault: { reason: 'agent_malformed', note: `content encoding "${header}"` },
        })
      }
    },
  )

  test.each(['identity', 'UTF-8', ''])('that says %j is not encoded', async (header) => {
    send(header, Buffer.from('{"a":1}'))
    expect(await open().next()).toMatchObject({ body: { a: 1 } })
  })
})

const SOURCE = { pause: () => undefined, resume: () => undefined }

function withWrongCheckSum(gzipped: Buffer): Buffer {
  gzipped.writeUInt32LE(1, gzipped.length - 8)
  return gzipped
}

function flushOf(header: string): number {
  if (header === 'br') return constants.BROTLI_OPERATION_FLUSH
  return header === 'zstd' ? constants.ZSTD_e_flush : constants.Z_SYNC_FLUSH
}

function piecesOf(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

function decode(header: string, pieces: readonly Buffer[], inputFault?: Error) {
  return new Promise<{ bytes: Buffer; fault: Error | undefined }>((resolve) => {
    const chunks: Buffer[] = []
    const decoder = new ContentDecoder(encodingsOf(header), SOURCE, {
      write: (chunk) => chunks.push(chunk),
      end: (fault) => resolve({ bytes: Buffer.concat(chunks), fault }),
    })
    for (const piece of pieces) decoder.write(piece)
    decoder.end(inputFault)
  })
}

async function outcomeOf(reply: { next(): Promise<UpstreamPart> }) {
  const parts: UpstreamPart[] = []
  try {
    for (;;) {
      const part = await reply.next()
      if (part.kind === 'end') return { parts, fault: undefined }
      parts.push(part)
    }
  } catch (error) {
    return { parts, fault: error instanceof UpstreamError ? error.failure : error }
  }
}
