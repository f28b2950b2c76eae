import { once } from 'node:events'
import { createServer, type IncomingMessage, request as requestHttp, type Server } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import {
  type AddressInfo,
  connect,
  type createServer as createTcpServer,
  type LookupFunction,
} from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Agent, Connection } from '#core/agents/adapter.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { selfSigned } from './self-signed.test-support.ts'
import { createUpstream, type Upstream } from './upstream.ts'
import { UpstreamError } from './upstream-error.ts'
import type { UpstreamReply } from './upstream-reply.ts'

/** Known to no name server; only the look-up of the tests has it. */
const NAME = 'platform.invalid'
const LIMITS = { replyBytesMax: 10_000, unsentBytesMax: 10_000 }
const gone = new Error('the reader has left')

let upstream: Upstream
let lookups: string[]
let answerLookup: (callback: Parameters<LookupFunction>[2]) => void
const closing: (() => unknown)[] = []

beforeEach(() => {
  lookups = []
  answerLookup = (callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])
  const dns: LookupFunction = (name, _options, callback) => {
    lookups.push(name)
    process.nextTick(answerLookup, callback)
  }
  upstream = createUpstream(LIMITS, { dns })
})
afterEach(async () => {
  await upstream.close()
  for (const close of closing.splice(0)) close()
})

async function portOf(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  if ('closeAllConnections' in server) closing.push(() => server.closeAllConnections())
  closing.push(() => server.close())
  return (server.address() as AddressInfo).port
}

function agentAt(baseUrl: string, connection: Partial<Connection> = {}): Agent {
  const timeouts = { connectMs: 1_000, firstByteMs: 1_000, idleMs: 1_000, totalMs: 1_000 }
  return agentOf('openai', { baseUrl, timeouts, connection: { names: 'dns', ...connection } })
}

function open(agent: Agent): UpstreamReply {
  const request = { method: 'POST', url: `${agent.baseUrl}/chat`, headers: {}, body: '{}' } as const
  return upstream.open(agent, request)
}

/** The body of the reply, or the error that came instead. */
async function answerOf(agent: Agent): Promise<unknown> {
  try {
    const part = await open(agent).next()
    return part.kind === 'body' ? part.body : part.kind
  } catch (error) {
    return error
  }
}

async function failureOf(agent: Agent) {
  const error = await answerOf(agent)
  if (!(error instanceof UpstreamError)) return expect.fail(`not refused: ${error}`)
  return { failure: error.failure, code: (error.cause as { code?: string }).code }
}

const echo = (request: IncomingMessage) => JSON.stringify({ url: request.url, host: request.headers.host })

