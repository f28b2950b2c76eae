import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatBody } from '../support/api.ts'
import { operationOf } from '../support/contract/contract.ts'
import {
  type ContractGateway,
  inventedKey,
  type OperationRequest,
  startContractGateway,
} from '../support/contract/contract-gateway.ts'
import { expectDocumented, reasonOf } from '../support/contract/expect-documented.ts'
import { exchange } from '../support/contract/raw.ts'
import type { Answer } from '../support/contract/send.ts'

// A process, because the order of all checks, from the limit of an address to the ledger, is that of a whole gateway.

let gateway: ContractGateway
beforeAll(async () => {
  gateway = await startContractGateway({ refusedKeys: { points: 10_000 } })
})
afterAll(() => gateway?.remove())

async function chat(change: Record<string, unknown> = {}, more: OperationRequest = {}): Promise<Answer> {
  const answer = await gateway.send('chat', {
    as: gateway.key.full_key,
    headers: { agent: 'fastgpt' },
    body: chatBody(change),
    ...more,
  })
  expectDocumented(operationOf('chat'), answer)
  return answer
}

describe('files', () => {
  test.each([
    'https://example.com/a.png',
    'http://example.com:8080/a%20b?c=d#e',
    'https://93.184.215.14/a',
    'https://[2606:4700::1111]/a',
    'https://例え.jp/ファイル.pdf',
  ])('at the URL %s are accepted', async (url) => {
    expect((await chat({ files: [url] })).status).toBe(200)
  })

  test.each([
    '',
    'a.png',
    '//example.com/a',
    'ftp://example.com/a',
    'file:///etc/passwd',
    'data:text/plain,a',
    'https://user:password@example.com/',
    'https://user@example.com/',
    'https://:password@example.com/',
    `https://example.com/${'x'.repeat(2_048)}`,
    // file-urls.test.ts has every spelling of a host that is not public.
    ...['127.0.0.1', '[::1]', '169.254.169.254', 'intranet'].map((host) => `http://${host}/a`),
  ])('at the URL %s are rejected', async (url) => {
    const { body } = await chat({ files: ['https://example.com/a', url] })
    expect(body).toMatchObject({
      code: 400,
      reason: 'invalid_request',
      detail: expect.stringMatching(/^body\.files\[1\]: expected /),
    })
  })

  test('may number at most 20', async () => {
    const files = Array.from({ length: 21 }, (_, index) => `https://example.com/${index}`)
    expect((await chat({ files: files.slice(1) })).status).toBe(200)
    expect((await chat({ files })).body).toMatchObject({
      code: 400,
      detail: expect.stringMatching(/^body\.files: /),
    })
  })
})

describe('ids', () => {
  const long = 'x'.repeat(256)
  const fields = ['app_id', 'chat_id', 'conversation_id', 'user']

  test.each(fields)('%s accepts up to 256 characters of plain text', async (field) => {
    for (const id of [long, 'ünïcödé 😀 / ? # %']) expect((await chat({ [field]: id })).status).toBe(200)
    for (const id of [`${long}x`, 'a\u0000b', 'a\nb', 'a\u007fb', 'a\u0085b', '\ud800', 'a\udc00b']) {
      const { body } = await chat({ [field]: id })
      expect(body, JSON.stringify(id)).toMatchObject({
        code: 400,
        reason: 'invalid_request',
        detail: expect.stringMatching(new RegExp(`^body\\.${field}: expected `)),
      })
    }
  })

  test.each([
    ['fastgpt', { app_id: '' }, 400, 'app_id_required'],
    ['fastgpt', { app_id: ' \t' }, 400, 'invalid_request'],
    ['fastgpt', { app_id: '  ' }, 400, 'app_id_required'],
    ['apps', { app_id: '' }, 400, 'app_id_required'],
    ['apps', { app_id: 'three' }, 404, 'app_not_found'],
    ['hiagent', { conversation_id: '' }, 400, 'conversation_id_required'],
    ['hiagent', { conversation_id: ' ' }, 400, 'conversation_id_required'],
  ])('are rejected by %s in %o', async (agent, change, code, reason) => {
    const { body } = await chat(change, { headers: { agent } })
    const [field] = Object.keys(change)
    expect(body).toMatchObject({
      code,
      reason,
      detail: expect.stringMatching(new RegExp(`^body\\.${field}: `)),
    })
  })
})

test.each([' ', '\n\t', '\u3000\u00a0'])('a query of white space alone is rejected', async (query) => {
  expect((await chat({ query })).body).toMatchObject({
    reason: 'invalid_request',
    detail: expect.stringMatching(/^body\.query: /),
  })
})

test('unknown fields are ignored, including names that JavaScript objects inherit', async () => {
  const body = JSON.stringify({ ...chatBody(), more: 1 }).replace(
    '"more":1',
    '"__proto__":{"query":""},"constructor":1',
  )
  expect((await chat({}, { body })).status).toBe(200)
})

