import { afterEach, describe, expect, test, vi } from 'vitest'
import { ChatClient } from './chat-client.ts'
import { type ClientOptions, readChatStream, Trunkline, TrunklineError } from './index.ts'

const baseURL = 'http://gateway.test'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

/** A client whose requests are kept, each answered by 204 pages of nothing. */
function clientWith(options: ClientOptions = {}) {
  const requests: Request[] = []
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    requests.push(new Request(url, init))
    return Response.json({ data: { items: [], next_cursor: null } })
  }
  return { client: new Trunkline({ baseURL, fetch, ...options }), requests }
}

describe.each([
  ['Trunkline', (options?: object) => new Trunkline(options)],
  ['ChatClient', (options?: object) => new ChatClient(options)],
])('%s', (_, create) => {
  test.each<[string, object | undefined]>([
    ['baseURL (TRUNKLINE_URL)', undefined],
    ['baseURL (TRUNKLINE_URL)', {}],
    ['baseURL (TRUNKLINE_URL)', { baseURL: '' }],
    ['baseURL', { baseURL: 'gateway.example.com' }],
    ['baseURL', { baseURL: 'localhost:8080' }],
    ['baseURL', { baseURL: 'ftp://gateway.example.com' }],
    ['baseURL', { baseURL: 'https://user:secret@gateway.example.com' }],
    ['baseURL', { baseURL: 'https://gateway.example.com?key=secret' }],
    ['maxRetries', { baseURL, maxRetries: Number.NaN }],
    ['maxRetries', { baseURL, maxRetries: -1 }],
    ['timeoutMs', { baseURL, timeoutMs: -1 }],
    ['timeoutMs', { baseURL, timeoutMs: Number.NaN }],
    ['idleTimeoutMs', { baseURL, idleTimeoutMs: -5 }],
    ['baseUrl must be named baseURL', { baseUrl: baseURL }],
    ['timeout must be named timeoutMs', { baseURL, timeout: 5000 }],
    ['idleTimeout must be named idleTimeoutMs', { baseURL, idleTimeout: 5000 }],
    ['apikey must be named apiKey', { baseURL, apikey: 'secret' }],
  ])('%s is named where it is at fault: %j', (name, options) => {
    vi.stubEnv('TRUNKLINE_URL', '')
    const making = () => create(options)
    expect(making).toThrow(TrunklineError)
    expect(making).toThrow(name)
    expect(making).not.toThrow('secret')
  })

  test.each([
    'http://127.0.0.1:8080',
    'https://gateway.example.com/',
    'HTTPS://gateway.example.com/api/v1',
    'http://[::1]:8080/proxied',
    new URL('http://127.0.0.1:8080') as never,
  ])('%s is an address', (address) => {
    expect(() => create({ baseURL: address, timeoutMs: 0, idleTimeoutMs: 0, maxRetries: 0 })).not.toThrow()
  })
})

