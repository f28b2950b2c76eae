import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeApiKey } from '#core/keys/key-format.ts'
import { type Accounts, OPENING_MS, openAccounts } from './users.test-support.ts'

const ADDRESS = '10.0.0.1'
let accounts: Accounts

beforeAll(async () => {
  accounts = await openAccounts()
}, OPENING_MS)
beforeEach(() => accounts.clear())
afterAll(() => accounts.database.close())

test('a key acts for its owner, with the role that the owner has now', async () => {
  const admin = await accounts.join('admin')
  const owner = await accounts.join('premium')
  const key = await accounts.keyOf(admin, {
    ownerId: owner.userId,
    permissions: ['chat', 'upload'],
    allowedAgents: ['dify/helpdesk'],
  })
  await accounts.users.update(admin, owner.userId, { role: 'user' })
  expect(await accounts.authentication.authenticate(key.fullKey, ADDRESS)).toEqual({
    userId: owner.userId,
    role: 'user',
    via: { kind: 'key', keyId: key.id, permissions: ['chat', 'upload'], allowedAgents: ['dify/helpdesk'] },
  })
})

test('a token is taken where a token comes', async () => {
  const user = await accounts.join('user')
  const row = await accounts.database.prisma.user.findUniqueOrThrow({ where: { id: user.userId } })
  const { accessToken } = await accounts.tokens.issue(row)
  expect(await accounts.authentication.authenticate(accessToken, ADDRESS)).toMatchObject({
    userId: user.userId,
  })
})

test('refused keys say why, and each counts for its address', async () => {
  const { authentication, database, limits } = accounts
  const admin = await accounts.join('admin')
  const owner = await accounts.join('premium')
  const [revoked, expired, suspended] = [
    await accounts.keyOf(admin),
    await accounts.keyOf(admin),
    await accounts.keyOf(owner),
  ]
  await accounts.keys.revoke(admin, revoked.id)
  await database.prisma.apiKey.update({
    where: { id: expired.id },
    data: { expiresAt: new Date(Date.now() - 1) },
  })
  await accounts.users.update(admin, owner.userId, { status: 'suspended' })

  for (const [credential, reason] of [
    ['nonsense', 'credential_malformed'],
    ['a.b', 'credential_malformed'],
    [makeApiKey(randomBytes), 'key_unknown'],
    [revoked.fullKey, 'key_revoked'],
    [expired.fullKey, 'key_expired'],
    [suspended.fullKey, 'owner_suspended'],
  ] as const) {
    const { remaining } = await limits.refusedKeys.take('10.0.0.2')
    await expect(authentication.authenticate(credential, '10.0.0.2')).rejects.toMatchObject({ reason })
    expect((await limits.refusedKeys.take('10.0.0.2')).remaining).toBe(remaining - 2)
  }
})

test('a good key passes where too many were refused', async () => {
  const { authentication } = accounts
  const key = await accounts.keyOf(await accounts.join('premium'))
  for (let refused = 0; refused < 60; refused += 1) {
    await expect(authentication.authenticate('x', '10.0.0.3')).rejects.toMatchObject({ status: 401 })
  }
  await expect(authentication.authenticate('x', '10.0.0.3')).rejects.toMatchObject({ reason: 'rate_limited' })
  await authentication.authenticate(key.fullKey, '10.0.0.3')
})

test('the form of a key is judged without a look-up', async () => {
  const { authentication } = accounts
  await authentication.requireKeyForm(makeApiKey(randomBytes), ADDRESS)
  await expect(authentication.requireKeyForm('tl_x', ADDRESS)).rejects.toMatchObject({
    reason: 'credential_malformed',
  })
  await expect(authentication.requireKeyForm('a.b.c', ADDRESS)).rejects.toMatchObject({
    reason: 'api_key_required',
  })
})
