import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openUserServices, PASSWORD, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { periodStart } from '#core/ledger/quota-period.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import { apiCallsCount } from './user.ts'
import type { FirstStart, Users } from './users.ts'

let services: UserServices
let users: Users & FirstStart
let admin: Principal

beforeAll(async () => {
  services = await openUserServices()
  users = services.users
})
beforeEach(async () => {
  await services.clear()
  admin = await services.join('admin', 'admin')
})
afterAll(() => services.database.close())

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { reason: string }) => error.reason,
  )

const rowOf = ({ userId: id }: Principal) =>
  services.database.prisma.user.findUniqueOrThrow({ where: { id } })

test('a created user has its password and the defaults of the installation', async () => {
  const user = await users.create(admin, { username: 'Ａlice', password: PASSWORD })
  expect(user).toMatchObject({
    id: expect.any(String),
    username: 'Alice',
    role: 'user',
    status: 'active',
    createdAt: expect.any(Date),
    updatedAt: expect.any(Date),
    lastLogin: null,
    apiCallsCount: 0n,
    maxApiCalls: 1_000_000n,
    quotaPeriod: 'none',
  })
  await services.login.login(
    { username: 'alice', password: PASSWORD },
    { address: '10.0.0.1', requestId: 'test' },
  )
})

test('a username is unique regardless of case', async () => {
  expect(await reasonOf(users.create(admin, { username: 'ADMIN', password: PASSWORD }))).toBe(
    'username_taken',
  )
})

test.each([
  [{ username: 'ab', password: PASSWORD }, 'username: '],
  [{ username: 'a b c', password: PASSWORD }, 'username: '],
  [{ username: 'alice', password: 'short' }, 'password: '],
  [{ username: 'alice', password: 'x'.repeat(257) }, 'password: '],
  [{ username: 'alice', password: PASSWORD, maxApiCalls: -1 }, 'maxApiCalls: '],
  [{ username: 'alice', password: PASSWORD, maxApiCalls: 0.5 }, 'maxApiCalls: '],
  [{ username: 'alice', password: PASSWORD, maxApiCalls: 2 ** 53 }, 'maxApiCalls: '],
])('a new user with %o is rejected', async (input, detail) => {
  await expect(users.create(admin, input)).rejects.toMatchObject({ detail: expect.stringContaining(detail) })
})

test('an invalid role, status, period or quota is rejected for every face', async () => {
  const { userId } = await services.join('user')
  for (const [field, change] of [
    ['role', { role: 'root' }],
    ['status', { status: 'ACTIVE' }],
    ['quotaPeriod', { quotaPeriod: 'week' }],
    ['maxApiCalls', { maxApiCalls: Number.NaN }],
  ] as const) {
    // As a face without a schema would pass it.
    const untyped = JSON.parse(JSON.stringify(change))
    await expect(users.update(admin, userId, untyped)).rejects.toMatchObject({
      reason: 'invalid_request',
      detail: expect.stringContaining(`${field}: expected `),
    })
  }
})

test('only admins manage users, and every user can read its own account', async () => {
  for (const role of ['premium', 'user'] as const) {
    const caller = await services.join(role)
    const id = caller.userId
    const tries = [
      users.create(caller, { username: 'mallory', password: PASSWORD }),
      users.list(caller, { take: 10 }),
      users.count(caller),
      users.find(caller, id),
      users.update(caller, id, { role: 'admin' }),
      users.setPassword(caller, id, PASSWORD),
    ]
    for (const work of tries) expect(await reasonOf(work)).toBe('role_denied')
    expect(await users.me(caller)).toMatchObject({ id, role })
  }
})

test.each(['not-an-id', v7(), '\0'])('the id %j does not match a user', async (id) => {
  expect(await reasonOf(users.find(admin, id))).toBe('user_not_found')
  expect(await reasonOf(users.update(admin, id, { role: 'user' }))).toBe('user_not_found')
  expect(await reasonOf(users.setPassword(admin, id, PASSWORD))).toBe('user_not_found')
})

test('pages go from the newest to the oldest user and contain each user once', async () => {
  const ids = [admin.userId]
  for (let count = 0; count < 4; count += 1) ids.unshift((await services.join('user')).userId)
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await readOrderedPage({ limit: 2, cursor }, (query) => users.list(admin, query))
    seen.push(...page.items.map((user) => user.id))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  expect(seen).toEqual(ids)
})

