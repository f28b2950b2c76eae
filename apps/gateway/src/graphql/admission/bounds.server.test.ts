import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'
import * as parsing from '../mistakes/parse-document.ts'

/* How large a document may be, by whom it is sent, and how many may be refused. Each test has an address of its own. */

const REFUSALS_MAX = 60

let face: Face
let trusting: Face['app']
let folder: string

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

/** Far beyond every bound, trusted by one of the gateways. */
const REPORT = `query Report { ${times(60, (index) => `a${index}: me { ...U }`)} } fragment U on User { id username role status }`

beforeAll(async () => {
  face = await openFace({ refusedDocuments: REFUSALS_MAX, serverUrl: process.env.E2E_DATABASE_URL })
  folder = mkdtempSync(join(tmpdir(), 'trusted-'))
  const trustedDocuments = join(folder, 'documents.json')
  writeFileSync(
    trustedDocuments,
    JSON.stringify({ [createHash('sha256').update(REPORT).digest('hex')]: REPORT }),
  )
  const graphql = { introspection: false, graphiql: false, documents: 'trusted', trustedDocuments } as const
  trusting = await createServer({ ...face.config, graphql }, face.gateway, createLogger('silent'))
})
afterAll(async () => {
  await trusting?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true })
  await face?.close()
})

let addresses = 0
const newAddress = () => {
  addresses += 1
  return `198.51.100.${addresses}`
}

interface Sender {
  readonly from: string
  readonly credential?: string | undefined
  readonly accept?: string
  readonly app?: Face['app']
  readonly variables?: object | undefined
  readonly operationName?: string
}

async function send(
  query: string,
  { from, credential, accept = JSON_ONLY, app = face.app, variables, operationName }: Sender,
) {
  const headers = { accept, ...(credential !== undefined && { authorization: `Bearer ${credential}` }) }
  const response = await app.inject({
    method: 'POST',
    url: '/graphql',
    headers,
    payload: { query, variables, operationName },
    remoteAddress: from,
  })
  const { errors, data }: Any = response.json()
  return {
    ...response,
    status: response.statusCode,
    headers: response.headers,
    data,
    errors,
    code: errors?.[0].extensions.code,
  }
}

const JSON_ONLY = 'application/json'
const TOO_LARGE = 'operation_too_large'
const admin = () => face.callers.admin.credential

/** Documents of one size exactly, in the measure that the name says. Most are wrong in other ways, so that nothing of them runs. */
const SIZED = {
  tokens: (size: number) => `{ agents { id(a: [${'1 '.repeat(size - 12)}]) } } # ${'comment '.repeat(300)}`,
  // As many fragments as names may be equal.
  fields: (size: number) =>
    `{ ${'...F '.repeat(10)} } fragment F on Query { ${times(size / 10, (n) => `f${n}`)} }`,
  aliases: (size: number) => `{ ${times(size, (n) => `a${n}: __typename`)} }`,
  'fields with the same name': (size: number) => `{ ${'__typename '.repeat(size)} }`,
}

test.each([
  ['tokens', 250, 2_000, 1],
  ['fields', 250, 1_000, 10],
  ['aliases', 20, 500, 1],
  ['fields with the same name', 10, 50, 1],
] as const)(
  '%s have a bound of %d for strangers, and of %d with a valid credential',
  async (what, stranger, known, step) => {
    for (const [most, caller] of [
      [stranger, undefined],
      [known, 'admin'],
      [known, 'chat key'],
    ] as const) {
      const sender = { from: newAddress(), credential: caller && face.callers[caller].credential }
      expect((await send(SIZED[what](most), sender)).code).not.toBe(TOO_LARGE)
      const refused = await send(SIZED[what](most + step), sender)
      expect(refused).toMatchObject({ code: TOO_LARGE, data: undefined, status: 200 })
      expect(refused.errors[0].message).toContain(`at most ${most} ${what}`)
      expect(refused.errors[0].message.includes('without a valid credential')).toBe(caller === undefined)
      const accept = 'application/graphql-response+json'
      expect((await send(SIZED[what](most + step), { ...sender, accept })).status).toBe(400)
    }
  },
)

