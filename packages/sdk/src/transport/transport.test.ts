import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { withGraphQL } from '../graphql.ts'
import {
  AbortError,
  ConnectionError,
  InvalidResponseError,
  ServiceUnavailableError,
  TimeoutError,
  TokenExpiredError,
  Trunkline,
} from '../index.ts'

type Handler = (request: Request) => Response | Promise<Response>

const success = (data: unknown) => Response.json({ code: 0, msg: 'Success', data })
const refusal = (status: number, reason: string, headers: Record<string, string> = {}) =>
  Response.json({ code: status, msg: '', detail: '', reason, request_id: 'r' }, { status, headers })
const lost = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

beforeEach(() => {
  // `setImmediate` stays real: bodies are read in turns of the event loop.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A client whose requests get these answers one after the other; the last one is repeated. */
function clientWith(answers: Handler[], options: Partial<ConstructorParameters<typeof Trunkline>[0]> = {}) {
  const requests: Request[] = []
  const client = new Trunkline({
    baseURL: 'http://gateway.test/',
    fetch: async (input, init) => {
      const request = new Request(input, init)
      requests.push(request)
      const answer = answers[Math.min(requests.length, answers.length) - 1]
      if (answer === undefined) throw new Error('no answer')
      return await answer(request)
    },
    ...options,
  })
  return { client, requests }
}

/** Lets all waits pass, each only when nothing else goes on any more, and returns how the call ended. */
async function ended<T>(call: Promise<T>): Promise<PromiseSettledResult<T>> {
  const results: PromiseSettledResult<T>[] = []
  void Promise.allSettled([call]).then((settled) => results.push(...settled))
  for (;;) {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    const [result] = results
    if (result !== undefined) return result
    await vi.advanceTimersToNextTimerAsync()
  }
}

const fails =
  (error: unknown): Handler =>
  () => {
    throw error
  }

/** An answer that never comes, as that of a socket: it ends only with the request's signal. */
const silence: Handler = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

describe('a request', () => {
  test('with a credential that cannot be sent says so without it, and is not sent', async () => {
    const warned: unknown[] = []
    const { client, requests } = clientWith([() => success({})], {
      apiKey: 'tl_secret1\ntl_secret2',
      logger: { warn: (text) => warned.push(text) },
    })
    const error = await client.agents.list().catch((thrown: unknown) => thrown)
    const shown = await client.chat.stream({ query: 'Hello' }).toResponse().text()
    expect(error).toMatchObject({ message: 'A header is invalid.' })
    expect([inspect(error), shown, ...warned].join()).not.toContain('tl_secret')
    expect(requests).toEqual([])
  })

  test('has the defaults of fields that are undefined', async () => {
    const { client, requests } = clientWith([() => Response.json({})], { apiKey: 'tl_key' })
    await client.chat.create({ agent: 'dify', query: 'Hello', chat_id: undefined, files: undefined })
    const talk = client.chat.conversation({ agent: 'dify', id: 'c' })
    await talk.create({ query: 'Hello', chat_id: undefined })
    const bodies = await Promise.all(requests.map((request) => request.json()))
    expect(bodies).toMatchObject([
      { chat_id: '', files: [], app_id: '' },
      { chat_id: 'c', conversation_id: 'c' },
    ])
  })

  test('of a list begins at the cursor that it is given', async () => {
    const { client, requests } = clientWith([() => success({ items: [], next_cursor: null })])
    await client.apiKeys.list({ limit: 2, cursor: 'next' })
    expect(requests[0]?.url).toMatch(/limit=2&cursor=next$/)
  })

  test('has its URL, the query without what is undefined, and the headers of client and call', async () => {
    const { client, requests } = clientWith([() => success({ items: [], next_cursor: null })], {
      baseURL: 'http://gateway.test/prefix/api/v1/',
      accessToken: 'token',
      headers: { 'x-app': 'client', 'x-both': 'client' },
    })
    await client.usage.query(
      { group_by: ['agent', 'key'], timezone: 'Asia/Shanghai' },
      { headers: { 'x-both': 'call' } },
    )
    const [request] = requests
    expect(request?.url).toBe(
      'http://gateway.test/prefix/api/v1/usage?group_by=agent%2Ckey&timezone=Asia%2FShanghai',
    )
    expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
      authorization: 'Bearer token',
      'x-app': 'client',
      'x-both': 'call',
    })
  })

  test('an id is one segment of the path', async () => {
    const { client, requests } = clientWith([() => success({})])
    await client.users.get('../api-keys?x')
    expect(requests[0]?.url).toBe('http://gateway.test/api/v1/users/..%2Fapi-keys%3Fx')
  })

  test('a chat has all seven fields', async () => {
    const { client, requests } = clientWith([() => Response.json({ choices: [] })], { apiKey: 'tl_key' })
    await client.chat.create({ agent: 'dify', query: 'Hello', user: 'u' })
    expect(requests[0]?.headers.get('agent')).toBe('dify')
    expect(await requests[0]?.json()).toEqual({
      app_id: '',
      chat_id: '',
      conversation_id: '',
      detail: false,
      files: [],
      query: 'Hello',
      stream: false,
      user: 'u',
    })
  })
})

