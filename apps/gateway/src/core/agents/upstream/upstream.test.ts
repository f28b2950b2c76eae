import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Agent, HelperCall, UpstreamEvent } from '#core/agents/adapter.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { createUpstream, type Upstream } from './upstream.ts'
import type { UpstreamReply } from './upstream-reply.ts'

const KIB = 1024
const gone = new Error('the reader has left')

let answer: (response: ServerResponse, request: IncomingMessage) => unknown
let server: Server
let upstream: Upstream
let agent: Agent
let sockets: Socket[]

beforeEach(async () => {
  sockets = []
  server = createServer((request, response) => void answer(response, request))
  server.on('connection', (socket) => sockets.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const timeouts = { connectMs: 1_000, firstByteMs: 1_000, idleMs: 1_000, totalMs: 1_000 }
  agent = agentOf('openai', { baseUrl: originOf(server), timeouts })
  upstream = createUpstream({ replyBytesMax: 256 * KIB, unsentBytesMax: 64 * KIB })
})
afterEach(async () => {
  await upstream.close()
  server.closeAllConnections()
  server.close()
})

function originOf(listening: { address(): unknown }): string {
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

function open(origin = agent.baseUrl): UpstreamReply {
  return upstream.open(agent, { method: 'POST', url: `${origin}/chat?x=1`, headers: { a: 'b' }, body: '{}' })
}

/** Returns all events up to the end, or the reason of the error that came instead. */
async function readAll(reply: UpstreamReply): Promise<{ events: UpstreamEvent[]; fault?: string }> {
  const events: UpstreamEvent[] = []
  try {
    for (;;) {
      const part = await reply.next()
      if (part.kind !== 'events') return { events }
      events.push(...part.events)
    }
  } catch (error) {
    return { events, fault: (error as { reason: string }).reason }
  }
}

/** Writes until the other side stops reading. */
async function flood(response: ServerResponse, piece: string): Promise<void> {
  const closed = once(response, 'close')
  while (!response.destroyed) {
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed])
  }
}

/** Waits for some turns of the event loop, after which everything in transit has arrived. */
async function turns(count = 20): Promise<void> {
  const streaming = answer
  answer = (response) => response.end()
  const ping: HelperCall<string> = {
    request: { method: 'GET', url: `${agent.baseUrl}/ping`, headers: {} },
    read: () => ({ ok: 'pong' }),
  }
  for (let turn = 0; turn < count; turn += 1) await upstream.help(agent, ping, 1_000)
  answer = streaming
}

test.each([100, 1_000_000])('a body of %i characters is sent whole, with its length', async (characters) => {
  const seen = Promise.withResolvers<unknown>()
  answer = async (response, request) => {
    seen.resolve({ length: request.headers['content-length'], text: await text(request) })
    response.end()
  }
  const body = 'ä'.repeat(characters)
  await readAll(upstream.open(agent, { method: 'POST', url: `${agent.baseUrl}/chat`, headers: {}, body }))
  expect(await seen.promise).toEqual({ length: String(2 * characters), text: body })
})

test('the request is sent as it was built', async () => {
  const seen = Promise.withResolvers<unknown>()
  answer = (response, { method, url, headers }) => {
    seen.resolve({ method, url, a: headers.a })
    response.end()
  }
  await open().next()
  expect(await seen.promise).toEqual({ method: 'POST', url: '/chat?x=1', a: 'b' })
})

test('all events that have arrived are delivered together', async () => {
  const next = Promise.withResolvers<void>()
  answer = async (response) => {
    response.write('event: a\ndata: 1\n\n: comment\n\ndata: 2\n\ndata: thr')
    await next.promise
    response.end('ee\n\n')
  }
  const reply = open()
  expect(await reply.next()).toEqual({
    kind: 'events',
    events: [
      { event: 'a', data: '1' },
      { event: undefined, data: '2' },
    ],
  })
  next.resolve()
  expect(await reply.next()).toEqual({ kind: 'events', events: [{ event: undefined, data: 'three' }] })
  expect(await reply.next()).toEqual({ kind: 'end' })
})

