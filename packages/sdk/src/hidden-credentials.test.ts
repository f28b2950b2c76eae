import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { sampled } from '../../../test/support/sampled.ts'
import { ChatClient } from './chat.ts'
import { withGraphQL } from './graphql.ts'
import { type ClientOptions, Trunkline } from './index.ts'

const KEY = 'tl_marker-of-the-api-key'
const TOKEN = 'eyJ.marker-of-the-token.x'
const RENEWED = 'eyJ.marker-of-the-renewed-token.x'
const HEADER = 'marker-of-a-header'
const PASSWORD = 'marker-of-the-password'
const NEW_PASSWORD = 'marker-of-the-new-password'

/** Node forgets the signal of a request that nothing holds, and silence would never end. A real one is held by its socket. */
const sent: Request[] = []

type Answer = (request: Request) => Response | Promise<Response>

/** Clients with every credential, whose requests all get this answer, and the lines of their log. */
function clientsWith(answer: Answer, more: Partial<ClientOptions> = {}) {
  const lines: string[] = []
  const log = (line: string) => void lines.push(line)
  const options = {
    baseURL: 'http://gateway.test',
    apiKey: KEY,
    accessToken: TOKEN,
    getAccessToken: () => ({ access_token: RENEWED, expires_in: 60 }),
    headers: { 'x-proxy-token': HEADER },
    agent: 'dify',
    maxRetries: 0,
    timeoutMs: 1_000,
    logger: { debug: log, warn: log },
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init)
      sent.push(request)
      return await answer(request)
    },
    ...more,
  }
  return { client: new Trunkline(options), chatClient: new ChatClient(options), lines }
}

/** Everything that can be reached from a value by its own properties, those of its prototypes, and its entries. */
function reachableFrom(start: unknown): unknown[] {
  const seen = new Set<unknown>([start])
  for (const value of seen) {
    if (Object(value) !== value) continue
    const object: object = Object(value)
    // The built-in classes hold nothing of ours, and some of their getters throw.
    const parent: unknown = Object.getPrototypeOf(object)
    if (typeof parent === 'object' && parent !== null && !isBuiltIn(parent)) seen.add(parent)
    for (const key of Reflect.ownKeys(object)) {
      seen.add(key)
      const { get, value: own } = Object.getOwnPropertyDescriptor(object, key) ?? {}
      seen.add(get === undefined ? own : attempt(() => get.call(isClass(object) ? start : object)))
    }
    if (object instanceof Error) seen.add(object.message).add(object.stack).add(object.cause)
    if (object instanceof Headers || object instanceof Map) for (const entry of object) seen.add(entry)
    if (object instanceof Request) seen.add(object.headers)
  }
  return [...seen]
}

function isBuiltIn(prototype: object): boolean {
  const { constructor: owner } = prototype
  return typeof owner !== 'function' || /\[native code\]/.test(Function.prototype.toString.call(owner))
}
const isClass = (object: object) => Object.hasOwn(object, 'constructor')

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Every form in which a value may be written down. */
function formsOf(value: unknown): string {
  const texts = reachableFrom(value).filter((each) => typeof each === 'string' || typeof each === 'symbol')
  return [
    attempt(() => JSON.stringify(value)),
    String(attempt(() => String(value))),
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
    inspect(value, { depth: Number.POSITIVE_INFINITY, getters: true }),
    inspect(
      attempt(() => structuredClone(value)),
      { depth: Number.POSITIVE_INFINITY },
    ),
    ...texts.map(String),
  ].join('\n')
}

const SECRETS = [KEY, TOKEN, RENEWED, HEADER, PASSWORD, NEW_PASSWORD]
const shownIn = (value: unknown) => SECRETS.filter((secret) => formsOf(value).includes(secret))

const echo = async (request: Request) =>
  `${[...request.headers].map((header) => header.join(': ')).join('\n')}\n${await request.text()}`