test('of a document with too many tokens no more is parsed than the bound allows', async () => {
  const parse = vi.spyOn(parsing, 'parseDocument')
  const query = `{ ${'me { id username role } '.repeat(240)} }`
  expect((await send(query, { from: newAddress() })).code).toBe(TOO_LARGE)
  expect(parse.mock.calls).toEqual([[query, 250]])
  expect(parse.mock.results[0]?.value.definitions).toEqual([])
  parse.mockRestore()
})

describe('a credential that is not valid is the reason, and never the size', () => {
  test.each([
    ['a malformed key', 'tl_none', 'credential_malformed'],
    ['a token that is none', 'eyJ.a.b', 'token_invalid'],
  ])('%s', async (_what, credential, code) => {
    for (const query of [
      `{ ${times(30, (n) => `a${n}: __typename`)} }`,
      `{ ${'me { id } '.repeat(240)} }`,
      `{ ${'me { id } '.repeat(3_000)} }`,
      '{ users(first: 100) { nodes { apiKeys(first: 100) { nodes { id name description } } } } }',
    ]) {
      const refused = await send(query, { from: newAddress(), credential })
      expect(refused).toMatchObject({ code, data: undefined, status: 401 })
      expect(refused.headers['www-authenticate']).toBe('Bearer')
      expect(refused.body).not.toContain('at most')
    }
  })

  test('of a document within the bounds each field says it by itself', async () => {
    const { status, data, errors } = await send('{ me { id } agents { id } }', {
      from: newAddress(),
      credential: 'eyJ.a.b',
    })
    expect([status, data.me, errors[0].path]).toEqual([200, null, ['me']])
  })

  test('the credential of a large document is looked up once', async () => {
    const look = vi.spyOn(face.gateway.services.authentication, 'authenticate')
    const query = `{ ${times(30, (n) => `a${n}: me { id }`)} }`
    expect((await send(query, { from: newAddress(), credential: admin() })).errors).toBeUndefined()
    expect(look).toHaveBeenCalledTimes(1)
    look.mockRestore()
  })
})

describe('what no bound applies to', () => {
  test('the introspection query of tools, which may be large, but not anything beside it', async () => {
    const large = getIntrospectionQuery({ inputValueDeprecation: true }).replace(
      'args',
      'moreArgs: args { ...InputValue } args',
    )
    const from = newAddress()
    for (const query of [getIntrospectionQuery(), large]) {
      const { errors, data } = await send(query, { from })
      expect(errors).toBeUndefined()
      expect(data.__schema.types.length).toBeGreaterThan(10)
    }
    const type = '__type(name: "User") { fields { name type { name kind } args { name description } } } '
    expect((await send(`{ ${times(20, (n) => `a${n}: ${type}`)} }`, { from })).errors).toBeUndefined()
    expect((await send(`{ ${times(21, (n) => `a${n}: ${type}`)} }`, { from })).code).toBe(TOO_LARGE)
    expect((await send(`{ me { id } ${times(20, (n) => `a${n}: ${type}`)} }`, { from })).code).toBe(TOO_LARGE)
  })

  test('documents that the gateway itself trusts', async () => {
    const from = newAddress()
    expect((await send(REPORT, { from, app: face.app })).code).toBe(TOO_LARGE)
    const { errors } = await send(REPORT, { from, app: trusting })
    expect(new Set(errors.map(({ extensions }: Any) => extensions.code))).toEqual(
      new Set(['credential_missing']),
    )
    expect((await send(REPORT, { from, app: trusting, credential: admin() })).errors).toBeUndefined()
  })
})

