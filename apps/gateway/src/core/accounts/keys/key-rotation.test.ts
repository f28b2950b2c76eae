import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import type { Permission, Principal } from '#core/requests/principal.ts'
import { secretsOf } from './key.ts'
import { hashKey } from './key-format.ts'

const FROM = { address: '192.0.2.1', requestId: '' }
const DAY = 86_400
let services: UserServices
let admin: Principal
let owner: Principal

beforeAll(async () => {
  services = await openUserServices()
})
beforeEach(async () => {
  await services.clear()
  admin = await services.join('admin')
  owner = await services.join('premium')
})
afterAll(() => services.database.close())

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { reason: string }) => error.reason,
  )
const authenticate = (secret: string) => services.authentication.authenticate(secret, FROM, () => undefined)
/** What each of these secrets gets. */
const use = (...secrets: string[]) => Promise.all(secrets.map((secret) => reasonOf(authenticate(secret))))
const rotate = (id: string, overlapSeconds?: number, by = owner) =>
  services.keys.rotate(by, id, { overlapSeconds })
const set = (id: string, columns: string) =>
  services.database.sql.query(`UPDATE api_keys SET ${columns} WHERE id = $1`, [id])

interface NewKeyOptions {
  readonly by?: Principal
  readonly ownerId?: string
  readonly permissions?: Permission[]
}

/** A key of so many days, whose first secret was not used. */
async function newKey(days = 60, { by = owner, ownerId, permissions = ['chat'] }: NewKeyOptions = {}) {
  const expiresAt = new Date(services.runtime.now().getTime() + days * DAY * 1_000).toISOString()
  const input = { name: 'a key', description: '', expiresAt, permissions, ownerId }
  const { key, fullKey } = await services.keys.create(by, input)
  return { id: key.id, expiresAt: key.expiresAt, first: fullKey }
}

describe('the overlap of a rotation', () => {
  test('has both secrets under one id, and ends by the time of the database', async () => {
    const { id, first } = await newKey()
    const { key, fullKey: second } = await rotate(id, 60)
    expect(key).toMatchObject({ id, prefix: second.slice(0, 12), previousPrefix: first.slice(0, 12) })
    expect(Object.values(key).map(String)).not.toContain(second)
    const callers = [await authenticate(first), await authenticate(second)]
    const presented = [first, second].map((secret) => ({ via: { keyId: id, prefix: secret.slice(0, 12) } }))
    expect(callers).toMatchObject(presented)
    services.clock.passSeconds(3_600)
    expect(await use(first, second)).toEqual(['done', 'done'])
    services.clock.passSeconds(-3_600)
    await set(id, "previous_ends_at = clock_timestamp() - interval '1 ms'")
    expect(await use(first, second)).toEqual(['key_rotated', 'done'])
    await services.keys.revoke(owner, id)
    expect(await use(first, second)).toEqual(['key_revoked', 'key_revoked'])
  })

  test.each([
    [undefined, 60, DAY],
    [2_592_000, 60, 2_592_000],
    [0, 60, 0],
    [undefined, 0.5, 'as the key'],
  ])('of %s s of a key of %d days lasts %s s', async (overlapSeconds, days, expected) => {
    const { id, expiresAt } = await newKey(days)
    const { rotatedAt, previousEndsAt } = (await rotate(id, overlapSeconds)).key
    const end = expected === 'as the key' ? expiresAt : new Date(Number(rotatedAt) + Number(expected) * 1_000)
    expect(previousEndsAt).toEqual(end)
  })

  test.each([-1, 0.5, 2_592_001, Number.NaN, '60'])(
    'cannot be of %s s, which is said twice',
    async (wrong) => {
      const { id, first } = await newKey()
      for (const _try of [1, 2])
        await expect(rotate(id, JSON.parse(JSON.stringify(wrong)) ?? Number.NaN)).rejects.toMatchObject({
          reason: 'invalid_request',
          field: ['overlapSeconds'],
        })
      expect(await use(first)).toEqual(['done'])
    },
  )
})

describe('while the secret before lives, another rotation', () => {
  test('is refused, again and again, and says when that ends', async () => {
    const { id, first } = await newKey()
    const { key, fullKey: second } = await rotate(id, 60)
    await use(second)
    const detail = expect.stringContaining(`until ${key.previousEndsAt?.toISOString()}`)
    for (const _try of [1, 2])
      await expect(rotate(id)).rejects.toMatchObject({ reason: 'rotation_pending', status: 409, detail })
    expect(await use(first, second)).toEqual(['done', 'done'])
  })

  test('replaces a newest secret that was never used, since its answer may have been lost', async () => {
    const { id, first } = await newKey()
    const { fullKey: lost } = await rotate(id, 60)
    await use(first)
    const { key, fullKey: third } = await rotate(id, 120)
    expect(Number(key.previousEndsAt) - Number(key.rotatedAt)).toBe(120_000)
    expect(await use(first, lost, third)).toEqual(['done', 'key_unknown', 'done'])
  })

  test('is refused where an older process has seen the use of the newest, of which it records that of the key', async () => {
    const { id } = await newKey()
    await rotate(id, 60)
    await set(id, "last_used_at = clock_timestamp() + interval '1 s'")
    expect(await reasonOf(rotate(id))).toBe('rotation_pending')
  })

  test('with an overlap of 0 ends every earlier secret now, also after both were used', async () => {
    const { id, first } = await newKey()
    const { fullKey: second } = await rotate(id, 60)
    await use(first, second)
    const { fullKey: third } = await rotate(id, 0)
    expect(await use(first, second, third)).toEqual(['key_unknown', 'key_rotated', 'done'])
    const { fullKey: fourth } = await rotate(id, 60)
    expect(await use(second, third, fourth)).toEqual(['key_unknown', 'done', 'done'])
  })
})

