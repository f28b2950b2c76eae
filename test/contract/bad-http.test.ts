import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ContractGateway, startContractGateway } from '../support/contract/contract-gateway.ts'
import { exchange } from '../support/contract/raw.ts'
import { send } from '../support/contract/send.ts'

// A process, because Node answers malformed HTTP before any route does, which only bytes on a socket show.

let gateway: ContractGateway
beforeAll(async () => {
  gateway = await startContractGateway()
})
afterAll(() => gateway?.remove())

const health = (...lines: string[]) =>
  `${['GET /healthz HTTP/1.1', 'Connection: close', ...lines].join('\r\n')}\r\n\r\n`

describe('Host', () => {
  test.each(['localhost', 'EXAMPLE.com:8080', '127.0.0.1:1', '[::1]:8080'])(
    '%s is accepted',
    async (host) => {
      expect((await exchange(gateway.url, health(`Host: ${host}`))).status).toBe(200)
    },
  )

  test('is optional in HTTP/1.0', async () => {
    expect((await exchange(gateway.url, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200)
  })

  test.each([
    ['is missing', []],
    ['is sent twice', ['Host: a', 'Host: a']],
    ['is empty', ['Host:']],
    ['has a path', ['Host: a/graphql?x=']],
    ['has a user', ['Host: a@b']],
    ['is a list', ['Host: a, b']],
    ['has a blank', ['Host: a b']],
    ['has no port after its colon', ['Host: a:']],
    ['has a port that does not exist', ['Host: a:123456']],
    ['is half of an IPv6 address', ['Host: [::1']],
  ])('that %s gets 400', async (_what, lines) => {
    const answer = await exchange(gateway.url, health(...lines))
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      code: 400,
      reason: 'invalid_host',
      detail: expect.stringMatching(/^host: /),
    })
  })
})

describe('malformed HTTP', () => {
  test.each([
    ['a greeting', 'hello\r\n\r\n'],
    ['a TLS handshake', Buffer.from('16030100c8010000c40303', 'hex')],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', health('Host: a').replace('GET', 'FETCH')],
    ['a path with a blank', health('Host: a').replace('/healthz', '/health z')],
    ['lines that end otherwise', 'GET /healthz HTTP/1.1\nHost: a\n\n'],
    ['a NUL in a header', health('Host: a', 'X: a\0b')],
    ['two lengths', health('Host: a', 'Content-Length: 1', 'Content-Length: 2')],
    ['a length and chunks', health('Host: a', 'Content-Length: 1', 'Transfer-Encoding: chunked')],
  ])('with %s gets 400 in the usual shape', async (_what, bytes) => {
    const { status, headers, body } = await exchange(gateway.url, bytes)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 400, reason: 'invalid_request', request_id: headers['x-request-id'] })
    expect(headers.connection).toBe('close')
  })

  test.each([
    ['headers', health('Host: a', `X: ${'x'.repeat(20_000)}`)],
    ['a path', health('Host: a').replace('healthz', 'x'.repeat(20_000))],
  ])('with %s without end gets 431', async (_what, bytes) => {
    const { status, headers, body } = await exchange(gateway.url, bytes)
    expect(status).toBe(431)
    expect(body).toMatchObject({
      code: 431,
      reason: 'headers_too_large',
      request_id: headers['x-request-id'],
    })
  })
})

test.each(['/nothing', '/api/v1', '/api/v2/chat', '/API/V1/CHAT', '/api/v1//chat', '/api/v1/chat/x'])(
  'the path %s is not found',
  async (path) => {
    const { body } = await send(gateway.url, { method: 'POST', path, as: gateway.key.full_key, body: {} })
    expect(body).toMatchObject({
      code: 404,
      reason: 'route_not_found',
      detail: expect.stringContaining(path),
    })
  },
)

test.each(['/%', '/%zz', '/api/v1/%ff'])('the path %s is rejected as malformed', async (path) => {
  const { body } = await send(gateway.url, { method: 'GET', path })
  expect(body).toMatchObject({
    code: 400,
    reason: 'invalid_request',
    detail: expect.stringMatching(/^path: /),
  })
})

test('a body far over the limit gets a response instead of a reset', async () => {
  const answer = await send(gateway.url, {
    method: 'POST',
    path: '/api/v1/login',
    body: 'x'.repeat(16 * 1024 * 1024),
  })
  expect(answer.body).toMatchObject({ code: 413, reason: 'body_too_large' })
  expect(answer.headers.connection).not.toBe('close')
})

test('HEAD returns the headers of GET without a body, and OPTIONS names the methods', async () => {
  const head = await send(gateway.url, { method: 'HEAD', path: '/healthz' })
  expect(head).toMatchObject({ status: 200, text: '' })
  const nothing = await send(gateway.url, { method: 'HEAD', path: '/nothing' })
  expect(nothing).toMatchObject({ status: 404, text: '' })
  const options = await send(gateway.url, { method: 'OPTIONS', path: '/api/v1/chat' })
  expect(options.status).toBe(204)
  expect(options.headers['access-control-allow-methods']).toContain('POST')
})

test('an unknown Expect header is ignored', async () => {
  const { status, headers } = await exchange(gateway.url, health('Host: a', 'Expect: a-miracle'))
  expect(status).toBe(200)
  expect(headers['x-request-id']).toBeDefined()
})

describe('X-Request-Id', () => {
  const idOf = async (sent: string) =>
    (await send(gateway.url, { method: 'GET', path: '/healthz', headers: { 'x-request-id': sent } })).headers[
      'x-request-id'
    ]

  test.each(['a', '4bf92f35-77b3/4da6', 'x'.repeat(128)])('%s is kept', async (id) => {
    expect(await idOf(id)).toBe(id)
  })

  test.each(['', 'a b', 'a,b', '"a"', '<a>', '{a}', 'x'.repeat(129)])('"%s" is replaced', async (id) => {
    expect(await idOf(id)).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('is replaced if it was sent twice', async () => {
    const { headers } = await exchange(gateway.url, health('Host: a', 'X-Request-Id: a', 'X-Request-Id: a'))
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})