describe('an address that sends too many documents that are refused', () => {
  const close = async (from: string, query: string, credential?: string) => {
    const codes: string[] = []
    for (let count = 0; count < REFUSALS_MAX; count += 1)
      codes.push((await send(query, { from, credential })).code)
    return new Set(codes)
  }
  const LOGIN =
    'mutation { login(input: { username: "nobody-there", password: "wrong password" }) { expiresIn } }'
  /** A login that fails has reached the password, and is limited by its own count. */
  const expectOpenLogin = async (from: string, credential?: string) => {
    const { status, code } = await send(LOGIN, { from, credential })
    expect([status, code]).toEqual([200, 'login_failed'])
  }

  test.each([
    ['too large', `{ ${'me { id username role } '.repeat(240)} }`, TOO_LARGE],
    ['without a credential', '{ me { id } usage { granularity } }', 'credential_missing'],
    [
      'chats without a key',
      'mutation { chat(input: { agentId: "answering", query: "q" }) { text } }',
      'credential_missing',
    ],
  ])('is closed to strangers before the next is parsed: %s', async (_what, query, code) => {
    const from = newAddress()
    expect(await close(from, query)).toEqual(new Set([code]))

    const parse = vi.spyOn(parsing, 'parseDocument')
    const closed = await send('{ neverSeen: __typename }', { from })
    expect(closed).toMatchObject({ status: 429, code: 'rate_limited', data: undefined })
    expect(closed.errors[0].extensions).toMatchObject({ status: 429, retryAfterSeconds: expect.any(Number) })
    expect(Number(closed.headers['retry-after'])).toBeLessThan(60)
    expect(closed.headers['x-request-id']).toBeDefined()
    const url = `/graphql?query=${encodeURIComponent('{ neverSeen: __typename }')}`
    const headers = { accept: 'text/event-stream' }
    expect((await face.app.inject({ url, headers, remoteAddress: from })).statusCode).toBe(429)
    expect((await send('{ neverSeen: __typename }', { from, credential: 'eyJ.a.b' })).status).toBe(429)
    expect(parse).not.toHaveBeenCalled()

    expect((await send(`{ neverSeen: __typename } # ${query}`, { from: newAddress() })).status).toBe(200)
    expect(parse).toHaveBeenCalled()
    parse.mockRestore()
    for (const caller of ['admin', 'chat key'] as const) {
      const { credential } = face.callers[caller]
      expect((await send('{ agents { id } }', { from, credential })).errors).toBeUndefined()
    }
    await expectOpenLogin(from)
  })

  test('is open to strangers while it sends tokens that are not valid', async () => {
    const from = newAddress()
    expect(await close(from, '{ me { id } }', 'eyJ.a.b')).toEqual(new Set(['token_invalid']))
    expect((await send('{ me { id } }', { from, credential: 'eyJ.a.b' })).status).toBe(429)
    expect((await send('{ __typename }', { from })).status).toBe(200)
    expect((await send('{ me { id } }', { from, credential: admin() })).errors).toBeUndefined()
    await expectOpenLogin(from)
  })

  test('is closed to nobody else by the large documents of a valid caller, who may then send none', async () => {
    const from = newAddress()
    const { credential } = face.callers.neighbour
    const large = `{ ${times(400, (n) => `a${n}: me { id }`)} }`
    expect(await close(from, large, credential)).toEqual(new Set([TOO_LARGE]))
    const closed = await send(`${large} # again`, { from, credential })
    expect(closed).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(closed.errors[0].message).toContain('of this credential')
    expect(Number(closed.headers['retry-after'])).toBeLessThan(60)
    expect((await send('{ me { id } }', { from, credential })).errors).toBeUndefined()
    expect((await send('{ __typename }', { from })).status).toBe(200)
    expect((await send(large, { from, credential: admin() })).code).toBe(TOO_LARGE)
    await expectOpenLogin(from)
  })

  test('counts bodies over 16 kB without a valid credential, which are refused unread', async () => {
    const large = `{ agents { id } } # ${'x'.repeat(16_000)}`
    for (const [credential, status, code] of [
      [undefined, 413, 'body_too_large'],
      ['eyJ.a.b', 401, 'token_invalid'],
    ] as const) {
      const from = newAddress()
      const first = await send(large, { from, credential })
      expect(first).toMatchObject({ status, code, data: undefined })
      if (credential === undefined) {
        const cost = { requested: 'more than 16000', allowed: 16_000 }
        expect(first.errors[0].extensions).toMatchObject({ status, cost })
      }
      expect(await close(from, large, credential)).toEqual(new Set([code, 'rate_limited']))
      expect((await send(large, { from, credential })).status).toBe(429)
      expect((await send(large, { from, credential: admin() })).errors).toBeUndefined()
      await expectOpenLogin(from)
    }
  })

  test('may log in and do nothing beside it', async () => {
    const from = newAddress()
    await close(from, '{ me { id } }')
    const login = LOGIN.slice('mutation { '.length, -2)
    for (const query of [
      `mutation { ${login} logout { ok } }`,
      `mutation { a: ${login} b: ${login} }`,
      `{ login: agents { id } }`,
      `mutation { ${login} } # ${'large '.repeat(500)}`,
      `mutation { ${login.replace(
        'expiresIn',
        times(130, (n) => `a${n}: expiresIn`),
      )} }`,
    ]) {
      expect((await send(query, { from })).status, query.slice(0, 80)).toBe(429)
    }
    // Clients send the expired token of before with the login as well.
    await expectOpenLogin(from, 'eyJ.a.b')
    const many = `query A { me { id } } ${LOGIN.replace('mutation', 'mutation B')}`
    expect((await send(many, { from, operationName: 'A' })).status).toBe(429)
    expect((await send(many, { from, operationName: 'B' })).code).toBe('login_failed')
  })

  test('counts neither documents of which something is answered, nor those that do not fit, nor failed logins', async () => {
    const from = newAddress()
    const filter = 'query ($filter: CallFilter) { calls(filter: $filter) { totalCount } }'
    for (let count = 0; count < REFUSALS_MAX; count += 1) {
      await send('{ me { id } agents { id } }', { from })
      await send('{ nothing }', { from })
      await send('{ me {', { from })
      await send('{ usage(groupBy: [agent]) { granularity } }', { from })
      await send(filter, { from, variables: { filter: { outcome: ['FOO'] } } })
      if (count < 12) await send(LOGIN, { from })
    }
    expect((await send('{ __typename }', { from })).status).toBe(200)
  })
})

