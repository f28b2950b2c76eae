import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Problem } from '#core/base/errors/errors.ts'
import { rulesOf } from '#core/limits/limits.test-support.ts'
import { createLimits } from '#core/limits/limits.ts'
import { createLogin } from './login.ts'
import { openUserServices, PASSWORD, type UserServices } from './users.test-support.ts'

let services: UserServices
let from = { address: '', requestId: 'test' }
let addresses = 0

beforeAll(async () => {
  services = await openUserServices()
})
beforeEach(async () => {
  await services.clear()
  addresses += 1
  from = { ...from, address: `10.0.0.${addresses}` }
})
afterAll(() => services.database.close())

function attempt(username: string, password: string, address = from.address): Promise<string> {
  return services.login.login({ username, password }, { ...from, address }).then(
    () => 'accepted',
    (error: { reason: string }) => error.reason,
  )
}

test('the right password returns a token and sets last_login but not updated_at', async () => {
  const { userId } = await services.join('premium', 'alice')
  services.clock.passSeconds(10)
  const { accessToken, expiresIn, user } = await services.login.login(
    { username: 'alice', password: PASSWORD },
    from,
  )
  expect(expiresIn).toBe(3600)
  expect(user).toMatchObject({
    id: userId,
    username: 'alice',
    role: 'premium',
    apiCallsCount: 0n,
    maxApiCalls: 100n,
  })
  expect(user.lastLogin?.getTime()).toBeGreaterThan(user.updatedAt.getTime())
  expect(await services.tokens.verify(accessToken)).toMatchObject({ userId })
})

test('usernames are matched regardless of case and Unicode normalization', async () => {
  await services.join('user', 'andré')
  expect(await attempt('André', PASSWORD)).toBe('accepted')
  expect(await attempt('ＡＮＤＲÉ', PASSWORD)).toBe('accepted')
})

test('unknown users, wrong passwords, suspended users and invalid names give the same error', async () => {
  await services.join('user', 'alice')
  const { userId } = await services.join('user', 'bob')
  await services.database.prisma.user.update({ where: { id: userId }, data: { status: 'suspended' } })
  const failures = await Promise.all(
    [
      ['alice', 'wrong'],
      ['nobody', PASSWORD],
      ['bob', PASSWORD],
      ['\0', PASSWORD],
    ].map(([username = '', password = '']) =>
      services.login.login({ username, password }, from).catch((error: unknown) => error),
    ),
  )
  for (const failure of failures) {
    expect(failure).toMatchObject({
      reason: 'login_failed',
      detail: 'The username or the password is wrong.',
    })
  }
})

test('after 10 failures the 11th attempt is rejected even with the right password, but only from that address', async () => {
  await services.join('user', 'alice')
  for (let failure = 0; failure < 10; failure += 1)
    expect(await attempt('alice', 'wrong')).toBe('login_failed')
  expect(await attempt('Alice', PASSWORD)).toBe('rate_limited')
  await expect(services.login.login({ username: 'alice', password: PASSWORD }, from)).rejects.toMatchObject({
    retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds >= 1 && seconds <= 60),
  })
  expect(await attempt('bob', 'wrong')).toBe('login_failed')
  expect(await attempt('alice', PASSWORD, '10.9.9.9')).toBe('accepted')
})

test('successful logins do not count against the limit', async () => {
  await services.join('user', 'alice')
  for (let login = 0; login < 12; login += 1) expect(await attempt('alice', PASSWORD)).toBe('accepted')
})

test('parallel guesses are limited like sequential ones, and rejected guesses are not hashed', async () => {
  await services.join('user', 'alice')
  let hashes = 0
  const passwords = {
    ...services.passwords,
    async verify(...guess: Parameters<typeof services.passwords.verify>) {
      hashes += 1
      return services.passwords.verify(...guess)
    },
  }
  const login = createLogin({ ...services, ...services.database, passwords })
  const guesses = Array.from({ length: 30 }, async (_, guess) => {
    const input = { username: 'alice', password: guess === 29 ? PASSWORD : 'wrong' }
    return login.login(input, from).then(
      () => 'accepted',
      (error: { reason: string }) => error.reason,
    )
  })
  const answers = await Promise.all(guesses)
  expect(answers.filter((answer) => answer === 'login_failed')).toHaveLength(10)
  expect(answers.at(-1)).toBe('rate_limited')
  expect(hashes).toBeLessThan(13)
})

test('attempts of one address are also limited over all names', async () => {
  const rule = { points: 100, windowSeconds: 60 }
  const limits = createLimits({ ...rulesOf(rule), loginAddress: { points: 2, windowSeconds: 60 } })
  const login = createLogin({ ...services, ...services.database, limits })
  const fail = (username: string) => login.login({ username, password: 'wrong' }, from)
  await expect(fail('one-one')).rejects.toMatchObject({ reason: 'login_failed' })
  await expect(fail('two-two')).rejects.toMatchObject({ reason: 'login_failed' })
  await expect(fail('three')).rejects.toMatchObject({ reason: 'rate_limited' })
})

