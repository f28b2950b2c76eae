import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { boundPipelining } from './pipelining.ts'

const OPEN_MAX = 8

let app: FastifyInstance
let client: Socket
let text: string
let received: string[]
/** How many requests were made objects at all, also where they must wait. */
let created: number
/** Ends what `/held` waits for, one after the other. */
let held: (() => void)[]

beforeEach(async () => {
  text = ''
  received = []
  created = 0
  held = []
  app = Fastify({ bodyLimit: 10_000_000 })
  boundPipelining(app)
  app.server.on('request', () => {
    created += 1
  })
  app.get<{ Params: { name: string } }>('/held/:name', async ({ params }) => {
    received.push(params.name)
    await new Promise<void>((resolve) => held.push(resolve))
    return 'held'
  })
  app.post('/echo', async ({ body }) => JSON.stringify(body).length)
  app.get('/big', async () => 'x'.repeat(100_000))
  await app.listen({ host: '127.0.0.1', port: 0 })
  client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => undefined)
  client.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  await once(client, 'connect')
})
afterEach(async () => {
  client.destroy()
  for (const release of held) release()
  await app.close()
})

const answers = () => text.match(/HTTP\/1\.1 \d+/g)?.length ?? 0
const answered = (count: number) =>
  vi.waitFor(() => expect(answers()).toBe(count), { timeout: 20_000, interval: 5 })
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
const heldBy = (count: number) => Array.from({ length: count }, (_, index) => get(`/held/${index}`)).join('')

test('eight requests of a connection are served at a time, and the others wait where nothing is read of them', async () => {
  client.write(heldBy(500))
  await vi.waitFor(() => expect(held).toHaveLength(OPEN_MAX), 20_000)
  // The ninth shows that there are more.
  expect(created).toBe(OPEN_MAX + 1)
  for (let ended = 1; ended <= 30; ended += 1) {
    held[ended - 1]?.()
    await vi.waitFor(() => expect(held).toHaveLength(OPEN_MAX + ended), 20_000)
    expect(created).toBeLessThanOrEqual(OPEN_MAX + ended + 1)
  }
  expect(received).toEqual(Array.from({ length: OPEN_MAX + 30 }, (_, index) => String(index)))
})

test('a response that is ready does not take the place of one before it, which the client gets first', async () => {
  client.write(heldBy(20))
  await vi.waitFor(() => expect(held).toHaveLength(OPEN_MAX), 20_000)
  for (const release of held.slice(1)) release()
  await new Promise(setImmediate)
  expect([answers(), received.length]).toEqual([0, OPEN_MAX])
  held[0]?.()
  await vi.waitFor(() => expect(held.length).toBeGreaterThan(OPEN_MAX), 20_000)
})

test('thousands of requests at once are answered, however they are cut, with bodies that look like heads', async () => {
  const bodies = ['1', '"GET / HTTP/1.1\\r\\n\\r\\n"', JSON.stringify('\r\n\r\n'.repeat(100)), '"x"']
  const chunked = (body: string) =>
    `POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const large = JSON.stringify('y'.repeat(300_000))
  const requests = Array.from({ length: 3_000 }, (_, index) => {
    const body = index % 500 === 7 ? large : (bodies[index % bodies.length] ?? '1')
    return index % 3 === 0 ? chunked(body) : post('/echo', body)
  }).join('')
  for (let at = 0; at < requests.length; ) {
    const end = at + 1 + ((at * 7919) % 100_000)
    client.write(requests.slice(at, end))
    at = end
  }
  await answered(3_000)
})

test('a connection whose client reads nothing of large responses waits, and is answered once it does', async () => {
  client.pause()
  client.write(get('/big').repeat(80))
  await vi.waitFor(() => expect(created).toBeGreaterThan(0), 20_000)
  client.resume()
  await answered(80)
  expect(created).toBe(80)
})

test('requests whose URL is not valid count as well, and are answered', async () => {
  client.write(get('/%').repeat(500))
  await answered(500)
  client.write(post('/echo', '1'))
  await answered(501)
})

test.each([
  ['ask for a tunnel', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['are not HTTP', 'nonsense\r\n\r\n'],
])('bytes that %s end the connection, and what comes behind them is not parsed', async (_what, bytes) => {
  client.write(`${post('/echo', '1')}${bytes}${post('/echo', '1').repeat(100)}`)
  await once(client, 'close')
  expect(created).toBe(1)
})

test('another connection is served while requests of one wait', async () => {
  client.write(heldBy(100))
  await vi.waitFor(() => expect(held).toHaveLength(OPEN_MAX), 20_000)
  const { port } = app.server.address() as AddressInfo
  const other = await fetch(`http://127.0.0.1:${port}/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '"abc"',
  })
  expect(await other.text()).toBe('5')
})
