import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Principal } from '#core/requests/principal.ts'
import { openUsersApp, type UsersApp } from './app.test-support.ts'

const PATH = '/api/v1/api-keys'
let setup: UsersApp
let admin: Principal
let premium: Principal

beforeAll(async () => {
  setup = await openUsersApp()
})
beforeEach(async () => {
  await setup.clear()
  admin = await setup.join('admin')
  premium = await setup.join('premium')
})
afterAll(() => setup.app.close())

const body = {
  name: 'support bot',
  description: 'Answers on the help page.',
  expires_at: '2030-01-31T08:00:00+08:00',
  permissions: ['chat', 'upload'],
}

test.each([PATH, `${PATH}/`])('POST %s returns the record and, only this once, the key', async (path) => {
  const response = await setup.call(premium, 'POST', path, { ...body, limits: { chat_per_minute: 5 } })
  expect(response.statusCode).toBe(200)
  expect(response.headers['cache-control']).toBe('no-store')
  const { full_key, ...record } = response.json().data
  expect(full_key).toMatch(/^tl_[0-9A-Za-z]{49}$/)
  expect(record).toEqual({
    id: expect.any(String),
    name: 'support bot',
    description: 'Answers on the help page.',
    key_prefix: full_key.slice(0, 12),
    created_at: expect.any(String),
    expires_at: '2030-01-31T00:00:00.000Z',
    revoked_at: null,
    paused_at: null,
    rotated_at: null,
    last_used_at: null,
    permissions: ['chat', 'upload'],
    is_active: true,
    state: 'active',
    created_by: premium.userId,
    owner_id: premium.userId,
    allowed_agents: null,
    allowed_addresses: null,
    secrets: [{ key_prefix: full_key.slice(0, 12), last_used_at: null, ends_at: null }],
    limits: { chat_per_minute: 5, upload_per_minute: null },
    usage: { total_calls: 0, calls_today: 0, calls_this_month: 0, last_used_at: null },
  })
  expect((await setup.call(premium, 'GET', `${PATH}/${record.id}`)).json().data).toEqual(record)
  expect((await setup.call(premium, 'GET', PATH)).json().data).toEqual({ items: [record], next_cursor: null })
})

test.each<[object, string]>([
  [{ name: undefined }, 'body.name: is required; expected a string of 1 to 100 characters.'],
  [
    { permissions: [] },
    'body.permissions: expected an array of at least 1 item, each one of chat, upload, admin',
  ],
  [{ permissions: ['root'] }, 'body.permissions[0]: expected one of chat, upload, admin.'],
  [{ permissions: ['chat', 'chat'] }, 'body.permissions: '],
  [{ permissions: 'chat' }, 'body.permissions: '],
  [{ expires_at: '2030-01-31T08:00' }, 'body.expires_at: expected an ISO 8601 time with a zone'],
  [{ expires_at: '2030-02-30' }, 'body.expires_at: expected an ISO 8601 time with a zone'],
  [{ expires_at: 1896048000 }, 'body.expires_at: '],
  [{ owner_id: 'nobody' }, 'body.owner_id: '],
  [{ allowed_agents: ['nobody'] }, 'body.allowed_agents[0]: expected agent or agent/app'],
  [{ allowed_agents: 'dify' }, 'body.allowed_agents: '],
  [
    { limits: { chat_per_minute: 601 } },
    'body.limits.chat_per_minute: expected null or an integer of 1 to 600.',
  ],
  [{ limits: { upload_per_minute: '1' } }, 'body.limits.upload_per_minute: '],
])('creating a key with %o gets 400', async (wrong, detail) => {
  const response = await setup.call(admin, 'POST', PATH, { ...body, ...wrong })
  expect(response.json()).toMatchObject({ code: 400, detail: expect.stringContaining(detail) })
})

test('neither an API key, whatever its permissions, nor a plain user can create a key', async () => {
  for (const permissions of [['admin'], ['chat']] as const) {
    const { fullKey } = await setup.keyOf(admin, { permissions: [...permissions] })
    const byKey = await setup.call(fullKey, 'POST', PATH, body)
    expect(byKey.json()).toMatchObject({ code: 401, reason: 'access_token_required' })
  }
  const byUser = await setup.call(await setup.join('user'), 'POST', PATH, body)
  expect(byUser.json()).toMatchObject({ code: 403, reason: 'role_denied' })
})

