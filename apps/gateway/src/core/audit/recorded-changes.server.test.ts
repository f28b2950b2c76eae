import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSigningKeyAdministration } from '#core/accounts/auth/signing-key-administration.ts'
import {
  openUserServices,
  PASSWORD,
  TOKEN_CONFIG,
  type UserServices,
} from '#core/accounts/auth/users.test-support.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { GATEWAY } from './actor.ts'
import { BOUNDED_MAX } from './audit.ts'
import { createRefusedOperations } from './refused-operations.ts'
import { verifyChain } from './verify-chain.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'
const origin = { address: '192.0.2.1', requestId: 'request-1' }

describe(kind, () => {
  let services: UserServices
  let admin: Principal
  let first = 0

  beforeAll(async () => {
    services = await openUserServices(serverUrl)
  })
  afterAll(() => services.database.close())
  beforeEach(async () => {
    await services.clear()
    admin = { ...(await services.join('admin')), origin }
    first = (await newest())?.n ?? 0
  })

  const newest = async () => (await auditEventsOf(services.database.sql)).at(-1)
  const events = async () => (await auditEventsOf(services.database.sql)).filter(({ n }) => n > first)
  const only = async () => {
    const [event, ...others] = await events()
    expect(others).toEqual([])
    return event
  }
  const by = () => ({ actor: 'token', userId: admin.userId, ...origin, result: 'done' })
  const newKey = {
    name: 'one',
    description: '',
    permissions: ['chat' as const],
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  }

  test('a new user is recorded with who made it, and without its password', async () => {
    const { id } = await services.users.create(admin, {
      username: 'new-one',
      password: 'not on record',
      role: 'user',
    })
    const event = await only()
    expect(event).toMatchObject({
      ...by(),
      operation: 'users.create',
      target: 'user',
      targetId: id,
      before: null,
    })
    expect(JSON.parse(event?.after ?? '')).toEqual({
      username: 'new-one',
      role: 'user',
      status: 'active',
      token_epoch: 0,
      max_api_calls: 1_000_000,
      quota_period: 'none',
    })
  })

  test('a changed user is recorded with the state before and after', async () => {
    const { userId } = await services.join('user', 'alice')
    first = (await newest())?.n ?? 0
    await services.users.update(admin, userId, { status: 'suspended', role: 'premium' })
    const event = await only()
    expect(event).toMatchObject({ ...by(), operation: 'users.update', targetId: userId })
    expect(JSON.parse(event?.before ?? '')).toMatchObject({ role: 'user', status: 'active', token_epoch: 0 })
    expect(JSON.parse(event?.after ?? '')).toMatchObject({
      role: 'premium',
      status: 'suspended',
      token_epoch: 1,
    })
  })

  test('new passwords are recorded, whether an administrator or the user sets them, and are in no event', async () => {
    const { userId } = await services.join('user', 'alice')
    first = (await newest())?.n ?? 0
    await services.users.setPassword(admin, userId, 'a new password')
    const alice: Principal = { ...admin, userId, role: 'user' }
    await services.users.changeOwnPassword(alice, {
      currentPassword: 'a new password',
      newPassword: 'another one',
    })
    const recorded = await events()
    expect(recorded).toMatchObject([
      { operation: 'users.setPassword', userId: admin.userId, targetId: userId },
      { operation: 'users.changeOwnPassword', userId, targetId: userId },
    ])
    const { passwordHash } = await services.database.prisma.user.findUniqueOrThrow({ where: { id: userId } })
    for (const secret of ['a new password', 'another one', passwordHash])
      expect(
        JSON.stringify(recorded, (_name, value) => (typeof value === 'bigint' ? String(value) : value)),
      ).not.toContain(secret)
  })

  test('a key is recorded from its creation to its revocation, and what changes nothing leaves no event', async () => {
    const { key, fullKey } = await services.keys.create(admin, newKey)
    await services.keys.update(admin, key.id, { name: 'other' })
    await services.keys.resetUsage(admin, key.id, 'total')
    await services.keys.revoke(admin, key.id)
    await services.keys.revoke(admin, key.id)
    await expect(services.users.update(admin, admin.userId, { role: 'user' })).rejects.toThrow()
    const recorded = await events()
    expect(recorded.map(({ operation, target, targetId }) => [operation, target, targetId])).toEqual(
      ['keys.create', 'keys.update', 'keys.resetUsage', 'keys.revoke'].map((operation) => [
        operation,
        'api_key',
        key.id,
      ]),
    )
    expect(JSON.parse(recorded[1]?.before ?? '')).toMatchObject({ name: 'one' })
    expect(JSON.parse(recorded[1]?.after ?? '')).toMatchObject({ name: 'other', permissions: ['chat'] })
    for (const { after } of recorded) {
      expect(after).not.toContain(fullKey.slice(10))
      expect(after).not.toContain(key.hash.toString())
    }
  })

  test('calls that are counted leave no event', async () => {
    const { key } = await services.keys.create(admin, newKey)
    first = (await newest())?.n ?? 0
    await services.database.sql.query(
      'UPDATE api_keys SET total_calls = total_calls + 1, last_used_at = now() WHERE id = $1',
      [key.id],
    )
    await services.database.sql.query(
      'UPDATE users SET api_calls_count = api_calls_count + 1, last_login = now()',
    )
    expect(await events()).toEqual([])
  })

  test('a change by a statement of no caller names the role of the database', async () => {
    await services.database.sql.query("UPDATE users SET role = 'premium' WHERE id = $1", [admin.userId])
    const [{ role } = { role: '' }] = await services.database.sql.query<{ role: string }>(
      'SELECT session_user::text AS role',
    )
    expect(await only()).toMatchObject({
      operation: 'user.update',
      actor: 'database',
      name: role,
      userId: null,
    })
  })

  test('a command names the account that ran it', async () => {
    const command: Principal = { ...admin, origin: { operator: 'root@host' } }
    await services.users.create(command, { username: 'new-one', password: PASSWORD })
    expect(await only()).toMatchObject({
      operation: 'users.create',
      actor: 'command',
      name: 'root@host',
      userId: null,
    })
  })

  test('logins and the logout are recorded, and of failed logins no name that is unknown', async () => {
    const { userId } = await services.join('user', 'alice')
    await services.tokens.prepare()
    first = (await newest())?.n ?? 0
    const login = (username: string, password: string) =>
      services.login.login({ username, password }, origin).catch(() => undefined)
    const token = await login('alice', PASSWORD)
    await login('alice', 'wrong')
    await login('pass word in the wrong field', PASSWORD)
    const caller = await services.authentication.authenticate(
      token?.accessToken ?? '',
      origin,
      () => undefined,
    )
    await services.users.changeOwnPassword(caller, { currentPassword: PASSWORD, newPassword: 'another one' })
    await services.login.logout(caller)
    const recorded = await events()
    expect(recorded).toMatchObject([
      { operation: 'login', result: 'done', actor: 'token', userId, ...origin },
      {
        operation: 'login',
        result: 'failed',
        actor: 'anonymous',
        name: 'alice',
        targetId: userId,
        reason: 'wrong_password',
      },
      {
        operation: 'login',
        result: 'failed',
        actor: 'anonymous',
        name: null,
        targetId: null,
        reason: 'unknown_user',
      },
      { operation: 'users.changeOwnPassword', actor: 'token', userId },
      { operation: 'logout', actor: 'token', userId, target: 'session' },
    ])
    // The token distinguishes two sessions of one user.
    const session = recorded.at(-1)?.targetId
    expect(recorded.map(({ tokenId }) => tokenId)).toEqual([session, null, null, session, session])
    expect(session).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('signing keys that are replaced are recorded without their private keys', async () => {
    const { prisma } = services.database
    const administration = createSigningKeyAdministration({ prisma, runtime: services.runtime }, TOKEN_CONFIG)
    await services.tokens.prepare()
    first = (await newest())?.n ?? 0
    await administration.rotate({ actor: 'command', name: 'root@host' })
    const recorded = await events()
    expect(new Set(recorded.map(({ operation, actor, name }) => [operation, actor, name].join()))).toEqual(
      new Set(['signingKeys.rotate,command,root@host']),
    )
    expect(recorded.map(({ target }) => target)).toEqual(['signing_key', 'signing_key'])
    for (const { before, after } of recorded) expect(`${before}${after}`).not.toMatch(/"d"|secret|jwk/)
    await administration.rewriteSecrets(GATEWAY)
  })

  test('refused operations are recorded in the background, and dropped while the database does not answer', async () => {
    let dropped = 0
    const onDropped = () => {
      dropped += 1
    }
    const refused = createRefusedOperations({ audit: services.audit, runtime: systemRuntime, onDropped })
    refused.record({ caller: admin, operation: 'POST /api/v1/users', reason: 'role_denied' })
    await refused.settled()
    expect(await only()).toMatchObject({
      ...by(),
      operation: 'POST /api/v1/users',
      result: 'refused',
      reason: 'role_denied',
    })
    const hanging = createRefusedOperations({
      audit: { appendBounded: () => new Promise(() => undefined) },
      runtime: systemRuntime,
      onDropped,
    })
    for (let n = 0; n < 1_010; n += 1)
      hanging.record({ caller: admin, operation: 'x', reason: 'role_denied' })
    expect(dropped).toBe(10)
  })

  test('the refused operations of one user are bounded, however many keys and addresses it has', async () => {
    const { userId } = await services.join('premium')
    const refused = createRefusedOperations({
      audit: services.audit,
      runtime: systemRuntime,
      onDropped: () => undefined,
    })
    for (let n = 0; n < BOUNDED_MAX + 5; n += 1) {
      const via = {
        kind: 'key',
        prefix: 'tl_000000000',
        keyId: v7(),
        permissions: ['chat'],
        allowedAgents: [],
      } as const
      const caller = { ...admin, userId, via, origin: { address: `198.51.100.${n}` } } as Principal
      refused.record({ caller, operation: 'GET /api/v1/users', reason: 'role_denied' })
    }
    await refused.settled()
    const recorded = await auditEventsOf(services.database.sql, { user_id: userId, result: 'refused' })
    expect(recorded).toHaveLength(BOUNDED_MAX)
  })

  test('an unknown credential is an event with the address that sent it, at most one a minute of each network', async () => {
    let nowMs = 0
    const refused = createRefusedOperations({
      audit: services.audit,
      runtime: { elapsedMs: () => nowMs },
      onDropped: () => expect.unreachable(),
    })
    const send = (address: string) =>
      refused.recordCredential({
        from: { address, requestId: 'r' },
        operation: 'POST /api/v1/chat',
        reason: 'key_unknown',
      })
    for (const address of ['192.0.2.7', '2001:db8::1', '192.0.2.7', '2001:db8::2']) send(address)
    nowMs = 60_000
    send('192.0.2.7')
    await refused.settled()
    const recorded = await events()
    expect(recorded.map(({ address }) => address)).toEqual(['192.0.2.7', '2001:db8::1', '192.0.2.7'])
    expect(recorded[0]).toMatchObject({
      actor: 'anonymous',
      operation: 'authenticate',
      result: 'failed',
      reason: 'key_unknown',
      requestId: 'r',
      after: '{"operation":"POST /api/v1/chat"}',
    })
  })

  test('a statement that changes many rows leaves an event of each, in one chain', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await services.join('user')).userId),
    )
    first = (await newest())?.n ?? 0
    await services.database.sql.query('UPDATE users SET max_api_calls = 7 WHERE id = ANY ($1::uuid[])', [ids])
    expect((await events()).map(({ targetId }) => targetId).sort()).toEqual(ids.sort())
    expect(await verifyChain(services.database.sql)).toMatchObject({ faults: [] })
  })

  test('the chain of events holds after all of these changes', async () => {
    expect(await verifyChain(services.database.sql)).toMatchObject({ faults: [] })
  })
})
