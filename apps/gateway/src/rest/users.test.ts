import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { PASSWORD } from '#core/accounts/auth/users.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { openUsersApp, type UsersApp } from './app.test-support.ts'

let setup: UsersApp
let admin: Principal

beforeAll(async () => {
  setup = await openUsersApp()
})
beforeEach(async () => {
  await setup.clear()
  admin = await setup.join('admin', 'admin')
})
afterAll(() => setup.app.close())

test('an admin creates, reads, changes and suspends a user', async () => {
  const created = await setup.call(admin, 'POST', '/api/v1/users', {
    username: 'alice',
    password: PASSWORD,
    max_api_calls: 5,
    quota_period: 'day',
  })
  expect(created.statusCode).toBe(200)
  const user = created.json().data
  expect(user).toEqual({
    id: expect.any(String),
    username: 'alice',
    role: 'user',
    status: 'active',
    created_at: expect.any(String),
    updated_at: expect.any(String),
    last_login: null,
    api_calls_count: 0,
    max_api_calls: 5,
    quota_period: 'day',
  })
  const path = `/api/v1/users/${user.id}`
  expect((await setup.call(admin, 'GET', path)).json().data).toEqual(user)
  const changed = await setup.call(admin, 'PATCH', path, { role: 'premium', status: 'suspended' })
  expect(changed.json().data).toMatchObject({ role: 'premium', status: 'suspended', max_api_calls: 5 })
  expect(
    (await setup.call(admin, 'PUT', `${path}/password`, { password: 'another password' })).statusCode,
  ).toBe(200)
})

test('lists of users are returned in pages', async () => {
  const user = await setup.join('user')
  const first = (await setup.call(admin, 'GET', '/api/v1/users?limit=1')).json().data
  expect(first.items).toMatchObject([{ id: user.userId }])
  const second = (await setup.call(admin, 'GET', `/api/v1/users/?limit=1&cursor=${first.next_cursor}`)).json()
    .data
  expect(second).toMatchObject({ items: [{ id: admin.userId }], next_cursor: null })
})

test.each([
  ['limit=0', 'query.limit: expected an integer of 1 to 100.'],
  ['limit=101', 'query.limit: expected an integer of 1 to 100.'],
  ['limit=x', 'query.limit: expected an integer of 1 to 100.'],
  ['cursor=x', 'query.cursor: expected the cursor of a previous page.'],
])('a list of users with ?%s gets 400', async (query, detail) => {
  const response = await setup.call(admin, 'GET', `/api/v1/users?${query}`)
  expect(response.json()).toMatchObject({ code: 400, detail })
})

test.each<[object, string]>([
  [{ role: 'root' }, 'body.role: expected one of admin, premium, user.'],
  [{ status: 'gone' }, 'body.status: expected one of active, suspended.'],
  [{ max_api_calls: -1 }, 'body.max_api_calls: expected an integer of 0 to 9007199254740991.'],
  [{ max_api_calls: 1.5 }, 'body.max_api_calls: expected an integer of 0 to 9007199254740991.'],
  [{ max_api_calls: '5' }, 'body.max_api_calls: expected an integer of 0 to 9007199254740991.'],
  [{ quota_period: 'year' }, 'body.quota_period: expected one of none, day, month.'],
])('creating a user with %o gets 400', async (body, detail) => {
  const response = await setup.call(admin, 'PATCH', `/api/v1/users/${admin.userId}`, body)
  expect(response.json()).toMatchObject({ code: 400, detail })
})

test('a username that is taken and the role of the last admin get 409', async () => {
  const taken = await setup.call(admin, 'POST', '/api/v1/users', { username: 'ADMIN', password: PASSWORD })
  expect(taken.json()).toMatchObject({ code: 409, reason: 'username_taken' })
  const last = await setup.call(admin, 'PATCH', `/api/v1/users/${admin.userId}`, { role: 'user' })
  expect(last.json()).toMatchObject({ code: 409, reason: 'last_admin' })
})

test('an unknown id and a malformed id get 404 with the same body', async () => {
  const bodies = []
  for (const id of [v7(), 'nobody', '%00']) {
    const response = await setup.call(admin, 'GET', `/api/v1/users/${id}`)
    expect(response.statusCode).toBe(404)
    bodies.push({ ...response.json(), request_id: '' })
  }
  expect(bodies[1]).toEqual(bodies[0])
  expect(bodies[2]).toEqual(bodies[0])
})

test('users of other roles get 403 for other accounts and can read their own', async () => {
  const user = await setup.join('premium')
  for (const path of ['/api/v1/users', `/api/v1/users/${user.userId}`]) {
    expect((await setup.call(user, 'GET', path)).json()).toMatchObject({ code: 403, reason: 'role_denied' })
  }
  expect((await setup.call(user, 'GET', '/api/v1/users/me')).json().data).toMatchObject({ id: user.userId })
})

test('changing your own password revokes the token of the request', async () => {
  const { data } = (
    await setup.call(undefined, 'POST', '/api/v1/login', { username: 'admin', password: PASSWORD })
  ).json()
  const change = (current_password: string) =>
    setup.call(data.access_token, 'PUT', '/api/v1/users/me/password', {
      current_password,
      new_password: 'the new one',
    })
  expect((await change('wrong')).json()).toMatchObject({
    code: 400,
    detail: 'body.current_password: is not the current password.',
  })
  expect((await change(PASSWORD)).statusCode).toBe(200)
  expect((await change('the new one')).json()).toMatchObject({ code: 401, reason: 'token_revoked' })
})
