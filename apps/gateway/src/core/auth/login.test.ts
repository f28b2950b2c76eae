import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createLimits } from '#core/limits/limits.ts'
import { createLogin } from './login.ts'
import { type Accounts, OPENING_MS, openAccounts, PASSWORD } from './users.test-support.ts'

let accounts: Accounts
let address = ''
let addresses = 0

beforeAll(async () => {
  accounts = await openAccounts()
}, OPENING_MS)
beforeEach(async () => {
  await accounts.clear()
  addresses += 1
  address = `10.0.0.${addresses}`
})
afterAll(() => accounts.database.close())

function attempt(username: string, password: string, from = address): Promise<string> {
  return accounts.login.login({ username, password }, from).then(
    () => 'accepted',
    (error: { reason: string }) => error.reason,
  )
}

test('the right password gives a token, and moves last_login but not updated_at', async () => {
  const { userId } = await accounts.join('premium', 'alice')
  accounts.clock.passSeconds(10)
  const { accessToken, expiresIn, user } = await accounts.login.login(
    { username: 'alice', password: PASSWORD },
    address,
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
  expect(await accounts.tokens.verify(accessToken)).toMatchObject({ userId })
})

test('the name is read without regard to case and to its Unicode form', async () => {
  await accounts.join('user', 'andré')
  expect(await attempt('André', PASSWORD)).toBe('accepted')
  expect(await attempt('ＡＮＤＲÉ', PASSWORD)).toBe('accepted')
})

test('unknown users, wrong passwords, suspended users and impossible names fail alike', async () => {
  await accounts.join('user', 'alice')
  const { userId } = await accounts.join('user', 'bob')
  await accounts.database.prisma.user.update({ where: { id: userId }, data: { status: 'suspended' } })
  const failures = await Promise.all(
    [
      ['alice', 'wrong'],
      ['nobody', PASSWORD],
      ['bob', PASSWORD],
      ['\0', PASSWORD],
    ].map(([username = '', password = '']) =>
      accounts.login.login({ username, password }, address).catch((error: unknown) => error),
    ),
  )
  for (const failure of failures) {
    expect(failure).toMatchObject({
      reason: 'login_failed',
      detail: 'The username or the password is wrong.',
    })
  }
})

test('after 10 failures the 11th try is refused even with the right password, but only from that address', async () => {
  await accounts.join('user', 'alice')
  for (let failure = 0; failure < 10; failure += 1)
    expect(await attempt('alice', 'wrong')).toBe('login_failed')
  expect(await attempt('Alice', PASSWORD)).toBe('rate_limited')
  await expect(
    accounts.login.login({ username: 'alice', password: PASSWORD }, address),
  ).rejects.toMatchObject({
    retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds >= 1 && seconds <= 60),
  })
  expect(await attempt('bob', 'wrong')).toBe('login_failed')
  expect(await attempt('alice', PASSWORD, '10.9.9.9')).toBe('accepted')
})

test('right passwords cost nothing', async () => {
  await accounts.join('user', 'alice')
  for (let login = 0; login < 12; login += 1) expect(await attempt('alice', PASSWORD)).toBe('accepted')
})

test('guesses in parallel are no more than guesses in turn, and soon cost no more hashes', async () => {
  await accounts.join('user', 'alice')
  let hashes = 0
  const passwords = {
    ...accounts.passwords,
    async verify(...guess: Parameters<typeof accounts.passwords.verify>) {
      hashes += 1
      return accounts.passwords.verify(...guess)
    },
  }
  const login = createLogin({ ...accounts, prisma: accounts.database.prisma, passwords })
  const guesses = Array.from({ length: 30 }, async (_, guess) => {
    const input = { username: 'alice', password: guess === 29 ? PASSWORD : 'wrong' }
    return login.login(input, address).then(
      () => 'accepted',
      (error: { reason: string }) => error.reason,
    )
  })
  const answers = await Promise.all(guesses)
  expect(answers.filter((answer) => answer === 'login_failed')).toHaveLength(10)
  expect(answers.at(-1)).toBe('rate_limited')
  expect(hashes).toBeLessThan(13)
})