test.each(['', 'x', '!!!', 'AAAAAAAAAAAAAAAAAAAAAA==', `${'A'.repeat(21)}B`, 'A'.repeat(200)])(
  'the cursor %j is rejected',
  async (cursor) => {
    const page = readOrderedPage({ limit: 2, cursor }, (query) => users.list(admin, query))
    await expect(page).rejects.toMatchObject({
      reason: 'invalid_request',
      detail: expect.stringContaining('cursor: '),
    })
  },
)

test('a change sets updated_at and does not affect other fields', async () => {
  const user = await services.join('user')
  const before = await users.find(admin, user.userId)
  services.clock.passSeconds(5)
  const after = await users.update(admin, user.userId, {
    role: 'premium',
    maxApiCalls: Number.MAX_SAFE_INTEGER,
  })
  expect(after).toEqual({
    ...before,
    role: 'premium',
    maxApiCalls: 2n ** 53n - 1n,
    updatedAt: expect.any(Date),
  })
  expect(after.updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime())
})

test('a suspension and a new password revoke the tokens, other changes do not', async () => {
  const user = await services.join('user')
  await users.update(admin, user.userId, { role: 'premium', status: 'active', maxApiCalls: 1 })
  expect((await rowOf(user)).tokenEpoch).toBe(0)
  await users.update(admin, user.userId, { status: 'suspended' })
  await users.update(admin, user.userId, { status: 'suspended' })
  expect((await rowOf(user)).tokenEpoch).toBe(1)
  await users.setPassword(admin, user.userId, 'another password')
  expect((await rowOf(user)).tokenEpoch).toBe(2)
})

test('the last active admin can be neither demoted nor suspended', async () => {
  const suspended = await services.join('admin')
  await users.update(admin, suspended.userId, { status: 'suspended' })
  expect(await reasonOf(users.update(admin, admin.userId, { role: 'premium' }))).toBe('last_admin')
  expect(await reasonOf(users.update(admin, admin.userId, { status: 'suspended' }))).toBe('last_admin')
  expect(await reasonOf(users.update(admin, admin.userId, { maxApiCalls: 5 }))).toBe('done')
  expect(await reasonOf(users.update(admin, suspended.userId, { role: 'user' }))).toBe('done')
})

test('a user who changes the own password must send the current one', async () => {
  const user = await services.join('user', 'alice')
  const change = (currentPassword: string, newPassword: string) =>
    reasonOf(users.changeOwnPassword(user, { currentPassword, newPassword }))
  expect(await change('wrong', 'the new password')).toBe('invalid_request')
  expect(await change(PASSWORD, 'short')).toBe('invalid_request')
  expect(await change(PASSWORD, 'the new password')).toBe('done')
  expect((await rowOf(user)).tokenEpoch).toBe(1)
  await services.login.login(
    { username: 'alice', password: 'the new password' },
    { address: '10.0.0.1', requestId: 'test' },
  )
})

test('an overlong password is neither hashed nor counted as an attempt', async () => {
  const user = await services.join('user')
  for (const currentPassword of ['', 'x'.repeat(257), 'x'.repeat(1_000_000)]) {
    const change = users.changeOwnPassword(user, { currentPassword, newPassword: 'the new password' })
    await expect(change).rejects.toMatchObject({
      reason: 'invalid_request',
      detail: 'currentPassword: expected a string of 1 to 256 characters.',
    })
  }
  const changed = { currentPassword: PASSWORD, newPassword: 'the new password' }
  expect(await reasonOf(users.changeOwnPassword(user, changed))).toBe('done')
})

test('attempts to guess the password with a stolen token are limited', async () => {
  const user = await services.join('user')
  const change = (currentPassword: string) =>
    reasonOf(users.changeOwnPassword(user, { currentPassword, newPassword: 'the new password' }))
  for (let failure = 0; failure < 10; failure += 1) expect(await change('wrong')).toBe('invalid_request')
  expect(await change(PASSWORD)).toBe('rate_limited')
})

test('parallel attempts at the current password are limited like sequential ones', async () => {
  const user = await services.join('user')
  const guesses = Array.from({ length: 81 }, (_, guess) =>
    reasonOf(
      users.changeOwnPassword(user, {
        currentPassword: guess === 80 ? PASSWORD : 'wrong',
        newPassword: 'the new password',
      }),
    ),
  )
  const answers = await Promise.all(guesses)
  expect(answers.filter((answer) => answer === 'invalid_request')).toHaveLength(10)
  expect(answers.filter((answer) => answer === 'rate_limited')).toHaveLength(71)
  expect((await rowOf(user)).tokenEpoch).toBe(0)
})

