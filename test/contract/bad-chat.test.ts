import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatBody } from '../support/api.ts'
import type { Answer } from './ask.ts'
import { operationOf } from './contract.ts'
import { expectDocumented } from './expect-documented.ts'
import { exchange } from './raw.ts'
import { inventedKey, type OperationRequest, openStage, type Stage } from './stage.ts'

let at: Stage
beforeAll(async () => {
  at = await openStage({ refusedKeys: { points: 10_000 } })
})
afterAll(() => at?.remove())

async function chat(change: Record<string, unknown> = {}, more: OperationRequest = {}): Promise<Answer> {
  const answer = await at.ask('chat', {
    as: at.key.full_key,
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
  ])('%s is taken', async (url) => {
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
    ...[
      '127.0.0.1',
      '127.1',
      '127.0.0.1.',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '017700000001',
      '１２７.0.0.1',
      '127。0。0。1',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::]',
      '[::127.0.0.1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::127.0.0.1]',
      '[2002:7f00:1::]',
      '[::ffff:10.0.0.1]',
      '[fe80::1]',
      '[fd12:3456::1]',
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '169.254.169.254',
      '172.16.0.1',
      '192.168.0.1',
      '255.255.255.255',
      'localhost',
      'LOCALHOST',
      'localhost.',
      'a.localhost',
      'intranet',
      'name.local',
      'name.local.',
      'metadata.google.internal',
    ].map((host) => `http://${host}/a`),
  ])('%s is none', async (url) => {
    const { body } = await chat({ files: ['https://example.com/a', url] })
    expect(body).toMatchObject({
      code: 400,
      reason: 'invalid_request',
      detail: expect.stringMatching(/^body\.files\[1\]: expected /),
    })
  })

  test('are at most 20', async () => {
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

  test.each(fields)('%s is up to 256 characters of plain text', async (field) => {
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
  ])('%s with %o', async (agent, change, code, reason) => {
    const { body } = await chat(change, { headers: { agent } })
    const [field] = Object.keys(change)
    expect(body).toMatchObject({
      code,
      reason,
      detail: expect.stringMatching(new RegExp(`^body\\.${field}: `)),
    })
  })
})

test.each([' ', '\n\t', '\u3000\u00a0'])('a query of blanks is none', async (query) => {
  expect((await chat({ query })).body).toMatchObject({
    reason: 'invalid_request',
    detail: expect.stringMatching(/^body\.query: /),
  })
})

test('unknown fields are ignored, names of the language among them', async () => {
  const body = JSON.stringify({ ...chatBody(), more: 1 }).replace(
    '"more":1',
    '"__proto__":{"query":""},"constructor":1',
  )
  expect((await chat({}, { body })).status).toBe(200)
})

test('a byte order mark is not part of the text', async () => {
  expect((await chat({}, { body: `\ufeff${JSON.stringify(chatBody())}` })).status).toBe(200)
})

describe('the agent', () => {
  test.each(['FASTGPT', '  FastGpt  '])('"%s" is fastgpt', async (agent) => {
    expect((await chat({}, { headers: { agent } })).status).toBe(200)
  })

  test.each(['', ' ', 'nobody', 'fastgpt,fastgpt', 'fastgpt/app', '__proto__'])(
    '"%s" is none',
    async (agent) => {
      expect((await chat({}, { headers: { agent } })).body).toMatchObject({
        code: 400,
        reason: 'unknown_agent',
        detail: expect.stringMatching(/^headers\.agent: .*fastgpt, hiagent, dify/),
      })
    },
  )

  test('is named once', async () => {
    const body = JSON.stringify(chatBody())
    const head = [
      'POST /api/v1/chat HTTP/1.1',
      'Host: localhost',
      'Connection: close',
      `Authorization: Bearer ${at.key.full_key}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    for (const agents of [[], ['Agent: fastgpt', 'Agent: fastgpt']]) {
      const answer = await exchange(at.url, `${[...head, ...agents].join('\r\n')}\r\n\r\n${body}`)
      expect(answer.body).toMatchObject({ code: 400, reason: 'unknown_agent' })
    }
  })
})

describe('the order of the checks', () => {
  const refused = async (change: Record<string, unknown>, more: OperationRequest) =>
    (await chat(change, more)).body.reason

  test('the form of the credential stands before the body, the body before the agent', async () => {
    expect(await refused({}, { as: 'tl_mistyped', body: '{' })).toBe('credential_malformed')
    expect(await refused({ query: 1 }, { headers: { agent: 'nobody' } })).toBe('invalid_request')
  })

  test('then agent, ids, app, what the agent requires, files', async () => {
    const files = ['none']
    expect(await refused({ app_id: '\n', files }, { headers: { agent: 'nobody' } })).toBe('unknown_agent')
    expect(await refused({ app_id: 'three', files }, { headers: { agent: 'apps' } })).toBe('app_not_found')
    expect(await refused({ app_id: '', files }, {})).toBe('app_id_required')
    expect(await refused({ files }, {})).toBe('invalid_request')
  })

  test('all of them before the key is looked up', async () => {
    expect(await refused({ files: ['none'] }, { as: inventedKey() })).toBe('invalid_request')
    expect(await refused({}, { as: inventedKey() })).toBe('key_unknown')
  })

  test('the rate limit stands before the admission', async () => {
    const key = await at.api.createKey(at.token, { permissions: ['upload'], limits: { chat_per_minute: 1 } })
    const as = key.full_key
    expect(await refused({}, { as })).toBe('permission_denied')
    expect(await refused({}, { as })).toBe('rate_limited')
    expect(await refused({ query: '' }, { as })).toBe('invalid_request')
  })
})

test('a 400 of ours takes nothing from the limit and is not counted', async () => {
  const key = await at.api.createKey(at.token, { limits: { chat_per_minute: 2 } })
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
  const { body } = await at.ask('getCurrentApiKey', { as })
  expect(body.data.usage.total_calls).toBe(2)
})