test('an address has a count of its own over all names', async () => {
  const rule = { points: 100, windowSeconds: 60 }
  const rules = {
    chat: rule,
    upload: rule,
    agents: rule,
    reports: rule,
    calls: rule,
    refusedKeys: rule,
    login: rule,
  }
  const limits = createLimits({ ...rules, loginAddress: { points: 2, windowSeconds: 60 } })
  const login = createLogin({ ...accounts, prisma: accounts.database.prisma, limits })
  const fail = (username: string) => login.login({ username, password: 'wrong' }, address)
  await expect(fail('one-one')).rejects.toMatchObject({ reason: 'login_failed' })
  await expect(fail('two-two')).rejects.toMatchObject({ reason: 'login_failed' })
  await expect(fail('three')).rejects.toMatchObject({ reason: 'rate_limited' })
})

test('all addresses of an IPv6 /64 are one, and an IPv4 address is the same in IPv6', async () => {
  await accounts.join('user', 'alice')
  const nearby = (host: number) => `2001:db8:7:${addresses.toString(16)}:${host.toString(16)}::1`
  for (let failure = 0; failure < 10; failure += 1) {
    expect(await attempt('alice', 'wrong', nearby(failure))).toBe('login_failed')
    expect(await attempt('alice', 'wrong', failure % 2 === 0 ? address : `::ffff:${address}`)).toBe(
      'login_failed',
    )
  }
  expect(await attempt('alice', PASSWORD, nearby(99))).toBe('rate_limited')
  expect(await attempt('alice', PASSWORD, `::ffff:${address}`)).toBe('rate_limited')
  expect(await attempt('alice', PASSWORD, `2001:db8:8:${addresses.toString(16)}::1`)).toBe('accepted')
})

test('a name that is refused takes nothing from its address, nor does a database that is away', async () => {
  const rule = { points: 100, windowSeconds: 60 }
  const rules = { chat: rule, upload: rule, agents: rule, reports: rule, calls: rule, refusedKeys: rule }
  const limits = createLimits({
    ...rules,
    login: { ...rule, points: 1 },
    loginAddress: { ...rule, points: 3 },
  })
  let isAway = true
  const passwords = {
    ...accounts.passwords,
    verify: (...guess: Parameters<typeof accounts.passwords.verify>) =>
      isAway ? Promise.reject(new Error('away')) : accounts.passwords.verify(...guess),
  }
  const login = createLogin({ ...accounts, prisma: accounts.database.prisma, limits, passwords })
  const fail = (username: string) => login.login({ username, password: 'wrong' }, address)
  for (let time = 0; time < 5; time += 1) await expect(fail('one-one')).rejects.toThrow('away')
  isAway = false
  await expect(fail('one-one')).rejects.toMatchObject({ reason: 'login_failed' })
  for (let time = 0; time < 5; time += 1) {
    await expect(fail('one-one')).rejects.toMatchObject({ reason: 'rate_limited' })
  }
  await expect(fail('two-two')).rejects.toMatchObject({ reason: 'login_failed' })
})

test('a token that was issued while the password changed is void', async () => {
  const { userId } = await accounts.join('user', 'alice')
  const { prisma } = accounts.database
  const tokens = {
    ...accounts.tokens,
    async issue(user: Parameters<typeof accounts.tokens.issue>[0]) {
      await prisma.user.update({ where: { id: userId }, data: { tokenEpoch: { increment: 1 } } })
      return accounts.tokens.issue(user)
    },
  }
  const login = createLogin({ ...accounts, prisma, tokens })
  const { accessToken } = await login.login({ username: 'alice', password: PASSWORD }, address)
  await expect(accounts.tokens.verify(accessToken)).rejects.toMatchObject({ reason: 'token_revoked' })
})

test('a logout ends the token; an API key has none to end', async () => {
  await accounts.join('premium', 'alice')
  const { accessToken } = await accounts.login.login({ username: 'alice', password: PASSWORD }, address)
  const caller = await accounts.tokens.verify(accessToken)
  const key = await accounts.keyOf(caller)
  await accounts.login.logout(caller)
  await expect(accounts.tokens.verify(accessToken)).rejects.toMatchObject({ reason: 'token_revoked' })
  await expect(accounts.login.logout(key.caller)).rejects.toMatchObject({ reason: 'access_token_required' })
})

test.each([
  ['username', { username: '', password: PASSWORD }],
  ['username', { username: 'x'.repeat(257), password: PASSWORD }],
  ['password', { username: 'alice', password: '' }],
  ['password', { username: 'alice', password: 'x'.repeat(257) }],
])('a %s that nobody can have is refused before it is hashed or counted (case %#)', async (field, input) => {
  await expect(accounts.login.login(input, '192.0.2.9')).rejects.toMatchObject({
    reason: 'invalid_request',
    detail: `${field}: expected a string of 1 to 256 characters.`,
  })
})
