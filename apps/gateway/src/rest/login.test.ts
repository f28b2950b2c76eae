import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PASSWORD } from '#core/accounts/auth/users.test-support.ts'
import { openUsersApp, type UsersApp } from './app.test-support.ts'

let setup: UsersApp

beforeAll(async () => {
  setup = await openUsersApp()
})
beforeEach(() => setup.clear())
afterAll(() => setup.app.close())

describe.each(['/api/v1/login', '/api/v1/login/', '/api/v1/auth/login'])('POST %s', (path) => {
  test('returns the login response of the interface, in which the user has exactly nine fields', async () => {
    const { userId } = await setup.join('premium', 'alice')
    const response = await setup.call(undefined, 'POST', path, {
      username: 'alice',
      password: PASSWORD,
    })
    expect(response.statusCode).toBe(200)
    expect(response.headers['cache-control']).toBe('no-store')
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(response.json()).toEqual({
      code: 0,
      msg: 'Success',
      data: {
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        token_type: 'bearer',
        expires_in: 3600,
        user: {
          id: userId,
          username: 'alice',
          role: 'premium',
          status: 'active',
          created_at: time,
          updated_at: time,
          last_login: time,
          api_calls_count: 0,
          max_api_calls: 100,
        },
      },
    })
  })
})

test('all failures of a login have the same body, byte for byte', async () => {
  await setup.join('user', 'alice')
  const bodies = await Promise.all(
    ['alice', 'nobody', 'not a name'].map(async (username) => {
      const response = await setup.call(undefined, 'POST', '/api/v1/login', { username, password: 'wrong' })
      expect(response.statusCode).toBe(401)
      return { ...response.json(), request_id: '' }
    }),
  )
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
})

test.each([
  [{ username: 'alice' }, 'body.password: is required; expected a string of 1 to 256 characters.'],
  [{ username: 1, password: 'x' }, 'body.username: expected a string of 1 to 256 characters.'],
  [{ username: 'a', password: 'x'.repeat(257) }, 'body.password: expected a string of 1 to 256 characters.'],
  [undefined, 'body: expected an object.'],
])(
  'an invalid body of a login gets 400 and does not count as a failed attempt (case %#)',
  async (body, detail) => {
    const response = await setup.call(undefined, 'POST', '/api/v1/login', body)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ reason: 'invalid_request', detail })
  },
)

test('too many failures of a login get 429 with Retry-After', async () => {
  await setup.join('user', 'mallory')
  const login = (password: string) =>
    setup.call(undefined, 'POST', '/api/v1/login', { username: 'mallory', password })
  for (let failure = 0; failure < 10; failure += 1) await login('wrong')
  const response = await login(PASSWORD)
  expect(response.statusCode).toBe(429)
  expect(response.json()).toMatchObject({ reason: 'rate_limited' })
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
})

test.each(['/api/v1/logout', '/api/v1/auth/logout'])(
  'POST %s revokes the token of the request',
  async (path) => {
    await setup.join('user', 'alice')
    const login = await setup.call(undefined, 'POST', '/api/v1/login', {
      username: 'alice',
      password: PASSWORD,
    })
    const token: string = login.json().data.access_token
    expect((await setup.call(token, 'POST', path)).json()).toEqual({ code: 0, msg: 'Success', data: {} })
    const again = await setup.call(token, 'POST', path)
    expect(again.statusCode).toBe(401)
    expect(again.headers['www-authenticate']).toBe('Bearer')
    expect(again.json()).toMatchObject({ code: 401, reason: 'token_revoked' })
  },
)

test('an API key cannot log out', async () => {
  const key = await setup.keyOf(await setup.join('admin'), { permissions: ['admin'] })
  expect((await setup.call(key.fullKey, 'POST', '/api/v1/logout')).json()).toMatchObject({
    code: 401,
    reason: 'access_token_required',
  })
})

test('the public signing keys are a plain JWK set that may be cached for a minute', async () => {
  await setup.tokens.prepare()
  const response = await setup.call(undefined, 'GET', '/.well-known/jwks.json')
  expect(response.headers['cache-control']).toBe('public, max-age=60')
  const text = expect.any(String)
  expect(response.json()).toEqual({
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: text, kid: text, alg: 'EdDSA', use: 'sig' }],
  })
})
