import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { stateOf } from './key.ts'
import type { KeyUpdate } from './key-input.ts'

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

const update = (by: Principal, id: string, change: KeyUpdate) => services.keys.update(by, id, change)
const pause = (by: Principal, id: string) => update(by, id, { isActive: false })
const resume = (by: Principal, id: string) => update(by, id, { isActive: true })
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { reason: string }) => error.reason,
  )
const use = ({ fullKey }: { fullKey: string }, address = '192.0.2.1') =>
  reasonOf(services.authentication.authenticate(fullKey, { address, requestId: '' }, () => undefined))
const inADay = () => new Date(services.runtime.now().getTime() + 86_400_000).toISOString()

test('a pause holds until it is lifted, its repetition keeps the first time, and each change is an event', async () => {
  const key = await services.keyOf(owner)
  const { pausedAt } = await pause(owner, key.id)
  expect([await use(key), await use(key)]).toEqual(['key_paused', 'key_paused'])
  await services.database.sql.query("UPDATE api_keys SET paused_at = paused_at - interval '1 h'")
  const again = await pause(owner, key.id)
  expect(Number(pausedAt) - Number(again.pausedAt)).toBe(3_600_000)
  expect(stateOf(again, services.runtime.now())).toBe('paused')
  for (const _try of [1, 2]) expect((await resume(owner, key.id)).pausedAt).toBeNull()
  expect(await use(key)).toBe('done')
  const events = await auditEventsOf(services.database.sql, { target_id: key.id })
  const words = events.map(({ operation }) => operation).filter((word) => word.startsWith('keys.'))
  expect(words).toEqual(['keys.create', 'keys.pause', 'keys.resume'])
})

test('a paused key and a denied address do not count as refused keys of the address', async () => {
  const key = await services.keyOf(owner)
  const { refusedKeys } = services.limits
  const { remaining } = await refusedKeys.take('198.51.100.1')
  await update(owner, key.id, { allowedAddresses: ['192.0.2.0/24'] })
  expect(await use(key, '198.51.100.1')).toBe('address_denied')
  await pause(owner, key.id)
  expect(await use(key, '198.51.100.1')).toBe('key_paused')
  expect((await refusedKeys.take('198.51.100.1')).remaining).toBe(remaining - 1)
})

test('only an administrator lifts the pause of one, also one that came after that of the creator', async () => {
  const [first, second] = [await services.keyOf(owner), await services.keyOf(owner)]
  await pause(admin, first.id)
  const { pausedAt } = await pause(owner, second.id)
  expect((await pause(admin, second.id)).pausedAt).toEqual(pausedAt)
  for (const { id } of [first, second]) {
    await pause(owner, id)
    for (const _try of [1, 2]) expect(await reasonOf(resume(owner, id))).toBe('role_denied')
    await resume(admin, id)
    await pause(owner, id)
    expect(await reasonOf(resume(owner, id))).toBe('done')
  }
})

test('a key that was revoked or has expired is neither paused nor resumed, unless the same change prolongs it', async () => {
  const [revoked, expired] = [await services.keyOf(owner), await services.keyOf(owner)]
  await services.keys.revoke(owner, revoked.id)
  await pause(owner, expired.id)
  await services.database.sql.query("UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [
    expired.id,
  ])
  for (const { id } of [revoked, expired])
    for (const isActive of [false, true])
      expect(await reasonOf(update(owner, id, { isActive, name: 'changed' }))).toBe('key_ended')
  expect(await reasonOf(update(owner, revoked.id, { isActive: true, expiresAt: inADay() }))).toBe('key_ended')
  expect((await services.keys.find(owner, expired.id)).name).toBe('a key')
  await update(owner, expired.id, { isActive: true, expiresAt: inADay() })
  expect(await use(expired)).toBe('done')
  const events = await auditEventsOf(services.database.sql, { target_id: expired.id })
  expect(events.at(-1)?.operation).toBe('api_keys.extend_expired')
})
