import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Principal } from '#core/requests/principal.ts'
import { installProblems } from '../response/problem.ts'
import { answerClientError } from './client-error.ts'
import { type ConnectionOptions, guardConnections } from './connections.ts'

const CALLER: Principal = {
  userId: 'u',
  role: 'user',
  via: { kind: 'token', tokenId: 't', expiresAt: new Date(0) },
}
/** How long an idle connection keeps its place, and one beyond the bound may be silent. */
const SECOND = 1_000
const MIB = 1024 * 1024

let app: FastifyInstance
let nowMs: number
/** Ends what `/held` waits for, one after the other. */
let held: (() => void)[]
/** Every request that Node has made of what it read. */
let requests: number
let tcpClients: Socket[]
const calls = { refused: vi.fn(), full: vi.fn(), closedIdle: vi.fn() }

beforeEach(() => {
  vi.clearAllMocks()
  nowMs = 0
  requests = 0
  held = []
  tcpClients = []
})
afterEach(async () => {
  for (const client of tcpClients) client.destroy()
  for (const release of held) release()
  app.server.closeAllConnections()
  await app.close()
})

/** A server whose routes wait, echo, send much, or know their caller. */
async function serve(options: Partial<ConnectionOptions> = {}) {
  const refusing = { newId: () => 'an-id', refused: calls.refused }
  app = Fastify({
    bodyLimit: 16 * MIB,
    http: { headersTimeout: 300, connectionsCheckingInterval: 50 },
    requestTimeout: 0,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, refusing),
  })
  const connections = guardConnections(app, {
    ...{ connectionsMax: 100, beyondMax: 2, stalledMs: 60_000, everyMs: 20 },
    elapsedMs: () => nowMs,
    isProxy: (address) => address.startsWith('10.9.'),
    ...refusing,
    full: calls.full,
    closedIdle: calls.closedIdle,
    ...options,
  })
  app.server.on('request', () => {
    requests += 1
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (!connections.refuse(request, reply)) done()
  })
  installProblems(app)
  app.route({
    method: ['GET', 'POST'],
    url: '/held',
    async handler() {
      await new Promise<void>((resolve) => held.push(resolve))
      return 'released'
    },
  })
  const known = { onRequest: async (request: object) => Object.assign(request, { principal: CALLER }) }
  app.post('/echo', async ({ body }) => JSON.stringify(body).length)
  app.post('/known', known, async () => 'known')
  app.post('/upload', { config: { limitsBodyTime: false } }, async () => 'uploaded')
  app.get('/health', { config: { isAlwaysAnswered: true } }, async () => 'healthy')
  // The system buffers up to ten of them for one connection.
  app.get<{ Params: { mib: number } }>('/big/:mib', async ({ params }) => 'x'.repeat(params.mib * MIB))
  // A stream with comments, which are written whether or not the client reads.
  app.get('/stream', (_request, reply) => {
    reply.hijack()
    reply.raw.write('x'.repeat(40 * MIB))
    const comments = setInterval(() => reply.raw.write(':\n\n'), 50)
    reply.raw.once('close', () => clearInterval(comments))
  })
  app.get('/word', (_request, reply) => {
    reply.hijack()
    reply.raw.write('a first word')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return connections
}

/** A connection from any address, in memory. */
function from(address: string, sent = '') {
  const [client, socket] = duplexPair()
  app.server.emit('connection', Object.assign(socket, { remoteAddress: address }))
  return clientOf(
    client.on('error', () => undefined),
    socket,
    sent,
  )
}

/** A connection through the system. */
async function overTcp(sent = '') {
  const accepted = once(app.server, 'connection') as Promise<[Socket]>
  const { port } = app.server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  tcpClients.push(client)
  client.on('error', () => undefined)
  const [socket] = await accepted
  return { ...clientOf(client, socket, sent), client }
}

function clientOf(client: Duplex, socket: Duplex, sent: string) {
  let text = ''
  client.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  const send = (more: string) => client.write(more)
  send(sent)
  return { send, client, socket, text: () => text }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
const post = (path: string, body: string, length = body.length) =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`
const closed = (...of: readonly { socket: Duplex }[]) => of.map(({ socket }) => socket.destroyed)
const answers = ({ text }: { text(): string }) => text().match(/HTTP\/1\.1 \d+/g)?.length ?? 0
const areHeld = (count: number) =>
  vi.waitFor(() => expect(held).toHaveLength(count), { timeout: 20_000, interval: 5 })
const says = ({ text }: { text(): string }, part: string | RegExp) =>
  vi.waitFor(() => expect(text()).toMatch(part), { timeout: 20_000, interval: 5 })

describe('at the bound a new connection takes the place', () => {
  test('of the longest idle one of the address that has most idle ones, where an IPv6 /64 is one address', async () => {
    await serve({ connectionsMax: 6 })
    const alone = from('192.0.2.1')
    const [first, second, third] = [from('2001:db8:1:2::1'), from('2001:db8:1:2::2'), from('2001:db8:1:2::3')]
    const [oldest, newest] = [from('192.0.2.2'), from('192.0.2.2')]
    const all = [alone, first, second, third, oldest, newest]
    // A request makes it the last of its address.
    nowMs = 1
    first.send(get('/health'))
    await says(first, 'healthy')
    nowMs = 1 + SECOND
    from('192.0.2.3')
    expect(closed(...all)).toEqual([false, false, true, false, false, false])
    // Of addresses that have as many idle ones, that with the longest idle one comes first.
    third.send(get('/held'))
    await areHeld(1)
    newest.send(get('/held'))
    await areHeld(2)
    from('192.0.2.3')
    expect(closed(...all)).toEqual([true, false, true, false, false, false])
    expect(calls.closedIdle).toHaveBeenCalledTimes(2)
  })

  test('of no connection of a balancer that has more, of which most work, while those of another address do nothing', async () => {
    await serve({ connectionsMax: 6, everyMs: 60_000 })
    const balancer = [from('192.0.2.1')]
    for (const sent of [get('/held'), post('/held', '1'), post('/known', '1', 9)]) {
      balancer.push(from('192.0.2.1', sent))
    }
    const idle = [from('192.0.2.2'), from('192.0.2.2')]
    await areHeld(2)
    nowMs = SECOND
    from('192.0.2.3')
    expect([closed(...balancer), closed(...idle)]).toEqual([Array(4).fill(false), [true, false]])
  })

  test('of an address with two idle ones before those of proxies, which belong to as many clients', async () => {
    await serve({ connectionsMax: 5 })
    const ofProxies = [from('10.9.0.1'), from('10.9.0.1'), from('10.9.0.2')]
    const own = [from('192.0.2.1'), from('192.0.2.1')]
    nowMs = SECOND
    from('10.9.0.1')
    from('10.9.0.1')
    expect([closed(...own), closed(...ofProxies)]).toEqual([
      [true, false],
      [true, false, false],
    ])
  })

  test('of one whose body does not arrive, unless its caller is known', async () => {
    await serve({ connectionsMax: 3 })
    const [known, stranger] = [
      from('192.0.2.1', post('/known', '1', 9)),
      from('192.0.2.1', post('/echo', '1', 9)),
    ]
    // What was idle when its body had not arrived is not any more.
    const arrived = from('192.0.2.1', post('/echo', '"arri', 9))
    await vi.waitFor(() => expect(requests).toBe(3), 20_000)
    nowMs = SECOND
    const newcomer = from('192.0.2.3', get('/held'))
    await areHeld(1)
    expect(closed(known, stranger, arrived, newcomer)).toEqual([false, true, false, false])
    known.send('2345678"')
    expect(known.socket.destroyed).toBe(false)
  })

  test('of none that has been idle for less than a second, also of other addresses, and of none with a request', async () => {
    const connections = await serve({ connectionsMax: 4 })
    const old = from('192.0.2.1')
    const busy = from('192.0.2.2', get('/held'))
    await areHeld(1)
    nowMs = SECOND - 1
    const fresh = [from('192.0.2.2'), from('192.0.2.2')]
    nowMs = SECOND
    const refused = from('192.0.2.3', get('/held'))
    await says(refused, /^HTTP\/1\.1 503 /)
    expect(closed(old, busy, ...fresh)).toEqual([false, false, false, false])
    expect(connections.open).toBe(4)
  })
})

describe('where no connection is idle', () => {
  test('a request gets 503 and its connection is closed, health is answered, and this is reported until there is room', async () => {
    const connections = await serve({ connectionsMax: 3 })
    const busy = Array.from({ length: 3 }, () => from('192.0.2.1', get('/held')))
    await areHeld(3)
    const refused = await overTcp(post('/echo', '1'))
    await once(refused.client, 'end')
    expect(refused.text()).toMatch(
      /^HTTP\/1\.1 503 Service Unavailable\r\n(?=.*retry-after: 1\r\n)(?=.*connection: close\r\n).*"reason":"unavailable"/s,
    )
    const health = await overTcp(get('/health'))
    await once(health.client, 'end')
    expect(health.text()).toMatch(/^HTTP\/1\.1 200 .*connection: close\r\n.*healthy$/s)
    await vi.waitFor(() => expect(calls.full.mock.calls).toEqual([[true]]), 20_000)

    busy[0]?.socket.destroy()
    await vi.waitFor(() => expect(connections.open).toBe(2), 20_000)
    await vi.waitFor(() => expect(calls.full.mock.calls).toEqual([[true], [false]]), 20_000)
    const served = from('192.0.2.1', get('/held'))
    await areHeld(4)
    expect(served.socket.destroyed).toBe(false)
  })

  test('a few wait beyond the bound, where one that is silent gives way to the next and is refused after a second', async () => {
    await serve({ connectionsMax: 1 })
    from('192.0.2.1', get('/held'))
    await areHeld(1)
    const [first, second, third] = [from('192.0.2.2'), from('192.0.2.2'), from('192.0.2.2')]
    expect(closed(first, second, third)).toEqual([true, false, false])
    await says(from('192.0.2.3', get('/health')), 'healthy')
    expect(closed(first, second, third)).toEqual([true, true, false])
    nowMs = SECOND
    await says(third, /^HTTP\/1\.1 503 .*retry-after: 1\r\n.*"reason":"unavailable"/s)
    expect(calls.refused).toHaveBeenCalledTimes(1)
  })
})

describe('a body', () => {
  test.each([
    ['of a stranger may take ten seconds', post('/echo', '1', 16_001), 10_000],
    ['that is small may take ten seconds', post('/known', '1', 16_000), 10_000],
    ['that is large may take a minute if its caller is known', post('/known', '1', 16_001), 60_000],
  ])('%s, and is then refused', async (_what, text, withinMs) => {
    await serve()
    const upload = from('192.0.2.1', post('/upload', '1', 9))
    const slow = from('192.0.2.1', text)
    await vi.waitFor(() => expect(requests).toBe(2), 20_000)
    nowMs = withinMs - 1
    const second = from('192.0.2.1', post('/echo', '1', 9))
    await vi.waitFor(() => expect(requests).toBe(3), 20_000)
    expect(slow.text()).toBe('')
    nowMs = withinMs
    await says(slow, /^HTTP\/1\.1 400 .*connection: close\r\n.*The request took too long to arrive\./s)
    expect([upload.text(), second.text()]).toEqual(['', ''])
  })

  test('of a refused request is discarded for no longer, and gets no second answer', async () => {
    await serve()
    const refused = await overTcp(post('/nothing', '1', 9))
    await says(refused, /^HTTP\/1\.1 404 /)
    nowMs = 10_000
    await once(refused.socket, 'close')
    expect(answers(refused)).toBe(1)
  })
})

describe('what is not a request', () => {
  test('gets an error, and the connection ends after a moment although the client keeps sending', async () => {
    await serve()
    const client = await overTcp()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      client.send('hello\r\n\r\n')
      await once(client.client, 'end')
      expect(client.text()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*The request is not valid HTTP\./s)
      const received = once(client.socket, 'data')
      client.send(get('/held'))
      await received
      vi.advanceTimersByTime(1_999)
      expect(client.socket.destroyed).toBe(false)
      vi.advanceTimersByTime(1)
      expect(client.socket.destroyed).toBe(true)
      expect([held, requests]).toEqual([[], 0])
    } finally {
      vi.useRealTimers()
    }
  })

  test('because its head is not complete gets an error, and is not served when it completes later', async () => {
    await serve()
    const client = await overTcp('GET /held HTTP/1.1\r\nhost: a\r\n')
    await once(client.client, 'end')
    expect(client.text()).toMatch(/^HTTP\/1\.1 400 .*The request took too long to arrive\./s)
    const received = once(client.socket, 'data')
    client.send('\r\n')
    await received
    expect([held, requests]).toEqual([[], 0])
  })

  test('because no byte comes gets an error', async () => {
    await serve()
    const client = await overTcp()
    await once(client.client, 'end')
    expect(client.text()).toMatch(/^HTTP\/1\.1 400 .*The request took too long to arrive\./s)
  })

  test('because its head is too large gets an error', async () => {
    await serve()
    const client = await overTcp(`GET /held HTTP/1.1\r\nhost: ${'a'.repeat(20_000)}`)
    await once(client.client, 'end')
    expect(client.text()).toMatch(/^HTTP\/1\.1 431 .*"reason":"headers_too_large"/s)
  })
})

test('a client that is refused while it sends a large body may go on, so that no reset overtakes the response', async () => {
  await serve({ connectionsMax: 0 })
  const client = await overTcp(post('/echo', 'x', 4 * MIB))
  await once(client.client, 'end')
  expect(client.text()).toMatch(/^HTTP\/1\.1 503 /)
  expect(client.socket.destroyed).toBe(false)
  client.client.end('x'.repeat(4 * MIB - 1))
  await once(client.socket, 'close')
})

test('a connection that waits for the next request is closed after a while', async () => {
  await serve()
  Object.assign(app.server, { keepAliveTimeout: 50, keepAliveTimeoutBuffer: 0 })
  const client = await overTcp(get('/health'))
  await once(client.socket, 'close')
  expect(client.text()).toContain('healthy')
})

describe('a client that reads nothing', () => {
  const STALLED_MS = 1_000

  test('is disconnected after the time limit, and neither one that reads slowly nor one for which nothing waits', async () => {
    await serve({ stalledMs: STALLED_MS })
    const waiting = await overTcp(get('/word'))
    const slow = await overTcp()
    slow.client.removeAllListeners('data').pause()
    slow.send(get('/big/40'))
    const reading = setInterval(() => slow.client.read(MIB), STALLED_MS / 20)
    const startedMs = performance.now()
    // Far too little time for the slow one to finish.
    const stalled = await overTcp()
    stalled.client.pause()
    stalled.send(get('/stream'))
    await once(stalled.socket, 'close')
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(STALLED_MS)
    clearInterval(reading)
    expect(closed(slow, waiting)).toEqual([false, false])
  })

  test('is disconnected sooner where more waits than a process may hold, the one with the most bytes first', async () => {
    await serve({ stalledMs: 600_000, waitingBytesMax: 60 * MIB })
    const [one, other] = [await overTcp(), await overTcp()]
    one.client.pause()
    one.send(get('/big/30'))
    await vi.waitFor(() => expect(one.socket.writableLength).toBeGreaterThan(0), 20_000)
    other.client.pause()
    other.send(get('/big/50'))
    await once(other.socket, 'close')
    expect(closed(one)).toEqual([false])
  })
})

describe('of many requests that a connection sends at once', () => {
  test('eight are served at a time and answered in their order, while other connections are served', async () => {
    await serve()
    const client = from('192.0.2.1', get('/held').repeat(500))
    await areHeld(8)
    for (let ended = 1; ended <= 20; ended += 1) {
      held[ended - 1]?.()
      await areHeld(8 + ended)
      expect(requests).toBe(8 + ended)
    }
    // The response to a later one waits for those before it, and so does its place.
    held[25]?.()
    await says(from('192.0.2.2', post('/echo', '"abc"')), /5$/)
    expect([answers(client), held.length]).toEqual([20, 28])
  })

  test('thousands are answered, however they are cut, with bodies that look like heads and URLs that are not valid', async () => {
    await serve()
    const bodies = ['1', '"GET / HTTP/1.1\\r\\n\\r\\n"', JSON.stringify('\r\n\r\n'.repeat(100)), '"x"']
    const chunked = (body: string) =>
      `POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const large = JSON.stringify('y'.repeat(300_000))
    const text = Array.from({ length: 3_000 }, (_, index) => {
      const body = index % 500 === 7 ? large : (bodies[index % bodies.length] ?? '1')
      return [chunked(body), post('/echo', body), get('/%')][index % 3]
    }).join('')
    const client = from('192.0.2.1')
    for (let at = 0; at < text.length; ) {
      const end = at + 1 + ((at * 7919) % 100_000)
      client.send(text.slice(at, end))
      at = end
    }
    await vi.waitFor(() => expect(answers(client)).toBe(3_000), { timeout: 20_000, interval: 50 })
  })

  test('those behind large responses wait while the client reads nothing of these', async () => {
    await serve()
    const client = await overTcp()
    client.client.pause()
    client.send(get('/big/1').repeat(30))
    await vi.waitFor(() => expect(client.socket.isPaused()).toBe(true), 20_000)
    client.client.resume()
    await vi.waitFor(() => expect(answers(client)).toBe(30), 20_000)
    expect(requests).toBe(30)
  })

  test.each([
    ['ask for a tunnel', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['are not HTTP', 'nonsense\r\n\r\n'],
  ])('those behind bytes that %s are not served', async (_what, bytes) => {
    await serve()
    const client = await overTcp(`${post('/echo', '1')}${bytes}${get('/held').repeat(100)}`)
    await new Promise((resolve) => client.client.on('end', resolve).on('close', resolve))
    expect([requests, held]).toEqual([1, []])
  })
})
