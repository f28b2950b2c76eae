import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import type { Principal } from '#core/requests/principal.ts'
import { installJsonBody } from '../request/json-body.ts'
import { installProblems } from '../response/problem.ts'
import { createLargeBodyGuard, SMALL_BODY_BYTES } from './large-bodies.ts'

const MIB = 1024 * 1024
/** Larger than half of what one owner may hold, and than a quarter of what all may. */
const LARGEST = 130 * MIB

let app: FastifyInstance
let port: number
let clients: Socket[]
/** What happens to the turns of the event loop and to bodies, in order. */
let events: string[]
let release: (() => void)[]
const onRefused = vi.fn(async () => undefined)

const authenticate = vi.fn(async (owner: string): Promise<Principal> => {
  if (owner === 'unknown') throw new Problem('key_unknown')
  return { userId: owner, role: 'user', via: { kind: 'token', tokenId: 't', expiresAt: new Date(0) } }
})

beforeEach(async () => {
  vi.clearAllMocks()
  clients = []
  events = []
  release = []
  app = Fastify({ bodyLimit: LARGEST })
  app.decorateRequest('apiKey', '')
  installProblems(app)
  installJsonBody(app)
  createLargeBodyGuard({
    authentication: {
      authenticate,
      requireKeyFormat: () => undefined,
      isSuspect: () => false,
      endUserHeader: undefined,
      boundEndUser: async () => undefined,
    },
    reads: {
      begin: async () => () => undefined,
      async beginLarge({ userId }) {
        events.push(`begin ${userId}`)
        return () => void events.push(`end ${userId}`)
      },
    },
  })(app, onRefused)
  app.post(
    '/chat',
    { onRequest: async (request) => Object.assign(request, { apiKey: 'a key' }) },
    async () => '',
  )
  app.post<{ Body: string[] }>('/', async ({ body }) => {
    events.push('parsed')
    return String(body.length)
  })
  app.post('/held', async (request) => {
    events.push(`held ${request.principal?.userId}`)
    await new Promise<void>((resolve) => release.push(resolve))
    request.endLargeBody?.()
    await new Promise<void>((resolve) => release.push(resolve))
    return 'held'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterEach(async () => {
  for (const client of clients) client.destroy()
  for (const end of release) end()
  await app.close()
})

/** A connection on which a body is sent in pieces. */
async function open(path: string, owner: string | undefined, length = 'transfer-encoding: chunked') {
  const client = connect(port, '127.0.0.1')
  clients.push(client)
  let text = ''
  client
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += chunk.toString()
    })
  await once(client, 'connect')
  const authorization = owner === undefined ? '' : `authorization: Bearer ${owner}\r\n`
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\n${authorization}content-type: application/json\r\n${length}\r\n\r\n`
  client.write(head)
  const chunk = (data: string) => client.write(`${data.length.toString(16)}\r\n${data}\r\n`)
  return {
    client,
    chunk,
    end: () => client.write('0\r\n\r\n'),
    answered: (pattern: RegExp) => vi.waitFor(() => expect(text).toMatch(pattern), 20_000),
  }
}

const seen = (event: string, count = 1) =>
  vi.waitFor(() => expect(events.filter((each) => each === event)).toHaveLength(count), 20_000)
const listOf = (bytes: number) => JSON.stringify(Array.from({ length: bytes / 4 }, () => '1'))

test.each([
  ['unknown', /^HTTP\/1\.1 401 [\s\S]*"reason":"key_unknown"/, 'key_unknown'],
  [
    undefined,
    /^HTTP\/1\.1 413 [\s\S]*"detail":"body: expected at most 16000 bytes without/,
    'body_too_large',
  ],
])('a large body of %s is refused when nothing of it has come', async (owner, answer, reason) => {
  const { answered } = await open('/', owner, `content-length: ${SMALL_BODY_BYTES + 1}`)
  await answered(answer)
  expect(onRefused).toHaveBeenCalledExactlyOnceWith(expect.anything(), expect.objectContaining({ reason }))
})

test('one of a chat whose length is not announced is refused like that as well', async () => {
  const { answered } = await open('/chat', 'unknown')
  await answered(/^HTTP\/1\.1 401 [\s\S]*"reason":"key_unknown"/)
})

test('one of no announced length is refused once it is large, and the connection goes on', async () => {
  const body = await open('/', 'unknown')
  body.chunk(' '.repeat(SMALL_BODY_BYTES))
  await new Promise(setImmediate)
  expect(authenticate).not.toHaveBeenCalled()
  body.chunk('1')
  await body.answered(/^HTTP\/1\.1 401 [\s\S]*"reason":"key_unknown"/)
  // What is still sent is discarded.
  for (let piece = 0; piece < 50; piece += 1) body.chunk('x'.repeat(100_000))
  body.end()
  body.client.write(
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n[1]',
  )
  await body.answered(/HTTP\/1\.1 200 OK[\s\S]*\r\n1$/)
  expect(events).toEqual(['parsed'])
})

test('a small body is parsed for any caller, in no turn', async () => {
  const small = listOf(SMALL_BODY_BYTES - 4)
  const announced = await open('/', 'unknown', `content-length: ${small.length}`)
  announced.client.write(small)
  const unannounced = await open('/', undefined)
  unannounced.chunk(small)
  unannounced.end()
  for (const { answered } of [announced, unannounced]) await answered(/^HTTP\/1\.1 200/)
  expect([authenticate.mock.calls.length, events]).toEqual([0, ['parsed', 'parsed']])
})

test('a large body of a known caller is parsed whole, in a turn that lasts as long as that takes', async () => {
  const large = listOf(3 * MIB)
  const announced = await open('/', 'a', `content-length: ${large.length}`)
  announced.client.write(large)
  await announced.answered(new RegExp(`\\r\\n${(3 * MIB) / 4}$`))
  const unannounced = await open('/', 'b')
  for (const piece of large.match(/.{1,50000}/g) ?? []) unannounced.chunk(piece)
  unannounced.end()
  await unannounced.answered(new RegExp(`\\r\\n${(3 * MIB) / 4}$`))
  await seen('end b')
  expect(events).toEqual(['begin a', 'parsed', 'end a', 'begin b', 'parsed', 'end b'])
  expect(authenticate.mock.calls).toHaveLength(2)
})

test('a body that is larger than the route takes is refused as such', async () => {
  const announced = await open('/', 'a', `content-length: ${LARGEST + 1}`)
  await announced.answered(/^HTTP\/1\.1 413 [\s\S]*"detail":"body: is too large\."/)
})

test('the large bodies of one owner wait for each other, unread, and those of another do not', async () => {
  const send = async (owner: string) => {
    const body = await open('/held', owner)
    // Without an announced length it counts as the largest that the route takes.
    body.chunk(`"${'x'.repeat(SMALL_BODY_BYTES)}`)
    body.chunk('"')
    body.end()
    return body
  }
  await send('a')
  await seen('held a')
  const second = await send('a')
  const third = await send('a')
  await send('b')
  await seen('held b')
  expect(events.filter((event) => event === 'held a')).toHaveLength(1)

  // A client that leaves while it waits gives up its place.
  second.client.destroy()
  const count = promisify(app.server.getConnections.bind(app.server))
  await vi.waitFor(async () => expect(await count()).toBe(3), 20_000)
  // The memory is given back when the route says so, before the response has ended.
  release[0]?.()
  await seen('held a', 2)
  for (let at = 0; at < release.length; at += 1) release[at]?.()
  await vi.waitFor(() => expect(release.length).toBeGreaterThanOrEqual(6), 20_000)
  for (const end of release) end()
  await third.answered(/^HTTP\/1\.1 200/)
})