test('the right password does not count against the limit', async () => {
  const user = await services.join('user')
  for (let change = 0; change < 12; change += 1) {
    expect(
      await reasonOf(users.changeOwnPassword(user, { currentPassword: PASSWORD, newPassword: PASSWORD })),
    ).toBe('done')
  }
})

test('the first admin is created only if there are no users', async () => {
  const credentials = { username: 'root', password: PASSWORD }
  expect(await users.createFirstAdmin(credentials)).toBeUndefined()
  await services.clear()
  expect(await users.createFirstAdmin(credentials)).toMatchObject({
    username: 'root',
    role: 'admin',
    status: 'active',
  })
})

test('the shown count is that of the current period', async () => {
  const user = await services.join('user')
  const { prisma } = services.database
  const shownFor = async (quotaPeriod: 'none' | 'day' | 'month', quotaStart: Date) => {
    const data = { quotaPeriod, quotaStart, apiCallsCount: 7 }
    await prisma.user.update({ where: { id: user.userId }, data })
    return apiCallsCount(await users.me(user), services.runtime.now())
  }
  const now = services.runtime.now()
  for (const period of ['day', 'month'] as const) {
    expect(await shownFor(period, periodStart(period, now))).toBe(7)
    expect(await shownFor(period, new Date(periodStart(period, now).getTime() - 1))).toBe(0)
  }
  expect(await shownFor('none', new Date(0))).toBe(7)
})

test('a new quota period starts with the calls that it already contains', async () => {
  const user = await services.join('user')
  const now = services.runtime.now()
  await admit(user, 'chat', now, 3)
  await admit(user, 'upload', now, 2)
  await admit(user, 'chat', new Date(periodStart('month', now).getTime() - 1), 4)
  const change = (quotaPeriod: 'none' | 'day' | 'month') => users.update(admin, user.userId, { quotaPeriod })
  expect(await change('day')).toMatchObject({ quotaPeriod: 'day', apiCallsCount: 3n })
  expect(await change('month')).toMatchObject({ quotaPeriod: 'month', apiCallsCount: 3n })
  expect((await rowOf(user)).quotaStart).toEqual(periodStart('month', now))
  expect(await change('none')).toMatchObject({ quotaPeriod: 'none', apiCallsCount: 7n })
  await services.database.prisma.user.update({ where: { id: user.userId }, data: { apiCallsCount: 9 } })
  expect(await change('none')).toMatchObject({ apiCallsCount: 9n })
})

test('the calls of a new period are counted from the rollups, which outlive the ledger', async () => {
  const user = await services.join('user')
  const { sql } = services.database
  const now = services.runtime.now()
  const [day, month, longAgo] = [periodStart('day', now), periodStart('month', now), new Date('2020-01-01')]
  const rollup = (span: string, bucket: Date, calls: number, kind = 'chat') =>
    sql.query(
      `INSERT INTO rollups (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome, calls,
         token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
       VALUES ($1::rollup_span, 'owner', $2, $3, '', $4, 'dify', '', '', 'done', $5, 0, 0, 0, 0, '{}', '{}')`,
      [span, user.userId, bucket.toISOString(), kind, calls],
    )
  await rollup('day', day, 3)
  await rollup('day', day, 50, 'upload')
  await rollup('month', month, 20)
  await rollup('month', longAgo, 700)
  await admit(user, 'chat', now, 2)
  const change = (quotaPeriod: 'none' | 'day' | 'month') => users.update(admin, user.userId, { quotaPeriod })
  expect(await change('day')).toMatchObject({ apiCallsCount: 5n })
  expect(await change('month')).toMatchObject({ apiCallsCount: 22n })
  expect(await change('none')).toMatchObject({ apiCallsCount: 722n })
})

test('the quota period begins by the clock of the database', async () => {
  const user = await services.join('user')
  services.clock.passSeconds(2 * 86_400)
  await users.update(admin, user.userId, { quotaPeriod: 'day' })
  services.clock.passSeconds(-2 * 86_400)
  const [clock] = await services.database.sql.query<{ day: Date }>(
    "SELECT date_trunc('day', clock_timestamp(), 'UTC') AS day",
  )
  expect((await rowOf(user)).quotaStart).toEqual(clock?.day)
})

async function admit(
  user: Principal,
  kind: 'chat' | 'upload',
  admittedAt: Date,
  count: number,
): Promise<void> {
  const call = {
    requestId: '',
    keyId: v7(),
    ownerId: user.userId,
    kind,
    face: 'rest',
    agent: 'dify',
  } as const
  await services.database.prisma.call.createMany({
    data: Array.from({ length: count }, () => ({ ...call, id: v7(), instance: v7(), admittedAt })),
  })
}