describe('retries', () => {
  test('a read is repeated after 503 and after a lost connection', async () => {
    const answers = [() => refusal(503, 'unavailable'), fails(lost('ECONNRESET')), () => success({ id: '1' })]
    const { client, requests } = clientWith(answers)
    expect(await ended(client.me())).toEqual({ status: 'fulfilled', value: { id: '1' } })
    expect(requests).toHaveLength(3)
  })

  test('the last error is the one that is thrown', async () => {
    const { client, requests } = clientWith([() => refusal(503, 'draining')])
    expect(await ended(client.me({ maxRetries: 1 }))).toMatchObject({
      reason: expect.any(ServiceUnavailableError),
    })
    expect(requests).toHaveLength(2)
  })

  test.each([
    ['chat', (client: Trunkline) => client.chat.create({ query: 'Hello' })],
    [
      'key',
      (client: Trunkline) =>
        client.apiKeys.create({ name: '', description: '', expires_at: '', permissions: [] }),
    ],
    ['user', (client: Trunkline) => client.users.create({ username: '', password: '' })],
  ])('a %s that may have arrived is not sent again', async (_name, call) => {
    for (const answer of [() => refusal(503, 'unavailable'), fails(lost('ECONNRESET'))]) {
      const { client, requests } = clientWith([answer], { apiKey: 'tl_key' })
      expect((await ended<unknown>(call(client))).status).toBe('rejected')
      expect(requests).toHaveLength(1)
    }
    const refused = clientWith([fails(lost('ECONNREFUSED'))], { apiKey: 'tl_key' })
    expect(await ended<unknown>(call(refused.client))).toMatchObject({ reason: expect.any(ConnectionError) })
    expect(refused.requests).toHaveLength(3)
    const advising = () => refusal(503, 'unavailable', { 'x-should-retry': 'true' })
    const advised = clientWith([advising], { apiKey: 'tl_key' })
    await ended<unknown>(call(advised.client))
    expect(advised.requests).toHaveLength(3)
  })

  test.each<[string, (client: Trunkline) => Promise<unknown>]>([
    [
      'users.changePassword',
      (client) => client.users.changePassword({ current_password: 'a', new_password: 'b' }),
    ],
    ['users.setPassword', (client) => client.users.setPassword('1', { password: 'b' })],
    ['logout', (client) => client.logout()],
    ['apiKeys.resetUsage', (client) => client.apiKeys.resetUsage('1', { period: 'day' })],
    ['a mutation', (client) => withGraphQL(client).query('mutation { changeMyPassword { user { id } } }')],
  ])('%s is sent again only where no connection was made', async (_name, call) => {
    const advised = () => refusal(503, 'unavailable', { 'x-should-retry': 'true' })
    for (const answer of [advised, fails(lost('ECONNRESET')), fails(new TypeError('Failed to fetch'))]) {
      const { client, requests } = clientWith([answer], { accessToken: 'token' })
      expect((await ended(call(client))).status).toBe('rejected')
      expect(requests).toHaveLength(1)
    }
    const { client, requests } = clientWith([fails(lost('ECONNREFUSED')), () => success({})], {
      accessToken: 'token',
    })
    expect((await ended(call(client))).status).toBe('fulfilled')
    expect(requests).toHaveLength(2)
  })

  test('a rotation whose answer was lost is sent again, since it replaces the secret that nobody has got', async () => {
    const { client, requests } = clientWith([fails(lost('ECONNRESET')), () => success({ id: '1' })], {
      accessToken: 'token',
    })
    expect(await ended(client.apiKeys.rotate('1'))).toMatchObject({ value: { id: '1' } })
    expect(requests).toHaveLength(2)
  })

  describe('of a delete', () => {
    const gone = () => refusal(404, 'upload_not_found')
    test.each([
      ['a lost answer', fails(lost('ECONNRESET'))],
      ['a failure of the gateway', () => refusal(503, 'unavailable')],
    ])('that finds nothing any more after %s is a success', async (_name, first) => {
      const { client, requests } = clientWith([first, gone], { accessToken: 'token' })
      const result = await ended(client.uploads.delete('u-1').withResponse())
      expect(result).toMatchObject({
        status: 'fulfilled',
        value: { data: { id: 'u-1' }, response: { status: 404 } },
      })
      expect(requests).toHaveLength(2)
    })

    test.each<[string, Handler[]]>([
      ['at once', [gone]],
      ['after an attempt that did not arrive', [fails(lost('ECONNREFUSED')), gone]],
      ['after an attempt that was refused', [() => refusal(429, 'rate_limited'), gone]],
      ['from something else', [fails(lost('ECONNRESET')), () => refusal(404, 'route_not_found')]],
    ])('that finds nothing %s is a failure', async (_name, answers) => {
      const { client } = clientWith(answers, { accessToken: 'token' })
      expect(await ended(client.uploads.delete('u-1'))).toMatchObject({ reason: { status: 404 } })
    })
  })

  test('an abort ends the wait for the next attempt', async () => {
    const controller = new AbortController()
    const answer = () => {
      queueMicrotask(() => setTimeout(() => controller.abort('enough'), 1))
      return refusal(503, 'unavailable', { 'retry-after': '30' })
    }
    const { client, requests } = clientWith([answer])
    const result = await ended(client.me({ signal: controller.signal }))
    expect(result).toMatchObject({ reason: expect.any(AbortError) })
    expect(result).toMatchObject({ reason: { cause: 'enough' } })
    expect(requests).toHaveLength(1)
  })

  test('each is told to the logger, without credentials', async () => {
    const warn = vi.fn()
    const { client } = clientWith([() => refusal(503, 'unavailable'), () => success({})], {
      accessToken: 'secret',
      logger: { warn },
    })
    await ended(client.me())
    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn.mock.calls[0]?.[0]).toContain('GET /users/me')
    expect(warn.mock.calls[0]?.[0]).not.toContain('secret')
  })
})

