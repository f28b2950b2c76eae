import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { createUpstream, type Upstream } from './upstream.ts'
import type { UpstreamReply } from './upstream-reply.ts'

const MIB = 1024 * 1024
const PIECE = Buffer.alloc(64 * 1024, 'x')
const gone = new Error('the caller is gone')

let answer: (request: IncomingMessage, response: ServerResponse) => unknown
let server: Server
let upstream: Upstream

beforeEach(async () => {
  server = createServer((request, response) => void answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  upstream = createUpstream({ replyBytesMax: MIB, unsentBytesMax: MIB })
})
afterEach(async () => {
  await upstream.close()
  server.closeAllConnections()
  server.close()
})

function send(body: Readable, headers: Readonly<Record<string, string>> = {}): UpstreamReply {
  const { port } = server.address() as AddressInfo
  const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 5_000 }
  const url = `http://127.0.0.1:${port}/files`
  return upstream.open(agentOf('dify', { timeouts }), { method: 'POST', url, headers, body })
}

/** A stream of so many bytes that is read piece by piece, and a counter of the bytes read. */
function file(bytes: number) {
  const read = { bytes: 0 }
  const source = new Readable({
    read() {
      read.bytes += PIECE.length
      this.push(read.bytes <= bytes ? PIECE : null)
    },
  })
  return { source, read }
}

test('a stream arrives whole, chunked or with the length given in the headers', async () => {
  answer = async (request, response) => {
    const { 'content-length': length = '', 'transfer-encoding': encoding = '' } = request.headers
    response.end(JSON.stringify([length, encoding, (await text(request)).length]))
  }
  expect(await send(file(MIB).source).next()).toMatchObject({ body: ['', 'chunked', MIB] })
  const headers = { 'content-length': String(MIB) }
  expect(await send(file(MIB).source, headers).next()).toMatchObject({ body: [String(MIB), '', MIB] })
})

test('the source is read no faster than the platform accepts it', async () => {
  const arrived = Promise.withResolvers<IncomingMessage>()
  answer = (request, response) => {
    arrived.resolve(request)
    request.on('end', () => response.end('{}'))
  }
  const { source, read } = file(64 * MIB)
  const reply = send(source)
  await once(source, 'pause')
  expect(read.bytes).toBeLessThan(32 * MIB)
  const request = await arrived.promise
  request.resume()
  expect(await reply.next()).toMatchObject({ kind: 'body', status: 200 })
  expect(read.bytes).toBeGreaterThan(64 * MIB)
})

describe('the exchange ends with its source and the source with its exchange:', () => {
  test('a cancelled exchange destroys the source, and the platform sees an aborted request', async () => {
    const broken = Promise.withResolvers<void>()
    const { source } = file(Number.POSITIVE_INFINITY)
    const arrived = Promise.withResolvers<void>()
    answer = (request) => {
      request.on('error', () => undefined).on('close', broken.resolve)
      request.once('data', () => arrived.resolve())
    }
    const reply = send(source)
    await arrived.promise
    const closed = once(source, 'close')
    reply.cancel(gone)
    await expect(reply.next()).rejects.toBe(gone)
    await closed
    await broken.promise
  })

  test('cancelling destroys the source while the request waits for a connection', async () => {
    answer = (_request, response) => response.end()
    const { source, read } = file(MIB)
    const reply = send(source)
    reply.cancel(gone)
    await once(source, 'close')
    await expect(reply.next()).rejects.toBe(gone)
    expect(read.bytes).toBe(0)
  })

  test('the reader rejects with the error of a source that fails', async () => {
    const broken = Promise.withResolvers<void>()
    answer = (request) => {
      request.on('error', () => broken.resolve()).resume()
    }
    const failure = new Error('the storage is away')
    const source = Readable.from(
      (async function* () {
        yield PIECE
        throw failure
      })(),
    )
    await expect(send(source).next()).rejects.toBe(failure)
    await broken.promise
  })

  test('a connection broken by the platform is reported, not its effect on the source', async () => {
    answer = (request) => request.socket.destroy()
    const { source } = file(64 * MIB)
    const closed = once(source, 'close').catch(() => undefined)
    await expect(send(source).next()).rejects.toMatchObject({ reason: 'agent_truncated' })
    await closed
  })

  test('an unreachable platform is reported, not its effect on the source', async () => {
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const agent = agentOf('dify', { timeouts: { connectMs: 500, firstByteMs: 1, idleMs: 1, totalMs: 1 } })
    const { source } = file(MIB)
    const url = `http://127.0.0.1:${port}/files`
    const reply = upstream.open(agent, { method: 'POST', url, headers: {}, body: source })
    await expect(reply.next()).rejects.toMatchObject({ reason: 'agent_unreachable' })
    if (!source.destroyed) await once(source, 'close')
  })

  test('an error reply that arrives during the upload is read, and the rest is not sent', async () => {
    answer = (_request, response) => {
      response.writeHead(413, { connection: 'close' }).end('{"code":"file_too_large"}')
    }
    const { source, read } = file(64 * MIB)
    const closed = once(source, 'close').catch(() => undefined)
    expect(await send(source).next()).toMatchObject({ status: 413, body: { code: 'file_too_large' } })
    await closed
    expect(read.bytes).toBeLessThan(64 * MIB)
  })
})