test("another user's key gets 404 like one that does not exist, on every method", async () => {
  const foreign = await setup.keyOf(admin)
  for (const [method, suffix] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/revoke'],
  ] as const) {
    const bodies = []
    for (const id of [foreign.id, v7(), 'nonsense', '%00']) {
      const change = method === 'PATCH' ? { name: 'mine now' } : undefined
      const response = await setup.call(premium, method, `${PATH}/${id}${suffix}`, change)
      expect(response.statusCode).toBe(404)
      bodies.push(JSON.stringify({ ...response.json(), request_id: '' }))
    }
    expect(new Set(bodies).size, method).toBe(1)
  }
})

test.each([
  ['DELETE', ''],
  ['POST', '/revoke'],
] as const)(
  'an owner reads a key that another user created for it, revokes it (%s%s), and cannot change it',
  async (method, suffix) => {
    const { id, fullKey } = await setup.keyOf(admin, { ownerId: premium.userId })
    expect((await setup.call(premium, 'GET', `${PATH}/${id}`)).statusCode).toBe(200)
    const changing = await setup.call(premium, 'PATCH', `${PATH}/${id}`, { name: 'mine now' })
    expect(changing.json()).toMatchObject({ code: 403, reason: 'role_denied' })
    const first = await setup.call(premium, method, `${PATH}/${id}${suffix}`)
    expect(first.json().data).toMatchObject({ is_active: false, revoked_at: expect.any(String) })
    expect((await setup.call(premium, method, `${PATH}/${id}${suffix}`)).json()).toEqual(first.json())
    expect((await setup.call(fullKey, 'GET', '/api/v1/key')).json().reason).toBe('key_revoked')
  },
)

test('a change sets the named fields, and null clears them', async () => {
  const { id } = await setup.keyOf(premium, { allowedAgents: ['dify'] })
  const patch = async (change: object) =>
    (await setup.call(premium, 'PATCH', `${PATH}/${id}`, change)).json().data
  expect(
    await patch({ name: 'renamed', limits: { chat_per_minute: 5, upload_per_minute: 2 } }),
  ).toMatchObject({
    name: 'renamed',
    allowed_agents: ['dify'],
    limits: { chat_per_minute: 5, upload_per_minute: 2 },
  })
  expect(await patch({ allowed_agents: null, limits: { chat_per_minute: null } })).toMatchObject({
    allowed_agents: null,
    limits: { chat_per_minute: null, upload_per_minute: 2 },
  })
  expect(await patch({ limits: null })).toMatchObject({
    limits: { chat_per_minute: null, upload_per_minute: null },
  })
})

