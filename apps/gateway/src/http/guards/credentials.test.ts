import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeApiKey } from '#core/accounts/keys/key-format.ts'
import { openUsersApp, type UsersApp } from '#rest/app.test-support.ts'
import { optionalPrincipal, requireChatKey } from './credentials.ts'

let setup: UsersApp

beforeAll(async () => {
  setup = await openUsersApp()
  setup.app.get('/optional', { onRequest: optionalPrincipal(setup) }, async ({ principal }) => ({
    via: principal?.via.kind ?? 'anonymous',
  }))
  setup.app.get('/chat-key', { onRequest: requireChatKey(setup) }, async ({ apiKey }) => ({ apiKey }))
  await setup.app.listen({ host: '127.0.0.1', port: 0 })
})
beforeEach(() => setup.clear())
afterAll(() => setup.app.close())

/** Sends the request over a socket, since `inject` cannot send a header twice. */
function getMe(authorization: string[]): Promise<{ status: number | undefined; body: string }> {
  const { port } = setup.app.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const headers = ['Host', 'localhost', ...authorization.flatMap((value) => ['Authorization', value])]
    request({ port, host: '127.0.0.1', path: '/api/v1/users/me', headers, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
      .on('error', reject)
      .end()
  })
}

test('the credential is read regardless of the case of Bearer', async () => {
  const key = await setup.keyOf(await setup.join('admin'), { permissions: ['admin'] })
  for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
    expect((await getMe([`${scheme} ${key.fullKey}`])).status).toBe(200)
  }
})

test.each<[string, string[], string]>([
  ['no credential', [], 'credential_missing'],
  ['an empty credential', [''], 'credential_malformed'],
  ['another scheme', ['Basic YTpi'], 'credential_malformed'],
  ['no scheme', ['tl_x'], 'credential_malformed'],
  ['two tokens', ['Bearer a b'], 'credential_malformed'],
  ['a credential of 4,097 characters', [`Bearer ${'x'.repeat(4097)}`], 'credential_malformed'],
  ['letters beyond ASCII', ['Bearer é'], 'credential_malformed'],
])('a request with %s gets 401', async (_name, authorization, reason) => {
  const { status, body } = await getMe(authorization)
  expect(status).toBe(401)
  expect(JSON.parse(body)).toMatchObject({ code: 401, reason })
})

test('a valid credential that is sent twice gets 401', async () => {
  const key = await setup.keyOf(await setup.join('admin'), { permissions: ['admin'] })
  const { body } = await getMe([`Bearer ${key.fullKey}`, `Bearer ${key.fullKey}`])
  expect(JSON.parse(body)).toMatchObject({
    reason: 'credential_malformed',
    detail: expect.stringContaining('once'),
  })
})

test('a credential is checked before the body is read', async () => {
  const response = await setup.app.inject({
    method: 'POST',
    url: '/api/v1/users',
    headers: { 'content-type': 'application/json' },
    payload: '{not json',
  })
  expect(response.json()).toMatchObject({ code: 401, reason: 'credential_missing' })
})

test('management accepts a token or a key with admin, and rejects other keys with 403', async () => {
  const admin = await setup.join('admin')
  const chat = await setup.keyOf(admin, { permissions: ['chat', 'upload'] })
  const acting = await setup.keyOf(admin, { permissions: ['admin'] })
  expect((await setup.call(admin, 'GET', '/api/v1/users/me')).statusCode).toBe(200)
  expect((await setup.call(acting.fullKey, 'GET', '/api/v1/users/me')).statusCode).toBe(200)
  for (const path of [
    '/api/v1/users/me',
    '/api/v1/users',
    '/api/v1/api-keys',
    `/api/v1/api-keys/${chat.id}`,
  ]) {
    const response = await setup.call(chat.fullKey, 'GET', path)
    expect(response.json(), path).toMatchObject({ code: 403, reason: 'permission_denied' })
  }
})

test('anonymous callers are allowed where no credential is required, but a credential that is sent must be valid', async () => {
  const key = await setup.keyOf(await setup.join('premium'))
  expect((await setup.call(undefined, 'GET', '/optional')).json()).toEqual({ via: 'anonymous' })
  expect((await setup.call(key.fullKey, 'GET', '/optional')).json()).toEqual({ via: 'key' })
  expect((await setup.call(makeApiKey(randomBytes), 'GET', '/optional')).json()).toMatchObject({
    reason: 'key_unknown',
  })
})

test('chat checks only the form of an API key before the admission', async () => {
  const apiKey = makeApiKey(randomBytes)
  expect((await setup.call(apiKey, 'GET', '/chat-key')).json()).toEqual({ apiKey })
  expect((await setup.call('tl_x', 'GET', '/chat-key')).json()).toMatchObject({
    reason: 'credential_malformed',
  })
  const token = await setup.call(await setup.join('user'), 'GET', '/chat-key')
  expect(token.json()).toMatchObject({ code: 401, reason: 'api_key_required' })
})
