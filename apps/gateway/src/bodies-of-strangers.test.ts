import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeApiKey } from '#core/accounts/keys/key-format.ts'
import { SMALL_BODY_BYTES } from '#http/guards/large-bodies.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

/* Whose body is read: of a large one only a known caller's. Each test has an address of its own. */

const REFUSED_KEYS = 60

let face: Face

beforeAll(async () => {
  face = await openFace()
})
afterAll(() => face?.close())

let addresses = 0
const newAddress = () => {
  addresses += 1
  return `198.51.100.${addresses}`
}
const invented = () => makeApiKey(randomBytes)

/** A body of this many bytes, and whether anything of it was read. */
function bodyOf(bytes: number) {
  let isRead = false
  const payload = new Readable({
    read() {
      isRead = true
      this.push('x'.repeat(bytes))
      this.push(null)
    },
  })
  return { payload, isRead: () => isRead }
}

interface Sent {
  readonly from: string
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly credential?: string | undefined
  readonly bytes: number
}

async function send(url: string, { from, method = 'POST', credential, bytes }: Sent) {
  const { payload, isRead } = bodyOf(bytes)
  const headers = {
    agent: 'answering',
    'content-type': 'application/json',
    'content-length': String(bytes),
    ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
  }
  const answer = await face.app.inject({ method, url, headers, payload, remoteAddress: from })
  // The rest of an upload that is refused is discarded before its response is sent.
  const isDiscarded = url === '/api/v1/upload'
  return { status: answer.statusCode, reason: reasonOf(answer.json()), isRead: isRead() && !isDiscarded }
}

/** The reason of an error on any face. */
function reasonOf({ reason, error, errors }: Any): string {
  return reason ?? error?.code ?? errors?.[0].extensions.code
}

async function routesWithBody(): Promise<[NonNullable<Sent['method']>, string][]> {
  const { paths } = (await face.app.inject('/openapi.json')).json()
  const operations = Object.entries<object>(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => [method.toUpperCase(), path.replace(/\{\w+\}/g, 'x')] as const),
  )
  const withBody = operations.filter(([method]) => /POST|PUT|PATCH|DELETE/.test(method))
  return [...(withBody as [NonNullable<Sent['method']>, string][]), ['POST', '/graphql']]
}

test('no route reads a large body for an invented key, or without a credential', async () => {
  const routes = await routesWithBody()
  expect(routes.length).toBeGreaterThan(25)
  for (const [method, url] of routes) {
    const sent = { method, from: newAddress(), bytes: SMALL_BODY_BYTES + 1 }
    for (const time of ['once', 'again']) {
      expect(await send(url, { ...sent, credential: invented() }), `${method} ${url} ${time}`).toEqual({
        status: 401,
        reason: 'key_unknown',
        isRead: false,
      })
      const isOpen = /\/login$|^\/graphql$/.test(url)
      expect(await send(url, sent), `${method} ${url} ${time}`).toEqual({
        status: isOpen ? 413 : 401,
        reason: isOpen ? 'body_too_large' : 'credential_missing',
        isRead: false,
      })
    }
  }
})

describe('a chat', () => {
  const chat = (query: string) => ({
    ...{ app_id: '', chat_id: '', conversation_id: '', files: [], stream: false, detail: false },
    query,
  })
  const faces: [string, (query: string) => object][] = [
    ['/api/v1/chat', chat],
    [
      '/api/v1/chat/completions',
      (content) => ({ model: 'answering', messages: [{ role: 'user', content }] }),
    ],
    ['/api/v1/responses', (input) => ({ model: 'answering', input })],
  ]
  const sendChat = (url: string, payload: string | Readable, headers = {}) =>
    face.app.inject({
      ...{ method: 'POST', url, payload, remoteAddress: newAddress() },
      headers: {
        authorization: `Bearer ${face.callers['chat key'].credential}`,
        agent: 'answering',
        'content-type': 'application/json',
        ...headers,
      },
    })

  test.each(faces)('at %s looks a key up only for a large body, and then once', async (url, bodyWith) => {
    const look = vi.spyOn(face.gateway.services.authentication, 'authenticate')
    const [small, large] = [bodyWith('Hi'), bodyWith('Hi'.repeat(SMALL_BODY_BYTES))].map((body) =>
      JSON.stringify(body),
    )
    for (const [body = '', lookUps] of [
      [small, 0],
      [large, 1],
    ] as const) {
      expect((await sendChat(url, body)).statusCode).toBe(200)
      expect(look).toHaveBeenCalledTimes(lookUps)
    }
    // One whose length is not announced counts as large.
    const pieces = Readable.from(large?.match(/[\s\S]{1,7000}/g) ?? [])
    const answer = await sendChat(url, pieces, { 'transfer-encoding': 'chunked' })
    expect([answer.statusCode, look.mock.calls.length]).toEqual([200, 2])
    look.mockRestore()
  })

  test.each(faces)(
    'at %s with a large body that is wrong is refused by what is wrong, for a good key',
    async (url) => {
      for (const _time of ['once', 'again']) {
        const answer = await sendChat(url, `{"query": ${'['.repeat(SMALL_BODY_BYTES)}`)
        expect([answer.statusCode, reasonOf(answer.json())]).toEqual([400, 'invalid_json'])
      }
    },
  )
})

describe('an address that has sent too many keys that are not valid', () => {
  const closed = async () => {
    const from = newAddress()
    for (let count = 0; count < REFUSED_KEYS; count += 1) {
      const answer = await send('/api/v1/chat', { from, credential: invented(), bytes: 2 })
      expect([answer.status, answer.isRead]).toEqual([401, true])
    }
    return from
  }

  test('gets 429 for another one with its body unread, on every face, and its valid keys are served', async () => {
    const from = await closed()
    for (const url of [
      '/api/v1/chat',
      '/api/v1/chat/completions',
      '/api/v1/responses',
      '/graphql',
      '/api/v1/upload',
    ]) {
      for (const _time of ['once', 'again']) {
        expect(await send(url, { from, credential: invented(), bytes: 2 }), url).toEqual({
          status: 429,
          reason: 'rate_limited',
          isRead: false,
        })
      }
      const { credential } = face.callers['chat key']
      const valid = await send(url, { from, credential, bytes: 2 })
      if (url === '/api/v1/upload') expect(valid.status).toBe(403)
      else expect(valid).toMatchObject({ status: 400, reason: 'invalid_json', isRead: true })
    }
    const token = face.callers.admin.credential
    expect((await send('/graphql', { from, credential: token, bytes: 2 })).status).toBe(400)
    expect(
      await send('/api/v1/chat', { from: newAddress(), credential: invented(), bytes: 2 }),
    ).toMatchObject({
      status: 401,
      isRead: true,
    })
  })

  test('may log in over GraphQL, also with an old token', async () => {
    const from = await closed()
    const query = 'mutation { login(input: { username: "nobody", password: "wrong" }) { expiresIn } }'
    for (const headers of [{}, { authorization: 'Bearer eyJ.a.b' }]) {
      const answer = await face.app.inject({
        ...{ method: 'POST', url: '/graphql', payload: { query }, remoteAddress: from },
        headers,
      })
      expect(reasonOf(answer.json())).toBe('login_failed')
    }
  })
})