describe('rotation, pauses and addresses', () => {
  /** Sends a request twice, which must be refused alike, and returns the error. */
  async function refused(as: Principal | string, method: 'POST' | 'PATCH', path: string, sent?: object) {
    const bodies = [await setup.call(as, method, path, sent), await setup.call(as, method, path, sent)].map(
      (each) => each.json(),
    )
    const [first, second] = bodies.map(({ request_id: _id, ...error }) => error)
    expect(second).toEqual(first)
    return first
  }

  test('a rotation returns the record with the new secret, also without a body, and each secret has its prefix', async () => {
    const { id, fullKey } = await setup.keyOf(premium)
    const response = await setup.call(premium, 'POST', `${PATH}/${id}/rotate`)
    expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-store'])
    const { full_key, ...record } = response.json().data
    expect(record).toMatchObject({
      id,
      key_prefix: full_key.slice(0, 12),
      rotated_at: expect.any(String),
      secrets: [
        { key_prefix: full_key.slice(0, 12), last_used_at: null, ends_at: null },
        { key_prefix: fullKey.slice(0, 12), last_used_at: expect.any(String), ends_at: expect.any(String) },
      ],
    })
    expect((await setup.call(full_key, 'GET', '/api/v1/key')).json().data).toMatchObject({ id })
    const pending = await refused(premium, 'POST', `${PATH}/${id}/rotate`, { overlap_seconds: 60 })
    expect(pending).toMatchObject({ code: 409, reason: 'rotation_pending' })
    const ending = await setup.call(premium, 'POST', `${PATH}/${id}/rotate`, { overlap_seconds: 0 })
    expect(ending.json().data.secrets).toHaveLength(1)
    expect((await setup.call(full_key, 'GET', '/api/v1/key')).json()).toMatchObject({
      code: 401,
      reason: 'key_rotated',
    })
  })

  test('a key is paused, resumed and bound to addresses by changes', async () => {
    const { id, fullKey } = await setup.keyOf(premium)
    const change = async (sent: object) =>
      (await setup.call(premium, 'PATCH', `${PATH}/${id}`, sent)).json().data
    const read = async () => (await setup.call(fullKey, 'GET', '/api/v1/key')).json()
    expect(await change({ is_active: false })).toMatchObject({ state: 'paused', is_active: false })
    expect(await read()).toMatchObject({ code: 403, reason: 'key_paused' })
    const bound = { is_active: true, allowed_addresses: ['198.51.100.9/24'] }
    expect(await change(bound)).toMatchObject({ state: 'active', allowed_addresses: ['198.51.100.0/24'] })
    expect(await read()).toMatchObject({ code: 403, reason: 'address_denied' })
    expect(await change({ allowed_addresses: null })).toMatchObject({ allowed_addresses: null })
    expect((await read()).data.id).toBe(id)
  })

  test.each<['POST' | 'PATCH', string, object, string]>([
    [
      'POST',
      '/rotate',
      { overlap_seconds: -1 },
      'body.overlap_seconds: expected an integer of 0 to 2592000.',
    ],
    ['POST', '/rotate', { overlap_seconds: 2_592_001 }, 'body.overlap_seconds: '],
    ['POST', '/rotate', { overlap_seconds: '60' }, 'body.overlap_seconds: '],
    ['POST', '/rotate', { overlap_seconds: null }, 'body.overlap_seconds: '],
    ['PATCH', '', { is_active: 'no' }, 'body.is_active: '],
    ['PATCH', '', { is_active: null }, 'body.is_active: '],
    ['PATCH', '', { allowed_addresses: [] }, 'body.allowed_addresses: '],
    ['PATCH', '', { allowed_addresses: '192.0.2.1' }, 'body.allowed_addresses: '],
    [
      'PATCH',
      '',
      { allowed_addresses: ['192.0.2.1', '192.0.2.0/33'] },
      'body.allowed_addresses[1]: expected an IPv4 or IPv6',
    ],
    ['PATCH', '', { allowed_addresses: [4] }, 'body.allowed_addresses[0]: '],
  ])('%s %s with %o gets 400 twice, and changes nothing', async (method, path, sent, detail) => {
    const { id, fullKey } = await setup.keyOf(premium)
    const error = await refused(premium, method, `${PATH}/${id}${path}`, sent)
    expect(error).toMatchObject({ code: 400, detail: expect.stringContaining(detail) })
    expect((await setup.call(fullKey, 'GET', '/api/v1/key')).statusCode).toBe(200)
  })

  test('a key that has ended, a pause of an administrator and a foreign key are refused', async () => {
    const [ended, paused, foreign] = [
      await setup.keyOf(premium),
      await setup.keyOf(premium),
      await setup.keyOf(admin),
    ]
    await setup.call(premium, 'DELETE', `${PATH}/${ended.id}`)
    await setup.call(admin, 'PATCH', `${PATH}/${paused.id}`, { is_active: false })
    for (const [method, path, sent, reason] of [
      ['POST', `${ended.id}/rotate`, {}, 'key_ended'],
      ['PATCH', ended.id, { is_active: true }, 'key_ended'],
      ['PATCH', paused.id, { is_active: true }, 'role_denied'],
      ['POST', `${foreign.id}/rotate`, {}, 'key_not_found'],
    ] as const)
      expect(await refused(premium, method, `${PATH}/${path}`, sent)).toMatchObject({ reason })
    const { fullKey } = await setup.keyOf(admin, { permissions: ['admin'] })
    const byKey = await refused(fullKey, 'POST', `${PATH}/${foreign.id}/rotate`)
    expect(byKey).toMatchObject({ code: 401, reason: 'access_token_required' })
  })
})

test('an expiry that is a date alone is the end of that day, in a new key and in a changed one', async () => {
  const { data } = (await setup.call(premium, 'POST', PATH, { ...body, expires_at: '2030-01-31' })).json()
  expect(data.expires_at).toBe('2030-01-31T23:59:59.999Z')
  const changing = await setup.call(premium, 'PATCH', `${PATH}/${data.id}`, { expires_at: '2028-02-29' })
  expect(changing.json().data).toMatchObject({ expires_at: '2028-02-29T23:59:59.999Z', is_active: true })
})

