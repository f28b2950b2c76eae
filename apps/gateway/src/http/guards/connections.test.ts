import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Principal } from '#core/requests/principal.ts'
import { installProblems } from '../response/problem.ts'
import { answerClientError } from './client-error.ts'
import { boundConnections, type Connections, refuseBeyondBound } from './connections.ts'

const CONNECTIONS_MAX = 3
const REFUSED_MAX = 2
const CALLER: Principal = {
  userId: 'u',
  role: 'user',
  via: { kind: 'token', tokenId: 't', expiresAt: new Date(0) },
}
const BIG = 'x'.repeat(24 * 1024 * 1024)

let app: FastifyInstance
let connections: Connections
let port: number
let sockets: Socket[]
let nowMs: number
let release: () => void
const served = vi.fn()
const arriving = vi.fn()
const observer = { full: vi.fn(), closedIdle: vi.fn() }
const refusing = { newId: () => 'an-id', refused: vi.fn() }

beforeEach(async () => {
  vi.clearAllMocks()
  sockets = []
  nowMs = 0
  const { promise: released, resolve } = Promise.withResolvers<void>()
  release = resolve
  app = Fastify({
    bodyLimit: 16 * 1024 * 1024,
    http: { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 },
    requestTimeout: 400,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, refusing),
  })
  connections = boundConnections(app, {
    connectionsMax: CONNECTIONS_MAX,
    refusedMax: REFUSED_MAX,
    elapsedMs: () => nowMs,
    ...refusing,
    unreadMs: 1_000,
    observer,
  })
  app.addHook('preParsing', async () => arriving())
  installProblems(app)
  refuseBeyondBound(app)
  app.post('/', async () => {
    served()
    return 'served'
  })
  app.post(
    '/known',
    { onRequest: async (request) => Object.assign(request, { principal: CALLER }) },
    async () => 'known',
  )
  app.post('/held', async () => {
    served()
    await released
    return 'released'
  })
  app.get('/health', { config: { isAlwaysAnswered: true } }, async () => 'healthy')
  app.get('/big', async () => BIG)
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await app.close()
})

/** A client that reads, and never closes its side. */
async function open(): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  sockets.push(socket)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  // The server's reset of a socket that it has destroyed.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return { socket, text: () => text }
}

const dead = async (socket: Socket) => {
  // A socket whose other side is gone answers a write with a reset.
  const reset = new Promise((resolve) => socket.on('error', resolve).on('close', resolve))
  const writing = setInterval(() => socket.write('x'), 50)
  await reset
  clearInterval(writing)
}

const post = (path: string) => `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n`
const fetched = (path: string, method = 'POST') => fetch(`http://127.0.0.1:${port}${path}`, { method })

/** Takes all connections by requests that last until they are released. */
const fill = async () => {
  const opened = await Promise.all(Array.from({ length: CONNECTIONS_MAX }, open))
  for (const { socket } of opened) socket.write(post('/held'))
  await vi.waitFor(() => expect(served).toHaveBeenCalledTimes(CONNECTIONS_MAX), 20_000)
  expect(connections.open).toBe(CONNECTIONS_MAX)
  return opened
}

/** The connection has ended, in whatever way. */
const closed = ({ socket }: { socket: Socket }) =>
  new Promise<void>((resolve) => {
    if (socket.readableEnded || socket.destroyed) resolve()
    else socket.on('end', resolve).on('close', () => resolve())
  })