test('each secret has its own last use, and the one before is shown and found as long as it lives', async () => {
  const { id, first } = await newKey()
  await use(first)
  const { key, fullKey: second } = await rotate(id, 60)
  const shown = async () => secretsOf(await services.keys.find(owner, id), services.runtime.now())
  const [prefix, before] = [second, first].map((secret) => secret.slice(0, 12))
  const previous = { keyPrefix: before, lastUsedAt: expect.any(Date), endsAt: key.previousEndsAt }
  expect(await shown()).toEqual([{ keyPrefix: prefix, lastUsedAt: null, endsAt: null }, previous])
  await use(second)
  const [present] = await shown()
  expect(present).toEqual({ keyPrefix: prefix, lastUsedAt: expect.any(Date), endsAt: null })
  expect(await services.keys.count(owner, { search: before })).toBe(1)
  // Later uses of the same minute are not written.
  await use(first, second)
  expect((await shown())[0]).toEqual(present)
  await set(id, "previous_ends_at = clock_timestamp() - interval '1 ms'")
  expect(await shown()).toEqual([present])
})

test('a rotation is refused while a process of a version lives that does not know of it', async () => {
  const { id } = await newKey()
  const { sql } = services.database
  const insert =
    "INSERT INTO instances (id, started_at, lease_until, build) VALUES ($1, now(), now() + interval '1 h', $2)"
  await sql.query(insert, [v7(), '20261130210000_key_rotation'])
  expect(await reasonOf(rotate(id))).toBe('done')
  await sql.query(insert, [v7(), '20261129144340_call_has_turn'])
  for (const _try of [1, 2]) expect(await reasonOf(rotate(id))).toBe('upgrade_pending')
  await sql.query('UPDATE instances SET stopped_at = now()')
  expect(await reasonOf(rotate(id))).toBe('done')
  await sql.query('DELETE FROM instances')
})

test('a key that was revoked or has expired gets no other secret', async () => {
  const [revoked, expired] = [await newKey(), await newKey()]
  await services.keys.revoke(owner, revoked.id)
  await set(expired.id, 'expires_at = clock_timestamp()')
  for (const { id } of [revoked, expired]) expect(await reasonOf(rotate(id))).toBe('key_ended')
})

test('a secret is made by a token of an owner or administrator who may create such a key, and by nobody else', async () => {
  const plain = await services.join('user')
  const own = await newKey()
  const ofPlain = await newKey(60, { by: admin, ownerId: plain.userId })
  const ofOwner = await newKey(60, { by: admin, ownerId: owner.userId, permissions: ['admin'] })
  const { caller: byKey } = await services.keyOf(admin, { permissions: ['admin'] })
  // The creator was an administrator.
  const creator = { ...admin, role: 'premium' as const }
  const stranger = await services.join('premium')
  for (const [by, { id }, expected] of [
    [byKey, own, 'access_token_required'],
    [plain, ofPlain, 'role_denied'],
    [creator, ofPlain, 'role_denied'],
    [owner, ofOwner, 'role_denied'],
    [stranger, own, 'key_not_found'],
    [owner, { id: 'nonsense' }, 'key_not_found'],
    [admin, ofOwner, 'done'],
    [admin, ofPlain, 'done'],
    [owner, own, 'done'],
  ] as const)
    expect(await reasonOf(rotate(id, 60, by))).toBe(expected)
})

test('a rotation is an event of the audit log that has the prefixes and no hash, and a refused one is none', async () => {
  const { id, first } = await newKey()
  const { fullKey: second } = await rotate(id, 60)
  await use(second)
  await reasonOf(rotate(id))
  const events = await auditEventsOf(services.database.sql, { target_id: id })
  expect(events.map(({ operation }) => operation)).toEqual(['keys.create', 'keys.rotate'])
  const { before, after } = events[1] ?? {}
  expect(JSON.parse(before ?? '')).toMatchObject({ prefix: first.slice(0, 12) })
  expect(JSON.parse(after ?? '')).toMatchObject({
    prefix: second.slice(0, 12),
    previous_prefix: first.slice(0, 12),
  })
  for (const secret of [first, second]) expect(JSON.stringify(events)).not.toContain(hashKey(secret))
})