test('a leading byte order mark is ignored', async () => {
  expect((await chat({}, { body: `\ufeff${JSON.stringify(chatBody())}` })).status).toBe(200)
})

describe('the agent', () => {
  test.each(['FASTGPT', '  FastGpt  '])('"%s" selects fastgpt', async (agent) => {
    expect((await chat({}, { headers: { agent } })).status).toBe(200)
  })

  test.each(['', ' ', 'nobody', 'fastgpt,fastgpt', 'fastgpt/app', '__proto__'])(
    '"%s" is unknown',
    async (agent) => {
      expect((await chat({}, { headers: { agent } })).body).toMatchObject({
        code: 400,
        reason: 'unknown_agent',
        detail: expect.stringMatching(/^headers\.agent: .*fastgpt, hiagent, dify/),
      })
    },
  )

  test('must be named', async () => {
    expect((await chatWith()).body).toMatchObject({ code: 400, reason: 'unknown_agent' })
  })
})

describe('a header of the interface', () => {
  test('that is sent more than once is refused, also if it says the same', async () => {
    const twice = (name: string, value: string) => [`${name}: ${value}`, `${name}: ${value}`]
    const sent = (...lines: string[]) => chatWith('Agent: fastgpt', ...lines)
    const detail = expect.stringContaining(': was sent more than once.')
    expect((await chatWith(...twice('Agent', 'fastgpt'))).body).toMatchObject({
      code: 400,
      reason: 'unknown_agent',
      detail,
    })
    for (const line of [
      twice('Idempotency-Key', 'order-17'),
      twice('IDEMPOTENCY-KEY', 'a'),
      twice('Last-Event-ID', '1'),
    ])
      expect((await sent(...line)).body).toMatchObject({ code: 400, reason: 'invalid_request', detail })
    // A key may contain what Node joins with.
    expect((await sent('Idempotency-Key: a, b')).status).toBe(200)
    expect((await sent(...twice('X-Request-Id', 'a'))).status).toBe(200)
  })
})

