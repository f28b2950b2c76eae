import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rowsOf } from '#core/database/table-rows.test-support.ts'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import {
  ANN,
  ANSWERING_AGENT,
  BOB,
  type CallerName,
  type Callers,
  END_USER_HEADER,
  openCallers,
} from './callers.test-support.ts'

/*
 * Who may do what is in the tables, with a row for every method, operation and field, whose callers are bound as well. This is what
 * requests say of their end users, and what two of one key have to do with each other.
 */

let all: Callers
let app: FastifyInstance

beforeAll(async () => {
  all = await openCallers({ chatsPerMinute: 10_000, bindsEndUsers: true })
  app = await createServer(all.config, all.gateway, createLogger('silent'))
})
afterAll(async () => {
  await app?.close()
  await all?.close()
})

interface Asked extends Pick<InjectOptions, 'method' | 'payload'> {
  readonly as?: CallerName
  readonly endUser?: string | undefined
  readonly headers?: Record<string, string>
}

function ask(url: string, { as = 'chat key', endUser, method, payload, headers }: Asked = {}) {
  return app.inject({
    method: method ?? (payload === undefined ? 'GET' : 'POST'),
    url,
    headers: {
      authorization: `Bearer ${all.callers[as].credential}`,
      ...(endUser !== undefined && { [END_USER_HEADER]: endUser }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  })
}

const CHAT = {
  ...{
    app_id: '',
    chat_id: '',
    conversation_id: '',
    stream: false,
    detail: false,
    query: 'Hello',
    files: [],
  },
}

function chat(asked: Omit<Asked, 'payload'> = {}, body: object = {}) {
  const headers = { agent: ANSWERING_AGENT, ...asked.headers }
  return ask('/api/v1/chat', { ...asked, headers, payload: { ...CHAT, ...body } })
}

async function endUserOf(callId: unknown): Promise<string | undefined> {
  const call = await all.gateway.prisma.call.findUnique({ where: { id: String(callId) } })
  return call?.endUser
}

async function upload(endUser?: string, fields: Record<string, string> = {}, as: CallerName = 'upload key') {
  const form = new FormData()
  for (const [name, value] of Object.entries({ created_by: 'a test', ...fields })) form.set(name, value)
  form.set('file', new File(['a text'], 'a.txt'))
  const body = new Response(form)
  const payload = Buffer.from(await body.arrayBuffer())
  const headers = { 'content-type': body.headers.get('content-type') ?? '' }
  return ask('/api/v1/upload', { as, endUser, payload, headers })
}

const graphql = (query: string, asked: Omit<Asked, 'payload'> = {}) =>
  ask('/graphql', { ...asked, payload: { query } })

const ON_EVERY_FACE: [string, (asked: Omit<Asked, 'payload'>, user: string) => ReturnType<typeof ask>][] = [
  ['/chat', (asked, user) => chat(asked, { user })],
  [
    '/chat/completions',
    (asked, user) =>
      ask('/api/v1/chat/completions', {
        ...asked,
        payload: { model: ANSWERING_AGENT, user, messages: [{ role: 'user', content: 'Hello' }] },
      }),
  ],
  [
    '/responses',
    (asked, user) =>
      ask('/api/v1/responses', { ...asked, payload: { model: ANSWERING_AGENT, user, input: 'Hello' } }),
  ],
  [
    'GraphQL',
    (asked, user) =>
      graphql(
        `mutation { chat(input: { agentId: "${ANSWERING_AGENT}", query: "Hello", endUser: "${user}" }) { callId } }`,
        asked,
      ),
  ],
]

describe.each(ON_EVERY_FACE)('a chat by %s', (face, chatBy) => {
  async function endUserBy(asked: Omit<Asked, 'payload'>): Promise<string | undefined> {
    const response = await chatBy(asked, 'claimed')
    expect(response.statusCode, response.body).toBe(200)
    const body = response.json()
    if (face === '/responses') expect(body.user ?? '').toBe(await endUserOf(response.headers['x-call-id']))
    return endUserOf(body.data?.chat.callId ?? response.headers['x-call-id'])
  }

  test('is of the end user that the header names, and not of the one that it names itself', async () => {
    expect(await endUserBy({ endUser: BOB })).toBe(BOB)
    expect(await endUserBy({ endUser: encodeURIComponent('Zoë') })).toBe('Zoë')
    expect(await endUserBy({ as: 'admin key of a user', endUser: BOB })).toBe(BOB)
  })

  test('without the header is of no end user, unless its key acts for the owner', async () => {
    expect(await endUserBy({})).toBe('')
    expect(await endUserBy({ endUser: '' })).toBe('')
    expect(await endUserBy({ as: 'admin key of a user' })).toBe('claimed')
  })

  test.each([
    ['a%0Ab', 'no control characters'],
    ['a%ZZ', 'percent-encoded UTF-8'],
    ['x'.repeat(257), 'at most 256 characters'],
    ['(other)', 'stands for several end users'],
  ])('is refused if the header is %j, but only to those who have a valid key', async (endUser, why) => {
    const refused = await chatBy({ endUser }, 'ann')
    expect(refused.body).toContain(`headers.${END_USER_HEADER}: `)
    expect(refused.body).toContain(why)
    const headers = { authorization: `Bearer ${all.callers['chat key'].credential.slice(0, -1)}` }
    const unknown = await chatBy({ endUser, headers }, 'ann')
    expect(unknown.body).not.toContain(END_USER_HEADER)
  })
})

describe('an upload', () => {
  test('is of the end user that the header names, in its record and in the ledger, and not of the one in its form', async () => {
    const { id, end_user: endUser } = (await upload(BOB, { end_user: ANN })).json().data
    expect(endUser).toBe(BOB)
    const { callId } = await all.gateway.prisma.upload.findUniqueOrThrow({ where: { id } })
    expect(await endUserOf(callId)).toBe(BOB)
  })

  test('without the header is of no end user, unless its key acts for the owner', async () => {
    expect((await upload(undefined, { end_user: ANN })).json().data.end_user).toBe('')
    const byManager = await upload(undefined, { end_user: ANN }, 'admin key of a user')
    expect(byManager.json().data.end_user).toBe(ANN)
  })

  test('of another end user of the same owner is not found by a chat, which is rejected', async () => {
    const { url } = (await upload(ANN)).json().data
    const uses = (asked: Omit<Asked, 'payload'>) => chat(asked, { files: [url] })
    expect((await uses({ endUser: ANN })).statusCode).toBe(200)
    for (const endUser of [BOB, undefined]) {
      const refused = await uses({ endUser })
      expect([refused.statusCode, refused.json()]).toMatchObject([
        404,
        { reason: 'upload_not_found', detail: expect.stringContaining('body.files[0]') },
      ])
      await vi.waitFor(async () => {
        const where = { requestId: String(refused.headers['x-request-id']) }
        const [call] = await all.gateway.prisma.call.findMany({ where })
        expect(call).toMatchObject({
          outcome: 'rejected',
          reason: 'upload_not_found',
          endUser: endUser ?? '',
        })
      })
    }
    const image = { type: 'image_url', image_url: { url } }
    const completion = await ask('/api/v1/chat/completions', {
      endUser: BOB,
      payload: { model: ANSWERING_AGENT, messages: [{ role: 'user', content: [image] }] },
    })
    expect([completion.statusCode, completion.json().error.code]).toEqual([404, 'upload_not_found'])
  })
})

describe('an Idempotency-Key', () => {
  const kept = (key: string) => ({ headers: { 'idempotency-key': key } })
  const readReply = (call: string, asked: Asked = {}) =>
    ask(`/api/v1/calls/${encodeURIComponent(call)}/reply`, asked)
  const stop = (call: string, asked: Asked = {}) =>
    ask(`/api/v1/calls/${encodeURIComponent(call)}/stop`, { ...asked, method: 'POST' })

  test('is of one end user: that of another is another key, for the call and for its reply', async () => {
    const ofAnn = await chat({ endUser: ANN, ...kept('order-1') }, { query: 'Is it mine?' })
    const ofBob = await chat({ endUser: BOB, ...kept('order-1') })
    const ofNobody = await chat(kept('order-1'), { query: 'Or no one’s?' })
    const calls = [ofAnn, ofBob, ofNobody].map(({ headers }) => String(headers['x-call-id']))
    expect(new Set(calls).size).toBe(3)
    const [callOfAnn = '', callOfBob = '', callOfNobody] = calls
    for (const [endUser, call, body] of [
      [ANN, callOfAnn, ofAnn.body],
      [BOB, callOfBob, ofBob.body],
      [undefined, callOfNobody, ofNobody.body],
    ]) {
      const reply = await readReply('key:order-1', { endUser })
      expect([reply.headers['x-call-id'], reply.body]).toEqual([call, body])
    }
    const again = await chat({ endUser: ANN, ...kept('order-1') }, { query: 'Is it mine?' })
    expect([again.headers['idempotent-replayed'], again.headers['x-call-id']]).toEqual(['true', callOfAnn])
    const other = await chat({ endUser: ANN, ...kept('order-1') }, { query: 'Another question' })
    expect(other.statusCode).toBe(422)
    for (const endUser of [BOB, undefined]) {
      const path = `/api/v1/calls/${callOfAnn}`
      for (const response of [
        await readReply(callOfAnn, { endUser }),
        await ask(`${path}/stream`, { endUser }),
        await stop(callOfAnn, { endUser }),
        await ask(`${path}/reply`, { endUser, method: 'DELETE' }),
        await ask(`${path}/feedback`, { endUser, method: 'PUT', payload: { rating: 'up' } }),
      ]) {
        expect([response.statusCode, response.json().reason]).toEqual([404, 'call_not_found'])
      }
    }
    expect((await readReply(callOfAnn, { endUser: ANN })).statusCode).toBe(200)
  })

  test('of a key that acts for its owner is the same whether or not the owner trusts a header', async () => {
    await chat({ as: 'admin key of a user', ...kept('order-2') })
    const owned = { owner_id: all.callers.user.principal?.userId ?? '' }
    const [keptCall] = await rowsOf<{ keyId: string }>(all.database.sql, 'kept_calls', owned)
    const [claim] = await all.database.sql.query(
      "SELECT FROM idempotency_keys WHERE key_id = $1::uuid AND hash = sha256('order-2')",
      [keptCall?.keyId],
    )
    expect(claim).toBeDefined()
  })

  test('stands for a call that another key of the owner stops for the same end user, and an administrator for anybody', async () => {
    const call = String((await chat({ endUser: ANN, ...kept('order-3') })).headers['x-call-id'])
    const second = all.secondKey.credential
    const by = (credential: string, endUser?: string) =>
      stop(call, { endUser, headers: { authorization: `Bearer ${credential}` } })
    expect((await by(second, BOB)).statusCode).toBe(404)
    expect((await by(second)).statusCode).toBe(404)
    expect((await by(second, ANN)).json().data).toEqual({ call_id: call, outcome: 'done' })
    for (const as of ['premium', 'admin', 'admin key of an admin'] as const) {
      expect((await stop(call, { as })).statusCode, as).toBe(200)
      expect((await stop(call, { as, endUser: BOB })).statusCode, as).toBe(404)
    }
    expect((await stop('key:order-3', { endUser: ANN })).statusCode).toBe(200)
    expect((await stop('key:order-3', { endUser: BOB })).statusCode).toBe(404)
  })
})

describe('a conversation', () => {
  test('that two end users name alike is two', async () => {
    const listed = async (endUser?: string, as: CallerName = 'chat key') =>
      (await ask('/api/v1/conversations?conversation=shared', { as, endUser })).json().data.items
    for (const endUser of [ANN, BOB]) await chat({ endUser }, { chat_id: 'shared' })
    const of = async (endUser: string) => vi.waitFor(async () => (await listed(endUser))[0].id, 5_000)
    expect(await of(ANN)).not.toBe(await of(BOB))
    expect(await listed()).toEqual([])
    expect(await listed(undefined, 'premium')).toHaveLength(2)
    const filtered = await ask(`/api/v1/conversations?end_user=${encodeURIComponent(ANN)}`, { endUser: BOB })
    expect(filtered.json().data.items).toEqual([])
  })
})

describe('a report', () => {
  const groups = async (asked: Asked, query = '') => {
    const response = await ask(`/api/v1/usage?group_by=end_user${query}`, asked)
    return response.json().data.groups.map(({ group }: { group: { end_user: string } }) => group.end_user)
  }

  test('has only the end user of the request, whatever it is grouped and filtered by', async () => {
    for (const endUser of [ANN, BOB]) {
      await chat({ endUser })
      await vi.waitFor(async () => expect(await groups({ endUser })).toEqual([endUser]), 5_000)
    }
    expect(await groups({ endUser: BOB }, `&end_user=${encodeURIComponent(ANN)}`)).toEqual([])
    for (const as of ['premium', 'admin', 'admin key of an admin'] as const) {
      expect(await groups({ as, endUser: BOB }), as).toEqual([BOB])
      expect(await groups({ as }), as).toEqual(expect.arrayContaining([ANN, BOB]))
    }
    const path = `/api/v1/usage?group_by=conversation&agent=${ANSWERING_AGENT}`
    const ofBob = (await ask(path, { endUser: BOB })).json().data.totals.calls
    const ofOwner = (await ask(path, { as: 'premium' })).json().data.totals.calls
    expect(ofBob).toBeGreaterThan(0)
    expect(ofBob).toBeLessThan(ofOwner)
    const csv = await ask('/api/v1/calls?format=csv', { endUser: BOB })
    expect(csv.body).toContain(BOB)
    expect(csv.body).not.toContain(ANN)
  })

  test('of refusals is for those who are bound to no end user, since they are recorded without', async () => {
    for (const path of ['/api/v1/refusals', '/api/v1/refusals/counts', '/api/v1/refusals?format=csv']) {
      for (const endUser of [ANN, undefined]) {
        const refused = await ask(path, { endUser })
        expect([refused.statusCode, refused.json().detail]).toEqual([
          403,
          'This is recorded without end users, and the request is bound to one.',
        ])
      }
      expect((await ask(path, { as: 'premium' })).statusCode).toBe(200)
    }
  })
})

test('the header takes no rights of the management, and gives none', async () => {
  for (const as of ['premium', 'admin', 'admin key of an admin'] as const) {
    expect((await ask('/api/v1/api-keys', { as, endUser: BOB })).statusCode, as).toBe(200)
  }
  expect((await ask('/api/v1/api-keys', { endUser: BOB })).statusCode).toBe(403)
})

test('a header that was sent twice is refused', async () => {
  const refused = await ask('/api/v1/calls', { headers: { [END_USER_HEADER]: [ANN, BOB] as never } })
  expect([refused.statusCode, refused.json().detail]).toEqual([
    400,
    `headers.${END_USER_HEADER}: was sent more than once.`,
  ])
})

describe('where every bound request must name an end user', () => {
  let strict: Callers
  let strictApp: FastifyInstance

  beforeAll(async () => {
    strict = await openCallers({ bindsEndUsers: true, requiresEndUsers: true })
    strictApp = await createServer(strict.config, strict.gateway, createLogger('silent'))
  })
  afterAll(async () => {
    await strictApp?.close()
    await strict?.close()
  })

  const REQUIRED = `headers.${END_USER_HEADER}: is required; expected an end user.`
  const send = (as: CallerName, init: InjectOptions) =>
    strictApp.inject({
      ...init,
      headers: {
        agent: ANSWERING_AGENT,
        authorization: `Bearer ${strict.callers[as].credential}`,
        ...init.headers,
      },
    })
  const MESSAGES = { model: ANSWERING_AGENT, messages: [{ role: 'user', content: 'Hello' }] }
  const REQUESTS: [string, InjectOptions][] = [
    ['a chat', { method: 'POST', url: '/api/v1/chat', payload: CHAT }],
    ['a chat completion', { method: 'POST', url: '/api/v1/chat/completions', payload: MESSAGES }],
    ['a list', { url: '/api/v1/calls' }],
    ['a reply', { url: '/api/v1/calls/key:order-1/reply' }],
    [
      'a field of GraphQL',
      { method: 'POST', url: '/graphql', payload: { query: '{ calls(first: 1) { nodes { id } } }' } },
    ],
    [
      'a chat over GraphQL',
      {
        method: 'POST',
        url: '/graphql',
        payload: {
          query: `mutation { chat(input: { agentId: "${ANSWERING_AGENT}", query: "Hello" }) { callId } }`,
        },
      },
    ],
  ]

  test.each(REQUESTS)('%s without the header is 400 that names it, every time', async (_what, init) => {
    for (const _again of [1, 2]) {
      const { body } = await send('chat key', init)
      expect(body).toContain(REQUIRED)
      expect(body).toContain('"invalid_request"')
    }
    const named = await send('chat key', { ...init, headers: { [END_USER_HEADER]: BOB } })
    expect(named.body).not.toContain(REQUIRED)
    expect((await send('admin key of a user', init)).body).not.toContain(REQUIRED)
  })

  test('an upload without the header is 400 before its body is read', async () => {
    const refused = await send('upload key', { method: 'POST', url: '/api/v1/upload', payload: 'no form' })
    expect([refused.statusCode, refused.json()]).toMatchObject([
      400,
      { reason: 'invalid_request', detail: REQUIRED, fields: [{ field: `headers.${END_USER_HEADER}` }] },
    ])
  })

  test('people with access tokens need not send it', async () => {
    for (const as of ['premium', 'admin'] as const)
      expect((await send(as, { url: '/api/v1/calls' })).statusCode).toBe(200)
  })
})