describe('ends of a call', () => {
  test('a response that does not come is a TimeoutError, which is not repeated', async () => {
    const { client, requests } = clientWith([silence])
    expect(await ended(client.me({ timeoutMs: 1000 }))).toMatchObject({ reason: expect.any(TimeoutError) })
    expect(requests).toHaveLength(1)
  })

  test.each([
    [1000, { timeoutMs: 1000 }, { timeoutMs: 5000 }],
    [5000, {}, { timeoutMs: 5000 }],
    [60_000, {}, {}],
  ])(
    'it has %i ms: the option of the call, that of the client, or the default',
    async (ms, call, options) => {
      const { client } = clientWith([silence], options)
      expect(await ended(client.me(call))).toMatchObject({
        reason: { message: `No response within ${ms} ms.` },
      })
    },
  )

  test('a timeout that is longer than timers can be does not pass at once', async () => {
    const { client } = clientWith([silence])
    const controller = new AbortController()
    const call = client.me({ timeoutMs: Number.POSITIVE_INFINITY, signal: controller.signal })
    const failed = expect(call).rejects.toBeInstanceOf(AbortError)
    await vi.advanceTimersByTimeAsync(1_000_000)
    controller.abort()
    await failed
  })

  test('an abort is an AbortError, before and during the request', async () => {
    const { client, requests } = clientWith([silence])
    await expect(client.me({ signal: AbortSignal.abort() })).rejects.toBeInstanceOf(AbortError)
    expect(requests).toHaveLength(0)
    const controller = new AbortController()
    const call = client.me({ signal: controller.signal })
    await vi.advanceTimersByTimeAsync(1)
    controller.abort()
    await expect(call).rejects.toBeInstanceOf(AbortError)
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each(['', '<html>', '[]', '"text"', '{"code":0}'])(
    'a success with the body %j is an InvalidResponseError',
    async (body) => {
      const { client } = clientWith([() => new Response(body)])
      await expect(client.me()).rejects.toBeInstanceOf(InvalidResponseError)
    },
  )

  test('a rejected call is reported once, whichever of its promises is awaited', async () => {
    const { client } = clientWith([() => refusal(404, 'user_not_found')])
    await expect(client.users.get('1').withResponse()).rejects.toMatchObject({ reason: 'user_not_found' })
  })
})

test('with both credentials, chats take the key and the rest the token', async () => {
  const { client, requests } = clientWith([() => Response.json({ choices: [], data: {} })], {
    apiKey: 'tl_key',
    accessToken: 'token',
  })
  await client.chat.create({ agent: 'dify', query: 'Hello' })
  await client.apiKeys.current()
  await client.uploads.create(new Blob(['x']), { created_by: 'ada' })
  await client.me()
  const bearers = requests.map(({ headers }) => headers.get('authorization'))
  expect(bearers).toEqual(['Bearer tl_key', 'Bearer tl_key', 'Bearer tl_key', 'Bearer token'])
})

describe('tokens', () => {
  const login = { access_token: 'first', token_type: 'bearer', expires_in: 60, user: {} }

  test('that have expired are an error of their own, without a request', async () => {
    const { client, requests } = clientWith([() => success(login)])
    await client.login({ username: 'alice', password: 'secret' })
    await client.me()
    vi.advanceTimersByTime(60_000)
    await expect(client.me()).rejects.toBeInstanceOf(TokenExpiredError)
    expect(requests).toHaveLength(2)
    expect(JSON.stringify(client)).not.toContain('secret')
  })

  test('that the gateway calls expired are the same error', async () => {
    const { client } = clientWith([() => refusal(401, 'token_expired')], { accessToken: 'old' })
    await expect(client.me()).rejects.toBeInstanceOf(TokenExpiredError)
  })

  test('are renewed before their end, and a creating call is then sent once more', async () => {
    let renewals = 0
    const getAccessToken = () => ({ access_token: `token ${++renewals}`, expires_in: 60 })
    const { client, requests } = clientWith(
      [() => success({}), () => success({}), () => refusal(401, 'token_revoked'), () => success({})],
      { getAccessToken },
    )
    await client.me()
    vi.advanceTimersByTime(58_000)
    await client.me()
    await client.users.create({ username: 'bob', password: 'secret' })
    const bearers = requests.map(({ headers }) => headers.get('authorization'))
    expect(bearers).toEqual(['Bearer token 1', 'Bearer token 2', 'Bearer token 2', 'Bearer token 3'])
  })

  test('are waited for no longer than the call, and asked for once a call however short they live', async () => {
    const stuck = clientWith([() => success({})], { getAccessToken: () => new Promise(() => {}) })
    expect(await ended(stuck.client.me({ timeoutMs: 500 }))).toMatchObject({
      reason: expect.any(TimeoutError),
    })
    const leaving = new AbortController()
    const call = stuck.client.me({ signal: leaving.signal })
    leaving.abort()
    await expect(call).rejects.toBeInstanceOf(AbortError)

    let renewals = 0
    const short = clientWith([() => success({})], {
      getAccessToken: () => ({ access_token: `token ${++renewals}`, expires_in: 3 }),
    })
    await short.client.me()
    await short.client.me()
    expect(renewals).toBe(1)
  })

  test('are forgotten by a logout also where they are over already', async () => {
    const { client, requests } = clientWith([() => refusal(401, 'token_revoked'), () => success({})], {
      accessToken: 'over',
    })
    await client.logout()
    await client.me()
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer over', null])
  })

  test('are not renewed to be ended', async () => {
    const getAccessToken = vi.fn(() => 'next')
    const { client, requests } = clientWith([() => refusal(401, 'token_expired')], {
      accessToken: 'over',
      getAccessToken,
    })
    await client.logout()
    expect(requests).toHaveLength(1)
    expect(getAccessToken).not.toHaveBeenCalled()
  })

  test('that are refused twice are given up', async () => {
    const { client, requests } = clientWith([() => refusal(401, 'token_invalid')], {
      getAccessToken: () => 'bad',
    })
    await expect(client.me()).rejects.toMatchObject({ reason: 'token_invalid' })
    expect(requests).toHaveLength(2)
  })
})

test('an answer that is not of a gateway asks about the base URL, and one of a gateway does not', async () => {
  const html = { 'content-type': 'text/html' }
  for (const answer of [
    () => new Response('<h1>Not found</h1>', { status: 404, headers: html }),
    () => new Response('<!doctype html>', { headers: html }),
    () => Response.json({ detail: 'Not Found' }, { status: 404 }),
    () => Response.json({ ok: true }),
  ]) {
    await expect(clientWith([answer]).client.agents.list()).rejects.toThrow(/ Is baseURL a gateway\?$/)
  }
  for (const answer of [
    () => refusal(404, 'call_not_found'),
    () => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { ...html, 'x-request-id': 'r' } }),
  ]) {
    const failed = clientWith([answer], { maxRetries: 0 }).client.agents.list()
    await expect(failed).rejects.not.toThrow(/baseURL/)
  }
})