/** A chat with exactly these headers beside the usual ones. */
function chatWith(...lines: string[]) {
  const body = JSON.stringify(chatBody())
  const head = [
    'POST /api/v1/chat HTTP/1.1',
    'Host: localhost',
    'Connection: close',
    `Authorization: Bearer ${gateway.key.full_key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...lines,
  ]
  return exchange(gateway.url, `${head.join('\r\n')}\r\n\r\n${body}`)
}

describe('the order of the checks', () => {
  const refused = async (change: Record<string, unknown>, more: OperationRequest) =>
    (await chat(change, more)).body.reason

  test('the form of the credential is checked before the body, and the body before the agent', async () => {
    expect(await refused({}, { as: 'tl_mistyped', body: '{' })).toBe('credential_malformed')
    expect(await refused({ query: 1 }, { headers: { agent: 'nobody' } })).toBe('invalid_request')
  })

  test('an agent, an app and what the agent requires are refused by their own reasons where nothing else is wrong', async () => {
    expect(await refused({ app_id: '' }, { headers: { agent: 'nobody' } })).toBe('unknown_agent')
    expect(await refused({ app_id: 'three' }, { headers: { agent: 'apps' } })).toBe('app_not_found')
    expect(await refused({ app_id: '' }, {})).toBe('app_id_required')
    const files = ['none']
    expect(await refused({ files }, {})).toBe('invalid_request')
    // None of their reasons says what is wrong with a request that has several.
    expect(await refused({ app_id: 'three', files }, { headers: { agent: 'apps' } })).toBe('invalid_request')
  })

  test('requests that are rejected earlier do not count against the rate limit', async () => {
    const key = await gateway.api.createKey(gateway.token, { limits: { chat_per_minute: 1 } })
    const as = key.full_key
    expect(await refused({ files: ['none'] }, { as })).toBe('invalid_request')
    expect((await chat({}, { as })).status).toBe(200)
  })

  test('the rate limit is checked before admission', async () => {
    const key = await gateway.api.createKey(gateway.token, {
      permissions: ['upload'],
      limits: { chat_per_minute: 1 },
    })
    const as = key.full_key
    expect(await refused({}, { as })).toBe('permission_denied')
    expect(await refused({}, { as })).toBe('rate_limited')
    expect(await refused({ query: '' }, { as })).toBe('invalid_request')
  })
})

test('a 400 of the gateway neither counts against the limit nor counts as a call', async () => {
  const key = await gateway.api.createKey(gateway.token, { limits: { chat_per_minute: 2 } })
  const as = key.full_key
  const left = async () => (await chat({}, { as, headers: { agent: 'fastgpt' } })).headers.ratelimit
  expect(await left()).toMatch(/;r=1;/)
  for (const [change, headers] of [
    [{ query: ' ' }, { agent: 'fastgpt' }],
    [{ files: ['none'] }, { agent: 'fastgpt' }],
    [{ app_id: '' }, { agent: 'fastgpt' }],
    [{}, { agent: randomUUID() }],
  ] as const) {
    expect((await chat(change, { as, headers })).status).toBe(400)
  }
  expect(await left()).toMatch(/;r=0;/)
  const { body } = await gateway.send('getCurrentApiKey', { as })
  expect(body.data.usage.total_calls).toBe(2)
})

describe('an invalid key gets 401 whatever else is wrong with the request', () => {
  const completion = { model: 'openai', messages: [{ role: 'user', content: 'Hello' }] }
  const part = { type: 'image_url', image_url: { url: 'http://localhost/' } }
  /** Requests that are rejected with 400, 404, 413 or 415 if the key is valid. */
  const WRONG: readonly (readonly [
    what: string,
    operation: 'chat' | 'createCompletion' | 'createResponse',
    OperationRequest,
  ])[] = [
    ['a body that is not JSON', 'chat', { body: '{' }],
    ['a body that is too large', 'chat', { body: JSON.stringify('x'.repeat(2 << 20)) }],
    [
      'a body of an unsupported media type',
      'chat',
      { body: 'a', headers: { agent: 'fastgpt', 'content-type': 'text/plain' } },
    ],
    ['a field that is wrong', 'chat', { body: chatBody({ query: 7 }) }],
    ['an unknown agent', 'chat', { body: chatBody(), headers: { agent: 'nobody' } }],
    ['no agent', 'chat', { body: chatBody(), headers: {} }],
    ['an unknown app', 'chat', { body: chatBody({ app_id: 'x' }), headers: { agent: 'apps' } }],
    ['no app', 'chat', { body: chatBody({ app_id: '' }) }],
    ['no conversation', 'chat', { body: chatBody(), headers: { agent: 'hiagent' } }],
    ['a file that is not a URL', 'chat', { body: chatBody({ files: ['none'] }) }],
    ['variables with a private URL', 'chat', { body: chatBody({ variables: { a: ['http://localhost/'] } }) }],
    ['an unknown model', 'createCompletion', { body: { ...completion, model: 'nobody' } }],
    ['a field that is wrong', 'createCompletion', { body: { ...completion, messages: 7 } }],
    ['an unknown model', 'createResponse', { body: { model: 'nobody', input: 'Hello' } }],
    ['an input that is wrong', 'createResponse', { body: { model: 'openai', input: 7 } }],
    ['two answers', 'createCompletion', { body: { ...completion, n: 2 } }],
    [
      'a part with a private URL',
      'createCompletion',
      { body: { ...completion, messages: [{ role: 'user', content: [part] }] } },
    ],
    [
      'a malformed X-Conversation-Id header',
      'createCompletion',
      { body: completion, headers: { 'x-conversation-id': '%' } },
    ],
  ]

  let keys: Record<string, string>
  beforeAll(async () => {
    const revoked = await gateway.api.createKey(gateway.token)
    await gateway.send('revokeApiKey', { as: gateway.token, id: revoked.id })
    const owner = await gateway.api.createUser(gateway.token, gateway.fresh())
    const suspended = await gateway.api.createKey(gateway.token, { owner_id: owner.id })
    await gateway.send('updateUser', { as: gateway.token, id: owner.id, body: { status: 'suspended' } })
    keys = {
      key_unknown: inventedKey(),
      key_revoked: revoked.full_key,
      owner_suspended: suspended.full_key,
    }
  })

  test.each(WRONG)('%s (%s)', async (_what, operation, request) => {
    const send = (as: string) => gateway.send(operation, { headers: { agent: 'fastgpt' }, ...request, as })
    const good = await send(gateway.key.full_key)
    expect([400, 404, 413, 415]).toContain(good.status)
    for (const [reason, as] of Object.entries(keys)) {
      const answer = await send(as)
      expectDocumented(operationOf(operation), answer)
      expect([answer.status, reasonOf(answer.body)]).toEqual([401, reason])
    }
  })

  test('each attempt counts as a rejected key', async () => {
    const strict = await startContractGateway({ refusedKeys: { points: 2 } })
    try {
      const send = () => strict.send('chat', { as: inventedKey(), headers: { agent: 'nobody' }, body: '{' })
      const reasons = [await send(), await send(), await send()].map(({ body }) => body.reason)
      expect(reasons).toEqual(['key_unknown', 'key_unknown', 'rate_limited'])
    } finally {
      await strict.remove()
    }
  })

  test('error details name only agents and apps that a valid key may use', async () => {
    const allowed_agents = ['dify', 'apps/two']
    const { full_key: as } = await gateway.api.createKey(gateway.token, { allowed_agents })
    const detail = async (agent: string, app_id: string) =>
      (await chat({ app_id }, { as, headers: { agent } })).body.detail
    expect(await detail('nobody', '')).toBe('headers.agent: expected one of dify, apps.')
    expect(await detail('apps', '')).toBe('body.app_id: expected one of two.')
    expect(await detail('apps', 'three')).toBe('body.app_id: agent apps has two.')
    const { body } = await gateway.send('createCompletion', { as, body: { ...completion, model: 'nobody' } })
    expect(body.error.message).toBe('body.model: expected one of dify, apps/two.')
  })
})