describe('a call', () => {
  test.each<object>([
    { timeoutMs: -1 },
    { maxRetries: Number.NaN },
    { timeoutMs: Number.NaN },
    // Programs in JavaScript would wait for a time-out that they believe to have set.
    { timeout: 5000 },
  ])('with options at fault is not sent: %j', async (options) => {
    const { client, requests } = clientWith()
    const [name = ''] = Object.keys(options)
    await expect(client.agents.list(options)).rejects.toThrow(name)
    await expect(client.chat.create({ query: 'Hello' }, options)).rejects.toThrow(name)
    await expect(client.chat.stream({ query: 'Hello' }, options).text()).rejects.toThrow(name)
    await expect(client.uploads.create(new Blob(['a']), { created_by: 'a' }, options)).rejects.toThrow(name)
    expect(requests).toEqual([])
  })

  test('without its arguments is refused by the gateway, which names what it misses', async () => {
    const { client, requests } = clientWith({ apiKey: 'tl_any' })
    const none = undefined as never
    await client.chat.create(none)
    await client.chat.conversation({ agent: 'dify' }).create(none)
    await client.login(none).catch(() => undefined)
    await client.users.create(none)
    await client.chat
      .stream(none)
      .text()
      .catch(() => undefined)
    expect(requests).toHaveLength(5)
  })

  test('whose stream may be silent for a negative time is not sent', async () => {
    const { client, requests } = clientWith()
    const options = { idleTimeoutMs: -1 }
    await expect(client.chat.stream({ query: 'Hello' }, options).text()).rejects.toThrow('idleTimeoutMs')
    await expect(client.usage.csv({}, options)).rejects.toThrow('idleTimeoutMs')
    await expect(readChatStream(new Response(''), options).next()).rejects.toThrow('idleTimeoutMs')
    expect(requests).toEqual([])
  })

  test.each(['', '.', '..', undefined, 5])('with the id %j is not sent', async (given) => {
    const { client, requests } = clientWith()
    const id = given as string
    for (const call of [
      client.apiKeys.get(id),
      client.apiKeys.update(id, {}),
      client.apiKeys.rotate(id),
      client.apiKeys.revoke(id),
      client.apiKeys.resetUsage(id, { period: 'day' }),
      client.uploads.get(id),
      client.uploads.delete(id),
      client.users.get(id),
      client.users.update(id, {}),
      client.users.setPassword(id, { password: 'a long passphrase' }),
    ])
      await expect(call).rejects.toThrow('id must be a text that is not empty')
    expect(requests).toEqual([])
  })

  test('takes dates, and refuses those that are none', async () => {
    const { client, requests } = clientWith({ apiKey: 'tl_any' })
    const from = new Date('2026-10-01T00:00:00Z')
    await client.usage.query({ from, group_by: ['agent', 'end_user'] })
    await client.apiKeys.create({ name: 'a', description: 'b', permissions: ['chat'], expires_at: from })
    expect(new URL(requests[0]?.url ?? '').searchParams.get('from')).toBe('2026-10-01T00:00:00.000Z')
    expect(new URL(requests[0]?.url ?? '').searchParams.get('group_by')).toBe('agent,end_user')
    expect(await requests[1]?.json()).toMatchObject({ expires_at: '2026-10-01T00:00:00.000Z' })
    const none = new Date('none')
    await expect(client.usage.query({ from: none })).rejects.toThrow('query.from must be a valid date')
    await expect(
      client.apiKeys.create({ name: 'a', description: 'b', permissions: ['chat'], expires_at: none }),
    ).rejects.toThrow('body.expires_at must be a valid date')
    expect(requests).toHaveLength(2)
  })
})

describe('the environment', () => {
  const sent = async (options: ClientOptions) => {
    const { client, requests } = clientWith(options)
    await client.agents.list()
    const [request] = requests
    return [request && new URL(request.url).host, request?.headers.get('authorization')]
  }

  test('says where and who, unless options do', async () => {
    vi.stubEnv('TRUNKLINE_URL', ' http://other.test ')
    vi.stubEnv('TRUNKLINE_API_KEY', 'tl_environment')
    expect(await sent({ baseURL: undefined })).toEqual(['other.test', 'Bearer tl_environment'])
    expect(await sent({})).toEqual(['gateway.test', 'Bearer tl_environment'])
    expect(await sent({ apiKey: 'tl_given' })).toEqual(['gateway.test', 'Bearer tl_given'])
  })

  test('gives no key beside a credential', async () => {
    vi.stubEnv('TRUNKLINE_API_KEY', 'tl_environment')
    for (const options of [{ accessToken: 'token' }, { getAccessToken: () => 'token' }]) {
      const { client, requests } = clientWith(options)
      await client.chat.create({ query: 'Hello' })
      expect(requests[0]?.headers.get('authorization')).toBe('Bearer token')
    }
  })

  test('that may not be read is none', () => {
    const env = new Proxy(
      {},
      {
        get: () => {
          throw new Error('Requires env access')
        },
      },
    )
    vi.stubGlobal('process', { ...process, env })
    expect(() => new Trunkline({ baseURL })).not.toThrow()
    expect(() => new Trunkline()).toThrow('baseURL')
  })
})

