import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { clockAhead } from '../support/faked-clock.ts'
import type { TestGateway } from '../support/gateway.ts'
import { countByReason, sendChat } from '../support/load.ts'
import { query } from '../support/query.ts'
import { type Replicas, startReplicas } from '../support/replicas.ts'

// A process, because only a process can have a clock of its own.

const server = process.env.E2E_DATABASE_URL ?? ''
const HOUR_MS = 3_600_000

describe.skipIf(server === '')('of two replicas, one on a machine whose clock is a day ahead,', () => {
  let replicas: Replicas
  let wrong: { gateway: TestGateway; api: Api; token: string }
  let right: { gateway: TestGateway; api: Api; token: string }

  beforeAll(async () => {
    // The first gateway to start creates the administrator and the key that signs tokens.
    replicas = await startReplicas(server, [clockAhead(24 * HOUR_MS), {}])
    const [first, second] = replicas.gateways.map((gateway) => ({ gateway, api: apiOf(gateway) }))
    if (first === undefined || second === undefined) throw new Error('two were started')
    wrong = { ...first, token: await first.api.login() }
    right = { ...second, token: await second.api.login() }
  })
  afterAll(() => replicas?.remove())

  const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()
  const isNow = (time: string) => Math.abs(new Date(time).getTime() - Date.now()) < HOUR_MS / 2

  test('its clock really is ahead', () => {
    const times = [...wrong.gateway.output.matchAll(/"time":"([^"]+)"/g)].map(([, time]) => time ?? '')
    expect(times.length).toBeGreaterThan(0)
    for (const time of times)
      expect(isNow(new Date(Date.parse(time) - 24 * HOUR_MS).toISOString())).toBe(true)
  })

  test('tokens are valid at both gateways for their stated lifetime', async () => {
    for (const [issuer, other] of [
      [wrong, right],
      [right, wrong],
    ] as const) {
      const { status, body } = await other.api.call('GET', '/api/v1/users/me', { token: issuer.token })
      expect([status, isNow(body.data.last_login)]).toEqual([200, true])
      const claims = JSON.parse(Buffer.from(issuer.token.split('.')[1] ?? '', 'base64url').toString())
      expect(isNow(new Date(claims.iat * 1000).toISOString())).toBe(true)
      expect(claims.exp - claims.iat).toBe(3_600)
    }
  })

  test('a token that was revoked at one gateway stays revoked, whatever the other one sweeps', async () => {
    const [ended, later] = [await right.api.login(), await wrong.api.login()]
    await right.api.call('POST', '/api/v1/logout', { token: ended })
    expect((await wrong.api.call('POST', '/api/v1/logout', { token: later })).status).toBe(200)
    expect((await right.api.call('GET', '/api/v1/users/me', { token: ended })).body.reason).toBe(
      'token_revoked',
    )
  })

  test('keys are created, shown and validated by the time of the database', async () => {
    const expiresAt = inHours(1)
    const key = await wrong.api.createKey(wrong.token, { expires_at: expiresAt })
    expect((await sendChat(wrong.gateway.url, key.full_key)).status).toBe(200)
    const { body } = await wrong.api.call('GET', `/api/v1/api-keys/${key.id}`, { token: wrong.token })
    expect(body.data).toMatchObject({ is_active: true, usage: { total_calls: 1, calls_today: 1 } })
    expect(isNow(body.data.created_at)).toBe(true)
    const { body: revoked } = await wrong.api.call('POST', `/api/v1/api-keys/${key.id}/revoke`, {
      token: wrong.token,
    })
    expect(isNow(revoked.data.revoked_at)).toBe(true)
    const late = { name: 'late', description: '', expires_at: inHours(-1), permissions: ['chat'] }
    const refused = await right.api.call('POST', '/api/v1/api-keys', { token: right.token, body: late })
    expect(refused.body.reason).toBe('invalid_request')
  })

  test('a quota that it changes begins today, and other quotas are unaffected', async () => {
    const [changed, other] = await Promise.all(
      ['changed', 'other'].map((name) =>
        right.api.createUser(right.token, name, { max_api_calls: 6, quota_period: 'day' }),
      ),
    )
    const keys = await Promise.all(
      [changed, other].map((user) =>
        right.api.createKey(right.token, { owner_id: user?.id, expires_at: inHours(12) }),
      ),
    )
    const sendToAll = (times: number) =>
      Promise.all(
        replicas.gateways.flatMap(({ url }) =>
          keys.flatMap(({ full_key }) => Array.from({ length: times }, () => sendChat(url, full_key))),
        ),
      )
    expect(countByReason(await sendToAll(2))).toEqual({ 200: 8 })
    for (const quota_period of ['month', 'day']) {
      const path = `/api/v1/users/${changed?.id}`
      const { body } = await wrong.api.call('PATCH', path, { token: wrong.token, body: { quota_period } })
      expect(body.data.api_calls_count).toBe(4)
      expect(isNow(body.data.updated_at)).toBe(true)
    }
    // Two calls are left for each key.
    expect(countByReason(await sendToAll(2))).toEqual({ 200: 4, quota_exceeded: 4 })

    const rows = await query<{ at: Date; start: Date; today: Date }>(
      replicas.databaseUrl,
      `SELECT c.admitted_at AS at, u.quota_start AS start, date_trunc('day', now(), 'UTC') AS today
       FROM calls c JOIN users u ON u.id = c.owner_id WHERE u.username IN ('changed', 'other')`,
    )
    expect(rows).toHaveLength(12)
    for (const { at, start, today } of rows) {
      expect(isNow(at.toISOString())).toBe(true)
      expect(start).toEqual(today)
    }
  })

  test('quotas and reports use the current time of the database', async () => {
    const { full_key } = await right.api.createKey(right.token)
    await sendChat(wrong.gateway.url, full_key)
    const shown = await Promise.all(
      [right, wrong].map(async ({ api, token }) => {
        const { body: key } = await api.call('GET', '/api/v1/key', { token: full_key })
        const { body: usage } = await api.call('GET', '/api/v1/usage?granularity=hour', { token })
        return { quota: key.data.quota, from: usage.data.from, to: usage.data.to }
      }),
    )
    expect(shown[1]).toEqual(shown[0])
    const { output } = await wrong.gateway.trunkline('usage', 'verify')
    expect(output).toContain('agree')
  })
})