test('all addresses of an IPv6 /64 share a limit, and an IPv4-mapped address counts as its IPv4 address', async () => {
  await services.join('user', 'alice')
  const nearby = (host: number) => `2001:db8:7:${addresses.toString(16)}:${host.toString(16)}::1`
  for (let failure = 0; failure < 10; failure += 1) {
    expect(await attempt('alice', 'wrong', nearby(failure))).toBe('login_failed')
    expect(await attempt('alice', 'wrong', failure % 2 === 0 ? from.address : `::ffff:${from.address}`)).toBe(
      'login_failed',
    )
  }
  expect(await attempt('alice', PASSWORD, nearby(99))).toBe('rate_limited')
  expect(await attempt('alice', PASSWORD, `::ffff:${from.address}`)).toBe('rate_limited')
  expect(await attempt('alice', PASSWORD, `2001:db8:8:${addresses.toString(16)}::1`)).toBe('accepted')
})

test('an attempt that is rejected for its name, or fails with the database, does not count against the address', async () => {
  const rule = { points: 100, windowSeconds: 60 }
  const limits = createLimits({
    ...rulesOf(rule),
    login: { ...rule, points: 1 },
    loginAddress: { ...rule, points: 3 },
  })
  let isAway = true
  const passwords = {
    ...services.passwords,
    verify: (...guess: Parameters<typeof services.passwords.verify>) =>
      isAway ? Promise.reject(new Error('away')) : services.passwords.verify(...guess),
  }
  const login = createLogin({ ...services, ...services.database, limits, passwords })
  const fail = (username: string) => login.login({ username, password: 'wrong' }, from)
  for (let time = 0; time < 5; time += 1) await expect(fail('one-one')).rejects.toThrow('away')
  isAway = false
  await expect(fail('one-one')).rejects.toMatchObject({ reason: 'login_failed' })
  for (let time = 0; time < 5; time += 1) {
    await expect(fail('one-one')).rejects.toMatchObject({ reason: 'rate_limited' })
  }
  await expect(fail('two-two')).rejects.toMatchObject({ reason: 'login_failed' })
})

test('a token that is issued while the password changes is revoked', async () => {
  const { userId } = await services.join('user', 'alice')
  const { prisma } = services.database
  const tokens = {
    ...services.tokens,
    async issue(user: Parameters<typeof services.tokens.issue>[0]) {
      await prisma.user.update({ where: { id: userId }, data: { tokenEpoch: { increment: 1 } } })
      return services.tokens.issue(user)
    },
  }
  const login = createLogin({ ...services, ...services.database, tokens })
  const { accessToken } = await login.login({ username: 'alice', password: PASSWORD }, from)
  await expect(services.tokens.verify(accessToken)).rejects.toMatchObject({ reason: 'token_revoked' })
})

test('a logout revokes the token and rejects API keys', async () => {
  await services.join('premium', 'alice')
  const { accessToken } = await services.login.login({ username: 'alice', password: PASSWORD }, from)
  const caller = await services.tokens.verify(accessToken)
  const key = await services.keyOf(caller)
  await services.login.logout(caller)
  await expect(services.tokens.verify(accessToken)).rejects.toMatchObject({ reason: 'token_revoked' })
  await expect(services.login.logout(key.caller)).rejects.toMatchObject({ reason: 'access_token_required' })
})

test.each([
  ['username', { username: '', password: PASSWORD }],
  ['username', { username: 'x'.repeat(257), password: PASSWORD }],
  ['password', { username: 'alice', password: '' }],
  ['password', { username: 'alice', password: 'x'.repeat(257) }],
])('a %s of impossible length is rejected before it is hashed or counted (case %#)', async (field, input) => {
  await expect(services.login.login(input, { ...from, address: '192.0.2.9' })).rejects.toMatchObject({
    reason: 'invalid_request',
    detail: `${field}: expected a string of 1 to 256 characters.`,
  })
})

test('successful logins of a user from one address are limited, each of which leaves a token and an event', async () => {
  const rule = { points: 100, windowSeconds: 60 }
  const limits = createLimits({ ...rulesOf(rule), successfulLogins: { ...rule, points: 2 } })
  const login = createLogin({ ...services, ...services.database, limits })
  await services.join('user', 'poller')
  const logIn = (address = from.address) =>
    login.login({ username: 'poller', password: PASSWORD }, { ...from, address }).then(
      () => 'accepted',
      ({ reason, limit }: Problem) => `${reason} ${limit}`,
    )
  expect([await logIn(), await logIn(), await logIn()]).toEqual([
    'accepted',
    'accepted',
    'rate_limited successful_logins',
  ])
  expect(await logIn('203.0.113.77')).toBe('accepted')
})
