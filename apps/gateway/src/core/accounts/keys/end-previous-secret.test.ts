import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { secretsOf } from './key.ts'

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

const from = { address: '192.0.2.1', requestId: 'test' }
const answerTo = (secret: string) =>
  services.authentication
    .authenticate(secret, from, () => undefined)
    .then(
      () => 'done',
      (error: { reason: string }) => error.reason,
    )

test('the secret before the present one is refused at once, the present one goes on, and a repetition keeps the end', async () => {
  const { id, fullKey: old } = await services.keyOf(owner)
  const { key, fullKey } = await services.keys.rotate(owner, id, { overlapSeconds: 3_600 })
  expect(secretsOf(key, services.runtime.now())).toHaveLength(2)
  expect([await answerTo(old), await answerTo(fullKey)]).toEqual(['done', 'done'])

  const ended = await services.keys.endPreviousSecret(owner, id)
  expect(secretsOf(ended, services.runtime.now())).toMatchObject([{ keyPrefix: fullKey.slice(0, 12) }])
  expect([await answerTo(old), await answerTo(fullKey)]).toEqual(['key_rotated', 'done'])
  const again = await services.keys.endPreviousSecret(owner, id)
  expect(again.previousEndsAt).toEqual(ended.previousEndsAt)
  const operations = (await auditEventsOf(services.database.sql, { target_id: id })).map(
    ({ operation }) => operation,
  )
  expect(operations.filter((operation) => operation === 'keys.endPreviousSecret')).toHaveLength(1)
})

test('an owner ends it also for a key that an administrator made, others find no such key, and without a rotation nothing changes', async () => {
  const { id, fullKey } = await services.keyOf(admin, { ownerId: owner.userId })
  const { previousEndsAt } = await services.keys.endPreviousSecret(owner, id)
  expect([previousEndsAt, await answerTo(fullKey)]).toEqual([null, 'done'])
  await services.keys.rotate(admin, id, {})
  const stranger = await services.join('premium')
  await expect(services.keys.endPreviousSecret(stranger, id)).rejects.toMatchObject({
    reason: 'key_not_found',
  })
  expect(await answerTo(fullKey)).toBe('done')
  await services.keys.endPreviousSecret(owner, id)
  expect(await answerTo(fullKey)).toBe('key_rotated')
})