describe('an API key in a browser', () => {
  const page = () => vi.stubGlobal('window', { document: {} })
  const worker = () => vi.stubGlobal('importScripts', () => undefined)

  test.each([
    ['a page', page],
    ['a web worker', worker],
  ])('needs permission in %s', (_, enter) => {
    enter()
    for (const Client of [Trunkline, ChatClient]) {
      expect(() => new Client({ baseURL, apiKey: 'tl_secret' })).toThrow('dangerouslyAllowBrowser')
      expect(() => new Client({ baseURL, apiKey: 'tl_secret' })).not.toThrow('tl_secret')
      expect(() => new Client({ baseURL, apiKey: 'tl_secret', dangerouslyAllowBrowser: true })).not.toThrow()
      expect(() => new Client({ baseURL })).not.toThrow()
    }
    expect(() => new Trunkline({ baseURL, accessToken: 'token' })).not.toThrow()
  })

  test('needs none on a server, workers included', () => {
    expect(() => new Trunkline({ baseURL, apiKey: 'tl_secret' })).not.toThrow()
    vi.stubGlobal('window', globalThis)
    expect(() => new Trunkline({ baseURL, apiKey: 'tl_secret' })).not.toThrow()
    worker()
    vi.stubGlobal('Deno', {})
    expect(() => new Trunkline({ baseURL, apiKey: 'tl_secret' })).not.toThrow()
  })
})

describe('withOptions', () => {
  test('replaces what is given, and keeps the rest', async () => {
    const { client, requests } = clientWith({ apiKey: 'tl_first', headers: { 'x-kept': 'yes' } })
    await client.withOptions({ agent: 'dify' }).chat.create({ query: 'Hello' })
    await client.withOptions({ apiKey: 'tl_second' }).chat.create({ query: 'Hello' })
    expect(requests.map(({ headers }) => [headers.get('agent'), headers.get('authorization')])).toEqual([
      ['dify', 'Bearer tl_first'],
      [null, 'Bearer tl_second'],
    ])
    expect(requests.map(({ headers }) => headers.get('x-kept'))).toEqual(['yes', 'yes'])
  })

  test('shares a later login, but with no other address', async () => {
    const requests: Request[] = []
    const fetch = async (url: string | URL | Request, init?: RequestInit) => {
      requests.push(new Request(url, init))
      return Response.json({ data: { access_token: 'logged in', items: [], next_cursor: null } })
    }
    const client = new Trunkline({ baseURL, fetch })
    const patient = client.withOptions({ timeoutMs: 0 })
    const elsewhere = client.withOptions({ baseURL: 'http://elsewhere.test' })
    await client.login({ username: 'alice', password: 'a long passphrase' })
    await patient.agents.list()
    await elsewhere.agents.list()
    expect(requests.slice(1).map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer logged in',
      null,
    ])
  })
})

// A test that fails must not leave its clock to the other files of the worker.
afterEach(() => vi.useRealTimers())

test('the log has each attempt as fields', async () => {
  const lines: [string, object][] = []
  const answers = [new Response('', { status: 503, headers: { 'x-request-id': 'r1', 'retry-after': '0' } })]
  const logger = {
    debug: (message: string, fields: object) => lines.push([message, fields]),
    warn: (message: string, fields: object) => lines.push([message, fields]),
  }
  const fetch = async () =>
    answers.shift() ?? Response.json({ data: { items: [] } }, { headers: { 'x-request-id': 'r2' } })
  vi.useFakeTimers()
  const listed = new Trunkline({ baseURL, fetch, logger }).agents.list()
  // Only the wait before the retry may pass: a body is read in real time, in which the time limit of the request must not.
  await vi.waitFor(() => expect(lines).toHaveLength(2))
  await vi.advanceTimersByTimeAsync(10_000)
  await listed
  vi.useRealTimers()
  const elapsedMs = expect.any(Number)
  const request = { method: 'GET', path: '/agents' }
  const failed = { ...request, retries: 0, status: 503, requestId: 'r1', error: 'ServiceUnavailableError' }
  expect(lines).toEqual([
    ['GET /agents: 503', { ...failed, elapsedMs }],
    [expect.stringContaining('retry 1 in'), { ...failed, delayMs: expect.any(Number) }],
    ['GET /agents: 200', { ...request, retries: 1, status: 200, requestId: 'r2', elapsedMs }],
  ])
})

test("every request tells the version, which a header of one's own replaces", async () => {
  const { client, requests } = clientWith()
  await client.agents.list()
  await client.agents.list({ headers: { 'trunkline-client': 'mine' } })
  expect(requests.map(({ headers }) => headers.get('trunkline-client'))).toEqual([
    expect.stringMatching(/^js\/\d+\.\d+\.\d+/),
    'mine',
  ])
})
