import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserServices, PASSWORD, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { createKeys } from '#core/accounts/keys/keys.ts'
import { createUsers } from '#core/accounts/users/users.ts'
import type { Problem } from '#core/base/errors/errors.ts'
import type { Principal } from '#core/requests/principal.ts'
import { rulesOf } from './limits.test-support.ts'
import { createLimits, type LimitVerdict } from './limits.ts'
import { createTakeWrite } from './writes.ts'

const WRITES = 3
const ADMIN_WRITES = 4

let services: UserServices
beforeAll(async () => {
  services = await openUserServices()
})
afterAll(() => services?.database.close())

/** The services of a process in which nothing was written yet. */
function freshServices() {
  const rules = rulesOf({ points: 1_000, windowSeconds: 60 })
  const perMinute = (points: number) => ({ points, windowSeconds: 60 })
  const limits = createLimits({
    ...rules,
    writes: perMinute(WRITES),
    adminWrites: perMinute(ADMIN_WRITES),
    successfulLogins: perMinute(2),
  })
  const deps = { ...services, prisma: services.database.prisma, reads: services.searches }
  const takeWrite = createTakeWrite(limits)
  const catalog = { knownIds: () => new Set<string>() }
  const bounds = { maxLifetimeDays: 3_650, activePerUserMax: 1_000, createdPerDayMax: 1_000 }
  return {
    keys: createKeys({
      ...deps,
      sql: services.database.sql,
      takeWrite,
      rules: { catalog, limits: rules, ...bounds },
    }),
    users: createUsers({ ...deps, limits, takeWrite, config: { maxApiCalls: 1 } }),
  }
}

const newKey = () => ({
  name: 'a key',
  description: '',
  permissions: ['chat' as const],
  expiresAt: new Date(services.runtime.now().getTime() + 86_400_000).toISOString(),
})

const outcome = (write: Promise<unknown>) =>
  write.then(
    () => 'done',
    ({ reason, limit }: Problem) => `${reason} ${limit}`,
  )

describe('what a user creates, changes, resets and deletes', () => {
  test('is limited for all of its credentials together, and for each user alone', async () => {
    const { keys } = freshServices()
    const [mei, tom] = [await services.join('premium'), await services.join('premium')]
    const { caller, id } = await services.keyOf(mei)
    const withKey: Principal = { ...caller, via: { ...caller.via, permissions: ['admin'] } } as Principal
    expect(await outcome(keys.create(mei, newKey()))).toBe('done')
    expect(await outcome(keys.update(withKey, id, { name: 'another name' }))).toBe('done')
    expect(await outcome(keys.resetUsage(mei, id, 'day'))).toBe('done')
    expect(await outcome(keys.create(mei, newKey()))).toBe('rate_limited writes')
    expect(await outcome(keys.update(withKey, id, { name: 'a third name' }))).toBe('rate_limited writes')
    expect(await outcome(keys.create(tom, newKey()))).toBe('done')
  })

  test('is limited for administrators by a limit of their own', async () => {
    const { users } = freshServices()
    const admin = await services.join('admin')
    const names = Array.from({ length: ADMIN_WRITES + 1 }, (_, n) => `writer-${n}`)
    const made: string[] = []
    for (const username of names) {
      made.push(await outcome(users.create(admin, { username, password: PASSWORD, role: 'user' })))
    }
    expect(made).toEqual([...Array(ADMIN_WRITES).fill('done'), 'rate_limited admin_writes'])
  })

  test('is reported whether or not it is refused, and takes no point where the input is refused', async () => {
    const { keys } = freshServices()
    const mei = await services.join('premium')
    const verdicts: LimitVerdict[] = []
    const show = (verdict: LimitVerdict) => verdicts.push(verdict)
    await outcome(keys.create(mei, { ...newKey(), name: '' }, show))
    for (let n = 0; n <= WRITES; n += 1) await outcome(keys.create(mei, newKey(), show))
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0])
  })
})

test('what ends an incident is never refused: revoking keys, suspending users, changing passwords', async () => {
  const { keys, users } = freshServices()
  const [admin, mei] = [await services.join('admin'), await services.join('premium')]
  const leaked = await services.keyOf(mei)
  for (const { userId } of [await services.join('user'), await services.join('user')]) {
    for (const role of ['premium', 'user', 'premium'] as const)
      await outcome(users.update(admin, userId, { role }))
  }
  expect(await outcome(users.update(admin, mei.userId, { role: 'user' }))).toBe('rate_limited admin_writes')
  expect(await outcome(keys.revoke(admin, leaked.id))).toBe('done')
  expect(await outcome(users.setPassword(admin, mei.userId, PASSWORD))).toBe('done')
  expect(await outcome(users.update(admin, mei.userId, { status: 'suspended' }))).toBe('done')
  // She is suspended already, and each further time would leave an event in the audit log.
  expect(await outcome(users.update(admin, mei.userId, { status: 'suspended' }))).toBe(
    'rate_limited admin_writes',
  )
})

test('a user changes the own password as often as it may log in', async () => {
  const { users } = freshServices()
  const mei = await services.join('premium')
  const change = () =>
    outcome(users.changeOwnPassword(mei, { currentPassword: PASSWORD, newPassword: PASSWORD }))
  expect(await change()).toBe('done')
  expect(await change()).toBe('done')
  expect(await change()).toBe('rate_limited successful_logins')
})