describe('a chat in a URL', () => {
  const chat = 'chat(input: { agentId: "answering", query: "Hello" }) { __typename }'
  const calls = async () => (await face.query('admin', '{ calls { totalCount } }')).data.calls.totalCount

  test.each([
    ['a subscription', `subscription { ${chat} }`],
    ['a subscription in a fragment', `subscription { ...C } fragment C on Subscription { ... { ${chat} } }`],
    ['a subscription with an alias', `subscription { usageUpdated: ${chat} }`],
    ['a mutation', `mutation { chat(input: { agentId: "answering", query: "Hello" }) { text } }`],
  ])('%s is 405 and not counted', async (_what, query) => {
    const before = await calls()
    const authorization = `Bearer ${face.callers['chat key'].credential}`
    for (const accept of ['text/event-stream', '*/*', JSON_ONLY]) {
      for (const method of ['GET', 'HEAD'] as const) {
        const url = `/graphql?query=${encodeURIComponent(query)}`
        const response = await face.app.inject({ method, url, headers: { authorization, accept } })
        expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST'])
        if (method === 'GET') expect(response.json().errors[0].extensions.code).toBe('method_not_allowed')
      }
    }
    expect(await calls()).toBe(before)
  })

  test('live usage is answered still', async () => {
    const origin = await face.app.listen({ host: '127.0.0.1', port: 0 })
    const query = encodeURIComponent('subscription { usageUpdated { day } }')
    const left = new AbortController()
    const response = await fetch(`${origin}/graphql?query=${query}`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${face.callers['chat key'].credential}`,
      },
      signal: left.signal,
    })
    expect(response.status).toBe(200)
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (text.includes('event: next')) break
    }
    expect(text).toContain('usageUpdated')
    left.abort()
  })
})