/** What an implementation of `fetch`, a proxy or a debugging page may do. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  'an error page that repeats the request': async (request) =>
    new Response(`<html>${await echo(request)}</html>`, { status: 502 }),
  'a refusal that repeats the request': async (request) =>
    Response.json({ detail: await echo(request), msg: 'No.', reason: 'invalid_request' }, { status: 400 }),
  'a refusal of the token': () => Response.json({ reason: 'token_expired' }, { status: 401 }),
  'a GraphQL error beside the data': () =>
    Response.json({
      data: { login: { accessToken: RENEWED } },
      errors: [{ message: 'No.', extensions: { code: 'user_not_found' } }],
    }),
  'an error that holds the request': (request) => {
    throw Object.assign(new TypeError('fetch failed'), { request })
  },
  'an error that holds the options': (request) => {
    const headers = Object.fromEntries(request.headers)
    throw Object.assign(new TypeError('fetch failed'), { config: { url: request.url, headers } })
  },
  'an error whose cause holds the request': (request) => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { request }) })
  },
  'an error that repeats the header': (request) => {
    throw new TypeError(`cannot send ${request.headers.get('authorization')}`)
  },
  'something else that is thrown': (request) => {
    throw { request }
  },
  'a stream that breaks with the request': (request) =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.error(Object.assign(new TypeError('terminated'), { request }))
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    ),
  'a body that is no JSON': async (request) => new Response(await echo(request)),
  silence: ({ signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
}

const CALLS: Readonly<Record<string, (client: Trunkline, chatClient: ChatClient) => Promise<unknown>>> = {
  chat: (client) => client.chat.create({ query: 'Hello' }),
  'chat of the small client': (_client, { chat }) => chat.create({ query: 'Hello' }),
  'a stream': (client) => client.chat.stream({ query: 'Hello' }).text(),
  me: (client) => client.me(),
  login: (client) => client.login({ username: 'ada', password: PASSWORD }),
  'users.create': (client) => client.users.create({ username: 'ada', password: PASSWORD }),
  'users.setPassword': (client) => client.users.setPassword('1', { password: NEW_PASSWORD }),
  'users.changePassword': (client) =>
    client.users.changePassword({ current_password: PASSWORD, new_password: NEW_PASSWORD }),
  'an upload': (client) => client.uploads.create(new Blob(['x']), { created_by: 'ada' }),
  'a download': async (client) => await (await client.usage.csv()).text(),
  'a query': (client) => withGraphQL(client).query('{ me { id } }'),
  'a subscription': (client) =>
    withGraphQL(client).subscribe('subscription { usageUpdated { calls } }').next(),
}

const ANSWERED = Object.entries(ANSWERS).flatMap(([answerName, answer]) =>
  Object.entries(CALLS).map(([callName, call]) => ({ answerName, answer, callName, call })),
)

test.each(sampled(ANSWERED))('$answerName shows no credential: $callName', async ({ answer, call }) => {
  const { client, chatClient, lines } = clientsWith(answer)
  const error = await call(client, chatClient).catch((thrown: unknown) => thrown)
  if (error instanceof Error) expect(shownIn(error)).toEqual([])
  expect(shownIn(lines)).toEqual([])
  expect(shownIn(client)).toEqual([])
  expect(shownIn(chatClient)).toEqual([])
})

test('the log of a repeated request has no credential either', async () => {
  const answer = ANSWERS['an error that repeats the header'] ?? expect.unreachable()
  const { client, lines } = clientsWith(answer, { maxRetries: 1 })
  await expect(client.me()).rejects.toThrow('***')
  expect(lines.join()).toContain('retry 1 in')
  expect(shownIn(lines)).toEqual([])
})

test('no object of a client shows a credential', async () => {
  const { client, chatClient } = clientsWith(() =>
    Response.json({ code: 0, data: { items: [], next_cursor: null, access_token: 'other', expires_in: 60 } }),
  )
  await client.login({ username: 'ada', password: PASSWORD })
  const page = client.agents.list()
  const stream = client.chat.stream({ query: 'Hello' })
  const talk = client.chat.conversation({ id: 'c' })
  const gql = withGraphQL(client)
  await page
  for (const object of [client, chatClient, page, await page.withResponse(), stream, talk, gql]) {
    expect(shownIn(object)).toEqual([])
  }
  expect(shownIn(gql.subscribe('subscription { usageUpdated { calls } }'))).toEqual([])
  expect(JSON.stringify(client)).not.toContain('marker')
})

test('credentials in the address are refused without being repeated', () => {
  const options = { baseURL: `https://ada:${PASSWORD}@gateway.test` }
  for (const Client of [Trunkline, ChatClient]) {
    const error = attempt(() => new Client(options)) ?? thrownBy(() => new Client(options))
    expect(error).toMatchObject({ name: 'TrunklineError' })
    expect(shownIn(error)).toEqual([])
  }
})

function thrownBy(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}

test('an error of fetch that shows nothing stays the cause, as it is', async () => {
  const cause = new TypeError('fetch failed', {
    cause: Object.assign(new AggregateError([new Error('::1')], ''), {
      code: 'ECONNREFUSED',
      socket: { port: 1 },
    }),
  })
  const { client } = clientsWith(() => {
    throw cause
  })
  const error = await client.me().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'ConnectionError', wasConnected: false })
  expect(error instanceof Error && error.cause).toBe(cause)
})