test.each([
  ['2020-01-01T00:00:00Z', 'expected a time in the future.'],
  ['2020-01-01', 'expected a time in the future.'],
  ['2099-01-01T00:00:00Z', 'expected a time at most 3650 days ahead.'],
  ['2027-01-31T00:00:00', 'expected an ISO 8601 time with a zone'],
  ['', 'expected an ISO 8601 time with a zone'],
  [null, 'expected a string'],
])('a key cannot be given the expiry %j, and keeps the one that it has', async (expires_at, message) => {
  const { id } = await setup.keyOf(premium)
  const before = (await setup.call(premium, 'GET', `${PATH}/${id}`)).json()
  for (const name of ['one', 'two']) {
    const refused = await setup.call(premium, 'PATCH', `${PATH}/${id}`, { name, expires_at })
    expect(refused.json()).toMatchObject({
      code: 400,
      fields: [{ field: 'body.expires_at', message: expect.stringContaining(message) }],
    })
  }
  expect((await setup.call(premium, 'GET', `${PATH}/${id}`)).json()).toEqual(before)
})

test('DELETE and revoke do the same, and the record stays', async () => {
  const { id, fullKey } = await setup.keyOf(premium)
  const first = (await setup.call(premium, 'DELETE', `${PATH}/${id}`)).json().data
  expect(first).toMatchObject({ is_active: false, revoked_at: expect.any(String) })
  expect((await setup.call(admin, 'POST', `${PATH}/${id}/revoke`)).json().data).toEqual(first)
  expect((await setup.call(premium, 'GET', `${PATH}/${id}`)).json().data).toEqual(first)
  expect((await setup.call(fullKey, 'GET', '/api/v1/key')).json()).toMatchObject({
    code: 401,
    reason: 'key_revoked',
  })
})

test('every key can read itself, and a token is rejected there', async () => {
  const { id, fullKey } = await setup.keyOf(premium)
  expect((await setup.call(fullKey, 'GET', '/api/v1/key')).json().data).toMatchObject({
    id,
    rate_limits: { chat_per_minute: 60, upload_per_minute: 10 },
    quota: { max_api_calls: 100, api_calls_count: 0, remaining: 100, quota_period: 'none', resets_at: null },
  })
  const byToken = await setup.call(premium, 'GET', '/api/v1/key')
  expect(byToken.json()).toMatchObject({ code: 401, reason: 'api_key_required' })
})

describe('the list', () => {
  const namesOf = async (query: string) => {
    const response = await setup.call(premium, 'GET', `${PATH}?${query}`)
    expect(response.statusCode, response.body).toBe(200)
    return response.json().data.items.map(({ name }: { name: string }) => name)
  }
  const newKey = async (name: string) =>
    (await setup.call(premium, 'POST', PATH, { ...body, name })).json().data as { id: string }

  test('is searched, selected by state and ordered', async () => {
    for (const name of ['b', 'A 100%', 'c']) await newKey(name)
    const { id } = await newKey('a revoked one')
    await setup.call(premium, 'DELETE', `${PATH}/${id}`)
    expect(await namesOf('')).toEqual(['a revoked one', 'c', 'A 100%', 'b'])
    expect(await namesOf('order_by=name')).toEqual(['A 100%', 'a revoked one', 'b', 'c'])
    expect(await namesOf('order_by=name&order=desc&state=active')).toEqual(['c', 'b', 'A 100%'])
    expect(await namesOf('state=revoked')).toEqual(['a revoked one'])
    expect(await namesOf('state=expired')).toEqual([])
    expect(await namesOf(`search=${encodeURIComponent('0%')}`)).toEqual(['A 100%'])
    expect(await namesOf('search=REVOKED&state=active')).toEqual([])
    expect(await namesOf('search=%20&order=asc')).toEqual(['b', 'A 100%', 'c', 'a revoked one'])
  })

  test('has pages in every order', async () => {
    for (const name of ['b', 'a', 'c']) await newKey(name)
    const first = (await setup.call(premium, 'GET', `${PATH}?order_by=name&limit=2`)).json().data
    expect(first.items.map(({ name }: { name: string }) => name)).toEqual(['a', 'b'])
    expect(await namesOf(`order_by=name&limit=2&cursor=${first.next_cursor}`)).toEqual(['c'])
  })

  test.each([
    [`search=${'x'.repeat(101)}`, 'query.search: '],
    ['state=gone', 'query.state: expected one of active, paused, expired, revoked.'],
    ['order_by=hash', 'query.order_by: '],
    ['order=up', 'query.order: '],
    ['active=true', 'query.active: '],
    ['order_by=name&cursor=x', 'cursor: expected the cursor of a previous page.'],
  ])('with %s is refused, and the field is named', async (query, detail) => {
    const response = await setup.call(premium, 'GET', `${PATH}?${query}`)
    expect(response.json()).toMatchObject({ code: 400, detail: expect.stringContaining(detail) })
  })
})