describe('a request that was never begun says so', () => {
  const NEVER = { reason: 'agent_unreachable', turn: 'none' }

  test.each(['ENOTFOUND', 'ETIMEOUT'])('where its name cannot be looked up: %s', async (code) => {
    answerLookup = (callback) => callback(Object.assign(new Error(code), { code }), [])
    expect(await failureOf(agentAt(`http://${NAME}`))).toEqual({ failure: NEVER, code })
    expect(lookups).toEqual([NAME])
  })

  test('where the connection is refused', async () => {
    const server = createServer()
    const port = await portOf(server)
    server.close()
    expect(await failureOf(agentAt(`http://${NAME}:${port}`))).toEqual({
      failure: NEVER,
      code: 'ECONNREFUSED',
    })
  })

  test('where the certificate is not trusted', async () => {
    const server = createHttpsServer(selfSigned(NAME), (_, response) => response.end('{}'))
    const port = await portOf(server)
    expect(await failureOf(agentAt(`https://${NAME}:${port}`))).toEqual({
      failure: NEVER,
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
  })

  test('where connecting takes too long', async () => {
    answerLookup = () => undefined
    expect(await failureOf(agentAt(`http://${NAME}`))).toEqual({
      failure: NEVER,
      code: 'UND_ERR_CONNECT_TIMEOUT',
    })
  })

  test('where a helper call has no time left, or is aborted', async () => {
    answerLookup = () => undefined
    const agent = agentAt(`http://${NAME}`)
    const call = {
      request: { method: 'POST', url: `${agent.baseUrl}/stop`, headers: {}, body: '{}' },
      read: () => expect.fail('nothing came'),
    } as const
    const timedOut = upstream.help(agent, call, 20)
    await expect(timedOut).rejects.toMatchObject({ failure: { reason: 'agent_timeout', turn: 'none' } })
    const aborted = upstream.help(agent, call, 10_000, AbortSignal.abort())
    await expect(aborted).rejects.toMatchObject({ failure: { reason: 'agent_truncated', turn: 'none' } })
  })

  test.each(['cancel', 'finish'] as const)('by a reply whose %s came before the connection', async (end) => {
    let requests = 0
    const server = createServer((_, response) => {
      requests += 1
      response.end('{}')
    })
    const port = await portOf(server)
    const held = Promise.withResolvers<void>()
    const lookedUp = Promise.withResolvers<void>()
    answerLookup = (callback) => {
      lookedUp.resolve()
      void held.promise.then(() => callback(null, [{ address: '127.0.0.1', family: 4 }]))
    }
    const agent = agentAt(`http://${NAME}:${port}`)
    const reply = open(agent)
    await lookedUp.promise
    reply[end](gone)
    const connected = once(server, 'connection')
    held.resolve()
    await connected
    expect(await answerOf(agent)).toEqual({})
    expect([requests, reply.wasBegun]).toEqual([1, false])
  })
})

describe('a request that was begun', () => {
  test.each([
    ['has no answer yet', undefined],
    ['has its connection reset', 'agent_truncated'],
  ])('does not say that it was not when it %s', async (_name, reason) => {
    const arrived = Promise.withResolvers<void>()
    const server = createServer((request) => {
      if (reason !== undefined) request.socket.resetAndDestroy()
      arrived.resolve()
    })
    const agent = agentAt(`http://${NAME}:${await portOf(server)}`)
    const reply = open(agent)
    await arrived.promise
    if (reason === undefined) expect(reply.wasBegun).toBe(true)
    else await expect(reply.next()).rejects.toMatchObject({ failure: { reason }, wasBegun: true })
  })

  test('is sent once, whatever becomes of a connection that was kept', async () => {
    let requests = 0
    const server = createServer((request, response) => {
      requests += 1
      if (requests === 1) response.end('{}')
      else request.socket.destroy()
    })
    let connections = 0
    server.on('connection', () => (connections += 1))
    const agent = agentAt(`http://${NAME}:${await portOf(server)}`)
    expect(await answerOf(agent)).toEqual({})
    // After a turn of the event loop the connection is free again.
    await new Promise((resolve) => setImmediate(resolve))
    expect(await answerOf(agent)).toMatchObject({ reason: 'agent_truncated' })
    expect([requests, connections]).toEqual([2, 1])
  })

  test('uses HTTP/1.1 where the platform offers HTTP/2, whose requests undici repeats by itself', async () => {
    const fake = selfSigned(NAME)
    const server = createSecureServer({ ...fake, allowHTTP1: true }, (request, response) => {
      response.end(JSON.stringify({ version: request.httpVersion }))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    closing.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const agent = agentAt(`https://${NAME}:${port}`, { ca: fake.cert })
    expect(await answerOf(agent)).toEqual({ version: '1.1' })
  })
})

describe('certificate authorities', () => {
  const fake = selfSigned(NAME)

  test('of an agent are trusted beside the usual ones, for the name of the platform, and for no other agent', async () => {
    const server = createHttpsServer(fake, (request, response) => response.end(echo(request)))
    const port = await portOf(server)
    const url = `https://${NAME}:${port}`
    expect(await answerOf(agentAt(url, { ca: fake.cert }))).toEqual({ url: '/chat', host: `${NAME}:${port}` })
    expect(await failureOf(agentAt(url))).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    const other = agentAt(`https://other.invalid:${port}`, { ca: fake.cert })
    expect(await failureOf(other)).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })
})

describe('a proxy', () => {
  let tunnels: string[]
  let forwarded: string[]
  let proxy: Server
  let uri: string

  beforeEach(async () => {
    tunnels = []
    forwarded = []
    proxy = createServer((request, response) => {
      forwarded.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`)
      const { port, pathname } = new URL(request.url ?? '')
      const { method, headers } = request
      const onward = requestHttp({ host: '127.0.0.1', port, path: pathname, method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      request.pipe(onward)
    })
    proxy.on('connect', ({ url = '', headers }: IncomingMessage, socket) => {
      tunnels.push(`${url} ${headers['proxy-authorization'] ?? ''}`)
      const onward = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(onward).pipe(socket)
      })
      for (const side of [socket, onward]) side.on('error', () => socket.destroy())
    })
    uri = `http://user:fake-password@proxy.invalid:${await portOf(proxy)}`
  })
  const basic = `Basic ${Buffer.from('user:fake-password').toString('base64')}`

  test('looks up the platform itself, tunnels TLS and forwards the rest', async () => {
    const fake = selfSigned(NAME)
    const server = createHttpsServer(fake, (request, response) => response.end(echo(request)))
    const port = await portOf(server)
    const agent = agentAt(`https://${NAME}:${port}`, { proxy: uri, ca: fake.cert })
    expect(await answerOf(agent)).toEqual({ url: '/chat', host: `${NAME}:${port}` })
    expect(tunnels).toEqual([`${NAME}:${port} ${basic}`])

    const plain = await portOf(createServer((request, response) => response.end(echo(request))))
    const plainAgent = agentAt(`http://${NAME}:${plain}`, { proxy: uri })
    expect(await answerOf(plainAgent)).toEqual({ url: '/chat', host: `${NAME}:${plain}` })
    expect(forwarded).toEqual([`http://${NAME}:${plain}/chat ${basic}`])
    expect(new Set(lookups)).toEqual(new Set(['proxy.invalid']))
  })

  test('that refuses a tunnel, or does not answer, leaves the request unbegun', async () => {
    const agent = agentAt(`https://${NAME}`, { proxy: uri })
    const answers = ['HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n', '']
    proxy.removeAllListeners('connect').on('connect', (_request, socket) => {
      socket.on('error', () => undefined).write(answers.shift() ?? '')
    })
    for (const _ of [...answers]) {
      const { failure } = await failureOf(agent)
      expect(failure).toEqual({ reason: 'agent_unreachable', turn: 'none' })
    }
  })
})
