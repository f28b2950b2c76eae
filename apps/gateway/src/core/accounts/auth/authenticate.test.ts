import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeApiKey } from '#core/accounts/keys/key-format.ts'
import type { Principal } from '#core/requests/principal.ts'
import { openUserServices, type UserServices } from './users.test-support.ts'

const ADDRESS = '10.0.0.1'
const FROM = { address: ADDRESS, requestId: 'request-1' }
const NO_END_USER = () => undefined
let services: UserServices

beforeAll(async () => {
  services = await openUserServices()
})
beforeEach(() => services.clear())
afterAll(() => services.database.close())

test('a key acts for its owner, with the role that the owner has now', async () => {
  const admin = await services.join('admin')
  const owner = await services.join('premium')
  const key = await services.keyOf(admin, {
    ownerId: owner.userId,
    permissions: ['chat', 'upload'],
    allowedAgents: ['dify/helpdesk'],
  })
  await services.users.update(admin, owner.userId, { role: 'user' })
  expect(await services.authentication.authenticate(key.fullKey, FROM, NO_END_USER)).toEqual({
    userId: owner.userId,
    role: 'user',
    via: {
      kind: 'key',
      keyId: key.id,
      prefix: key.fullKey.slice(0, 12),
      permissions: ['chat', 'upload'],
      allowedAgents: ['dify/helpdesk'],
    },
    origin: FROM,
  })
})

test('an access token is recognized by its form', async () => {
  const user = await services.join('user')
  const row = await services.database.prisma.user.findUniqueOrThrow({ where: { id: user.userId } })
  const { accessToken } = await services.tokens.issue(row)
  expect(await services.authentication.authenticate(accessToken, FROM, NO_END_USER)).toMatchObject({
    userId: user.userId,
  })
})

test('a rejected key names its reason, its owner is known, and it counts against its address', async () => {
  const { authentication, database, limits } = services
  const admin = await services.join('admin')
  const owner = await services.join('premium')
  const [revoked, expired, suspended] = [
    await services.keyOf(admin),
    await services.keyOf(admin),
    await services.keyOf(owner),
  ]
  await services.keys.revoke(admin, revoked.id)
  await database.prisma.apiKey.update({
    where: { id: expired.id },
    data: { expiresAt: new Date(Date.now() - 1) },
  })
  await services.users.update(admin, owner.userId, { status: 'suspended' })

  const known = ({ id }: { id: string }, { userId }: Principal) => ({ keyId: id, ownerId: userId })
  for (const [credential, reason, refused] of [
    ['nonsense', 'credential_malformed', {}],
    ['a.b', 'credential_malformed', {}],
    [makeApiKey(randomBytes), 'key_unknown', {}],
    [revoked.fullKey, 'key_revoked', known(revoked, admin)],
    [expired.fullKey, 'key_expired', known(expired, admin)],
    [suspended.fullKey, 'owner_suspended', known(suspended, owner)],
  ] as const) {
    const { remaining } = await limits.refusedKeys.take('10.0.0.2')
    await expect(
      authentication.authenticate(credential, { address: '10.0.0.2', requestId: 'test' }, NO_END_USER),
    ).rejects.toMatchObject({
      reason,
      refused,
    })
    expect((await limits.refusedKeys.take('10.0.0.2')).remaining).toBe(remaining - 2)
  }
})

test('a valid key is accepted from an address with too many rejected keys', async () => {
  const { authentication } = services
  const key = await services.keyOf(await services.join('premium'))
  for (let refused = 0; refused < 60; refused += 1) {
    await expect(
      authentication.authenticate('x', { address: '10.0.0.3', requestId: 'test' }, NO_END_USER),
    ).rejects.toMatchObject({ status: 401 })
  }
  await expect(
    authentication.authenticate('x', { address: '10.0.0.3', requestId: 'test' }, NO_END_USER),
  ).rejects.toMatchObject({ reason: 'rate_limited' })
  await authentication.authenticate(key.fullKey, { address: '10.0.0.3', requestId: 'test' }, NO_END_USER)
})

test('the format of a key is checked without a look-up', async () => {
  const { authentication } = services
  await authentication.requireKeyFormat(makeApiKey(randomBytes), ADDRESS)
  await expect(authentication.requireKeyFormat('tl_x', ADDRESS)).rejects.toMatchObject({
    reason: 'credential_malformed',
  })
  await expect(authentication.requireKeyFormat('a.b.c', ADDRESS)).rejects.toMatchObject({
    reason: 'api_key_required',
  })
})