test('bytes that are not HTTP get 400, and the connection is closed even if the client keeps sending', async () => {
  const { socket, text } = await open()
  socket.write('hello\r\n\r\n')
  await once(socket, 'end')
  expect(text()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(connections.open).toBe(1)
  await dead(socket)
  await vi.waitFor(() => expect(connections.open).toBe(0), 20_000)
})

test('a request that arrives too slowly gets an error and is closed, and is not served when it completes later', async () => {
  const { socket, text } = await open()
  socket.write('POST / HTTP/1.1\r\nhost: a\r\n')
  await once(socket, 'end')
  expect(text()).toContain('The request took too long to arrive.')
  socket.write('content-length: 0\r\n\r\n')
  await dead(socket)
  await vi.waitFor(() => expect(connections.open).toBe(0), 20_000)
  expect(served).not.toHaveBeenCalled()
})

test('a connection that sends no byte is closed', async () => {
  const { socket, text } = await open()
  await once(socket, 'end')
  expect(text()).toMatch(/^HTTP\/1\.1 400/)
  await dead(socket)
  await vi.waitFor(() => expect(connections.open).toBe(0), 20_000)
})

test('a request beyond the maximum gets 503 and its connection is closed, until another one has ended', async () => {
  const [first] = await fill()
  for (let index = 0; index < 3; index += 1) {
    const refused = await fetched('/')
    expect(refused.status).toBe(503)
    expect(Object.fromEntries(refused.headers)).toMatchObject({ 'retry-after': '1', connection: 'close' })
    expect(await refused.json()).toMatchObject({ code: 503, reason: 'unavailable' })
  }
  expect(observer.full.mock.calls).toEqual([[true]])
  expect(served).toHaveBeenCalledTimes(CONNECTIONS_MAX)

  first?.socket.destroy()
  await vi.waitFor(() => expect(connections.open).toBe(CONNECTIONS_MAX - 1), 20_000)
  expect(observer.full.mock.calls).toEqual([[true], [false]])
  expect((await fetched('/')).status).toBe(200)
})

test('a new connection takes the place of the longest idle one, whether that has had a request or not', async () => {
  Object.assign(app.server, { headersTimeout: 60_000, requestTimeout: 60_000 })
  const unfinished = await open()
  unfinished.socket.write('POST / HTTP/1.1\r\nhost: a\r\n')
  const done = await open()
  done.socket.write(post('/'))
  const held = await open()
  held.socket.write(post('/held'))
  await vi.waitFor(() => expect(served).toHaveBeenCalledTimes(2), 20_000)
  await vi.waitFor(() => expect(done.text()).toContain('served'), 20_000)
  nowMs = 1_000

  const ends = [closed(unfinished), closed(done)]
  expect((await fetched('/')).status).toBe(200)
  await ends[0]
  expect(observer.closedIdle).toHaveBeenCalledTimes(1)
  const other = await open()
  other.socket.write(post('/'))
  await vi.waitFor(() => expect(other.text()).toContain('served'), 20_000)
  await ends[1]
  expect(observer.closedIdle).toHaveBeenCalledTimes(2)
  expect(connections.open).toBe(CONNECTIONS_MAX)
  expect(observer.full.mock.calls).toEqual([[true]])

  release()
  await vi.waitFor(() => expect(held.text()).toContain('released'), 20_000)
  expect(refusing.refused).not.toHaveBeenCalled()
})

test('a connection whose body does not arrive gives way, unless its caller is known', async () => {
  const half = (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n1`
  const known = await open()
  const stranger = await open()
  known.socket.write(half('/known'))
  stranger.socket.write(half('/'))
  const busy = await open()
  busy.socket.write(post('/held'))
  await vi.waitFor(() => expect(arriving).toHaveBeenCalledTimes(3), 20_000)
  nowMs = 1_000

  const end = closed(stranger)
  expect((await fetched('/')).status).toBe(200)
  await end
  expect(observer.closedIdle).toHaveBeenCalledTimes(1)
  // The other two are not idle, and the one that was answered has not been idle for long.
  expect((await fetched('/', 'POST')).status).toBe(503)
  known.socket.write('2')
  await vi.waitFor(() => expect(known.text()).toContain('known'), 20_000)
  // With the end of its response it is idle again.
  nowMs = 2_000
  expect((await fetched('/')).status).toBe(200)
})

test('a connection that has just come, whose request may be on its way, does not give way', async () => {
  Object.assign(app.server, { headersTimeout: 60_000, requestTimeout: 60_000 })
  const fresh = await Promise.all(Array.from({ length: CONNECTIONS_MAX }, open))
  await vi.waitFor(() => expect(connections.open).toBe(CONNECTIONS_MAX), 20_000)
  nowMs = 999
  expect((await fetched('/')).status).toBe(503)
  for (const { socket } of fresh) socket.write(post('/'))
  await vi.waitFor(() => expect(served).toHaveBeenCalledTimes(CONNECTIONS_MAX), 20_000)
  expect(observer.closedIdle).not.toHaveBeenCalled()
})

test('health is answered beyond the maximum, also among connections beyond it that send nothing', async () => {
  Object.assign(app.server, { headersTimeout: 60_000, requestTimeout: 60_000 })
  await fill()
  for (let round = 0; round < 3; round += 1) {
    const silent = await Promise.all(Array.from({ length: REFUSED_MAX + 1 }, open))
    const ends = silent.map(closed)
    const health = await fetched('/health', 'GET')
    expect([health.status, health.headers.get('connection'), await health.text()]).toEqual([
      ...[200, 'close', 'healthy'],
    ])
    expect((await fetched('/')).status).toBe(503)
    await Promise.all(ends)
  }
  expect(connections.open).toBe(CONNECTIONS_MAX)
})

test('a client whose request is rejected while it sends a large body can read the response', async () => {
  // The bodies may take longer than the other tests let a request take.
  Object.assign(app.server, { headersTimeout: 60_000, requestTimeout: 60_000 })
  await fill()
  for (let index = 0; index < 5; index += 1) {
    const refused = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'x'.repeat(4 * 1024 * 1024),
    })
    expect(refused.status).toBe(503)
  }
})

test('a connection beyond the maximum gets an error and is closed before it sends a request', async () => {
  Object.assign(app.server, { headersTimeout: 60_000, requestTimeout: 60_000 })
  await fill()
  const { socket, text } = await open()
  await once(socket, 'end')
  expect(text()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/)
  expect(text()).toMatch(/\r\nretry-after: 1\r\n/)
  expect(JSON.parse(text().split('\r\n\r\n')[1] ?? '')).toMatchObject({ reason: 'unavailable' })
  expect(refusing.refused).toHaveBeenCalledTimes(1)
  await dead(socket)
})

test('a client that reads nothing of its response is disconnected, and one that reads slowly is not', async () => {
  const stuck = await open()
  stuck.socket.pause()
  const slow = await open()
  let slowBytes = 0
  slow.socket.removeAllListeners('data')
  slow.socket.on('data', (chunk) => {
    slowBytes += chunk.length
    slow.socket.pause()
    setTimeout(() => slow.socket.resume(), 1)
  })
  for (const { socket } of [stuck, slow]) socket.write('GET /big HTTP/1.1\r\nhost: a\r\n\r\n')
  await vi.waitFor(() => expect(connections.open).toBe(1), 20_000)
  await vi.waitFor(() => expect(slowBytes).toBeGreaterThan(BIG.length), 40_000)
})