test.each<[string, number, Record<string, string>, (string | Buffer)[], unknown]>([
  ['JSON', 200, { 'content-type': 'application/json' }, ['{"a":1}'], { a: 1 }],
  ['JSON that says it is a stream', 200, { 'content-type': 'text/event-stream' }, ['{"a":1}'], { a: 1 }],
  ['JSON after white space', 200, {}, ['\n ', '\n [1]'], [1]],
  ['JSON after a BOM', 200, {}, ['\ufeff{"a":1}'], { a: 1 }],
  ['JSON after a BOM in pieces', 200, {}, [Buffer.from([0xef]), Buffer.from([0xbb, 0xbf]), '{}'], {}],
  ['cut JSON', 200, {}, ['{"a":'], '{"a":'],
  ['a page', 200, { 'content-type': 'text/html' }, ['<html>', '</html>'], '<html></html>'],
  ['a page of an error', 502, {}, ['<html></html>'], '<html></html>'],
  ['an error', 429, {}, ['{"error":"busy"}'], { error: 'busy' }],
  ['a stream as an error', 500, { 'content-type': 'text/event-stream' }, ['data: x\n\n'], 'data: x\n\n'],
  ['an error without a body', 503, {}, [], ''],
])('%s is read as a body', async (_name, status, headers, pieces, body) => {
  answer = async (response) => {
    response.writeHead(status, { 'x-log-id': 'l1', ...headers })
    for (const piece of pieces) {
      response.write(piece)
      // Ensures that each piece arrives as a separate chunk.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    }
    response.end()
  }
  const reply = open()
  const part = await reply.next()
  if (part.kind !== 'body') return expect.fail(`read as ${part.kind}`)
  expect([part.status, part.body, part.header('x-log-id')]).toEqual([status, body, 'l1'])
  expect(await reply.next()).toEqual({ kind: 'end' })
})

test.each([
  ['of any content type', { 'content-type': 'application/json' }, 'data: 1\n\n'],
  ['without a content type', {}, 'data: 1\n\n'],
  ['after a BOM', {}, '\ufeffdata: 1\n\n'],
  ['after blank lines', {}, '\n\n\ndata: 1\n\n'],
  ['after a comment', {}, ': {\n\ndata: 1\n\n'],
  ['with CRLF', {}, 'data: 1\r\n\r\n'],
  ['without its last blank line', {}, 'data: 1'],
])('a stream %s is read as events', async (_name, headers, body) => {
  answer = (response) => response.writeHead(200, headers).end(body)
  expect(await readAll(open())).toEqual({ events: [{ event: undefined, data: '1' }] })
})

test('an empty reply ends without an error', async () => {
  answer = (response) => response.end()
  expect(await open().next()).toEqual({ kind: 'end' })
})

test('a reader that stops reading pauses the platform and later receives everything in order', async () => {
  const filler = 'x'.repeat(8 * KIB)
  const total = 4_000
  let sent = 0
  answer = async (response) => {
    for (; sent < total; sent += 1) {
      if (!response.write(`data: ${sent} ${filler}\n\n`)) await once(response, 'drain')
    }
    response.end()
  }
  const reply = open()
  const first = await reply.next()
  let before = -1
  while (sent !== before) {
    before = sent
    await turns()
  }
  expect(sent).toBeLessThan(total)

  const { events } = await readAll(reply)
  const numbers = [...(first.kind === 'events' ? first.events : []), ...events].map(({ data }) =>
    Number.parseInt(data, 10),
  )
  expect(numbers).toEqual(Array.from({ length: total }, (_, index) => index))
})

test.each([
  ['a line', 'data: ', 'x'.repeat(64 * KIB)],
  ['an event', '', `data: ${'x'.repeat(KIB)}\n`],
  ['a JSON body', '{"a":"', 'x'.repeat(64 * KIB)],
])('%s without end is cut off, after everything before it was delivered', async (_name, head, piece) => {
  const closed = Promise.withResolvers<void>()
  answer = async (response) => {
    response.once('close', closed.resolve)
    if (!head.startsWith('{')) response.write('data: 1\n\n')
    response.write(head)
    await flood(response, piece)
  }
  const { events, fault } = await readAll(open())
  expect(fault).toBe('agent_malformed')
  expect(events.map(({ data }) => data)).toEqual(head.startsWith('{') ? [] : ['1'])
  await closed.promise
})

test('only the beginning of an error body is read', async () => {
  const closed = Promise.withResolvers<void>()
  answer = async (response) => {
    response.once('close', closed.resolve)
    response.writeHead(500)
    await flood(response, 'x'.repeat(16 * KIB))
  }
  const part = await open().next()
  expect(part).toMatchObject({ kind: 'body', status: 500, body: 'x'.repeat(256 * KIB) })
  await closed.promise
})

test.each([
  [{ date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 'Wed, 21 Oct 2026 07:28:00 GMT'],
  [{ date: 'today' }, 'Thu, 01 Jan 1970 00:00:07 GMT'],
  [{}, 'Thu, 01 Jan 1970 00:00:07 GMT'],
])(
  "the date of a response with the headers %j is %s: the platform's, else the gateway's",
  async (headers, date) => {
    const ours = createUpstream({ replyBytesMax: KIB, unsentBytesMax: KIB }, {}, () => new Date(7_000))
    answer = (response) => {
      response.sendDate = false
      response.writeHead(429, headers).end('{}')
    }
    const reply = ours.open(agent, { method: 'POST', url: `${agent.baseUrl}/chat`, headers: {}, body: '{}' })
    const part = await reply.next()
    expect(part.kind === 'body' && part.header('date')).toBe(date)
    await ours.close()
  },
)

test.each([
  [301, 'https://new.example:8443/v1?key=secret', 'https://new.example:8443'],
  [302, 'https://user:secret@new.example/', 'https://new.example'],
  [303, '//other.example/x', 'http://other.example'],
  [307, '/v2/chat', 'ours'],
  [308, 'ftp://files.example/x', 'an address that cannot be read'],
  [301, 'http://[', 'an address that cannot be read'],
  [302, undefined, 'an address that cannot be read'],
])(
  'a redirect %i to %s is not followed, and the operator learns its origin',
  async (status, location, origin) => {
    let requests = 0
    answer = (response) => {
      requests += 1
      response.writeHead(status, location === undefined ? {} : { location }).end('<html>moved</html>')
    }
    const note = `redirect ${status} to ${origin === 'ours' ? agent.baseUrl : origin}`
    const failure = { reason: 'agent_misconfigured', note }
    await expect(open().next()).rejects.toMatchObject({ failure })
    const probe: HelperCall<never> = {
      request: { method: 'GET', url: `${agent.baseUrl}/probe`, headers: {} },
      read: () => expect.fail('a redirect is no answer'),
    }
    await expect(upstream.help(agent, probe, 1_000)).rejects.toMatchObject({ failure })
    expect(requests).toBe(2)
  },
)

test('an error that echoes what it was sent is read whole up to 1 MiB, and as a text beyond', async () => {
  const ours = createUpstream({ replyBytesMax: 4_096 * KIB, unsentBytesMax: KIB })
  const bodyOf = async (error: string) => {
    answer = (response) => response.writeHead(400).end(error)
    const part = await ours
      .open(agent, { method: 'POST', url: agent.baseUrl, headers: {}, body: '{}' })
      .next()
    return part.kind === 'body' && part.body
  }
  const error = (kib: number) => ({ error: { code: 'too_long', message: 'x'.repeat(kib * KIB) } })
  expect(await bodyOf(JSON.stringify(error(1_000)))).toEqual(error(1_000))
  const long = JSON.stringify(error(2_000))
  expect(await bodyOf(long)).toBe(long.slice(0, 1_024 * KIB))
  await ours.close()
})

test.each([
  ['reset', (response: ServerResponse) => response.socket?.resetAndDestroy()],
  ['closed', (response: ServerResponse) => response.socket?.end()],
])(
  'a connection that is %s in the middle is a truncated reply, after the events before it were delivered',
  async (_name, cut) => {
    const got = Promise.withResolvers<void>()
    answer = async (response) => {
      response.write('data: 1\n\n')
      await got.promise
      cut(response)
    }
    const reply = open()
    expect(await reply.next()).toMatchObject({ events: [{ data: '1' }] })
    got.resolve()
    expect(await readAll(reply)).toEqual({ events: [], fault: 'agent_truncated' })
  },
)

test('a reply whose connection closes before its declared end is truncated', async () => {
  answer = (response) => response.writeHead(200, { connection: 'close' }).write('data: 1\n\n')
  const reply = open()
  await reply.next()
  sockets[0]?.end()
  expect(await readAll(reply)).toEqual({ events: [], fault: 'agent_truncated' })
})

test('a connection that breaks before the first byte is not unreachable, as it may have carried the request', async () => {
  answer = (response) => response.socket?.resetAndDestroy()
  expect(await readAll(open())).toEqual({ events: [], fault: 'agent_truncated' })
})

test('a refused connection is reported as unreachable', async () => {
  const closed = createServer()
  await once(closed.listen(0, '127.0.0.1'), 'listening')
  const origin = originOf(closed)
  closed.close()
  await once(closed, 'close')
  expect(await readAll(open(origin))).toEqual({ events: [], fault: 'agent_unreachable' })
})

test('a reply that is not HTTP is malformed', async () => {
  const rogue = createTcpServer((socket) => socket.once('data', () => socket.end('no status line\r\n\r\n')))
  await once(rogue.listen(0, '127.0.0.1'), 'listening')
  expect(await readAll(open(originOf(rogue)))).toEqual({ events: [], fault: 'agent_malformed' })
  rogue.close()
})

test('a connection serves further calls after a reply that was read to its end', async () => {
  answer = (response) => response.end('data: 1\n\n')
  for (let call = 0; call < 10; call += 1) await readAll(open())
  // The next call may arrive before the connection has returned to the pool.
  expect(sockets.length).toBeLessThanOrEqual(2)
})

test('a cancelled reply closes its connection, and only that one', async () => {
  const closed = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  answer = (response) => {
    response.once('close', closed.resolve)
    response.write('data: 1\n\n')
  }
  const reply = open()
  await reply.next()
  answer = async (response) => {
    response.write('data: 2\n\n')
    await held.promise
    response.end()
  }
  const other = open()
  await other.next()
  const waiting = reply.next()
  reply.cancel(gone)
  await expect(waiting).rejects.toBe(gone)
  await expect(reply.next()).rejects.toBe(gone)
  await closed.promise
  held.resolve()
  expect(await other.next()).toEqual({ kind: 'end' })
})

test('a reply that is cancelled before it is connected is never sent', async () => {
  let requests = 0
  answer = (response) => {
    requests += 1
    response.end()
  }
  const reply = open()
  reply.cancel(gone)
  await expect(reply.next()).rejects.toBe(gone)
  await turns(3)
  expect(requests).toBe(0)
})

test('an interrupted reader rejects while the reply continues', async () => {
  const next = Promise.withResolvers<void>()
  answer = async (response) => {
    response.flushHeaders()
    await next.promise
    response.end('data: 1\n\n')
  }
  const reply = open()
  const waiting = reply.next()
  reply.interrupt(gone)
  await expect(waiting).rejects.toBe(gone)
  next.resolve()
  expect(await reply.next()).toMatchObject({ events: [{ data: '1' }] })
})

test('a helper call reads the whole reply as a body, even if it looks like an event stream', async () => {
  answer = (response) => response.writeHead(201, { 'x-log-id': 'l1' }).end('data: 1\n\n')
  const call: HelperCall<unknown> = {
    request: { method: 'POST', url: `${agent.baseUrl}/stop`, headers: {}, body: '{}' },
    read: (status, body, header) => ({ ok: [status, body, header('x-log-id')] }),
  }
  expect(await upstream.help(agent, call, 1_000)).toEqual({ ok: [201, 'data: 1\n\n', 'l1'] })
})

test('a helper call that gets no answer in time fails and closes its connection', async () => {
  const closed = Promise.withResolvers<void>()
  answer = (response) => response.once('close', closed.resolve)
  const call: HelperCall<never> = {
    request: { method: 'GET', url: `${agent.baseUrl}/probe`, headers: {} },
    read: () => expect.fail('nothing came'),
  }
  await expect(upstream.help(agent, call, 20)).rejects.toMatchObject({ reason: 'agent_timeout' })
  await closed.promise
})

test('closing ends the calls in flight', async () => {
  answer = (response) => response.write('data: 1\n\n')
  const reply = open()
  await reply.next()
  const waiting = readAll(reply)
  await upstream.close()
  expect((await waiting).fault).toBe('agent_truncated')
})

test.each([
  [404, '<html>This page could not be found</html>', 'older'],
  [405, '', 'older'],
  [404, '{"code":502000}', 'newer'],
  [500, '<html></html>', 'newer'],
  [200, '{}', 'newer'],
])(
  'a reply %i %s to a helper call is that of a path which exists: %s releases',
  async (status, body, answers) => {
    const paths: (string | undefined)[] = []
    answer = (response, { url, method }) => {
      paths.push(`${method} ${url}`)
      response.writeHead(url === '/new' ? status : 200).end(url === '/new' ? body : '{}')
    }
    const at = (method: 'PUT' | 'DELETE', path: string, name: string): HelperCall<string> => ({
      request: { method, url: agent.baseUrl + path, headers: {} },
      read: () => ({ ok: name }),
    })
    const call = { ...at('PUT', '/new', 'newer'), older: at('DELETE', '/old', 'older') }
    expect(await upstream.help(agent, call, 1_000)).toEqual({ ok: answers })
    expect(paths).toEqual(answers === 'older' ? ['PUT /new', 'DELETE /old'] : ['PUT /new'])
  },
)

test('a helper call that an older release is asked for as well has one time for both', async () => {
  answer = (response, { url }) => {
    if (url === '/new') response.writeHead(404).end()
  }
  const at = (path: string): HelperCall<never> => ({
    request: { method: 'GET', url: agent.baseUrl + path, headers: {} },
    read: () => ({ failure: { reason: 'agent_error' } }),
  })
  const asked = upstream.help(agent, { ...at('/new'), older: at('/old') }, 200)
  await expect(asked).rejects.toMatchObject({ reason: 'agent_timeout' })
})
