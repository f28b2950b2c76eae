import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type ChatResult, countByReason, sendChat } from '../support/load.ts'
import { query } from '../support/query.ts'
import { type Replicas, startReplicas } from '../support/replicas.ts'

// A process, because replicas share nothing but PostgreSQL and Redis, so nothing may be hidden in the memory of one.

const server = process.env.E2E_DATABASE_URL ?? ''
const redisUrl = process.env.E2E_REDIS_URL ?? ''

/** The quota of a user, of which its keys make four times as many calls at once. */
const QUOTA = process.env.SOAK ? 1_000 : 100
const REVOCATIONS = process.env.SOAK ? 150 : 30
/** Calls at once with a key of 60 a minute. */
const CALLS_OVER_LIMIT = process.env.SOAK ? 600 : 150

/** Four processes that share one Redis and one PostgreSQL. */
describe.skipIf(server === '' || redisUrl === '')('four replicas', () => {
  let replicas: Replicas
  let api: Api
  let token: string

  beforeAll(async () => {
    const env = { REDIS_URL: `${redisUrl}/9` }
    replicas = await startReplicas(server, [env, env, env, env])
    api = apiOf(replicas.gateways[0] as TestGateway)
    token = await api.login()
    // Warms up connections and code, as in a gateway that has been running.
    const { full_key } = await api.createKey(token)
    await sendToAll(200, [full_key])
  })
  afterAll(() => replicas?.remove())

  /** Sends all calls concurrently, distributed over the replicas in turn. */
  const sendToAll = (count: number, keys: readonly string[]): Promise<ChatResult[]> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        // Every key is used at every replica.
        sendChat(
          (replicas.gateways[index % 4] as TestGateway).url,
          keys[(index >> 2) % keys.length] as string,
        ),
      ),
    )

  const newKey = async (more: Record<string, unknown> = {}) => api.createKey(token, more)

  test(`of ${4 * QUOTA} concurrent calls with four keys of a user exactly the ${QUOTA} of its quota are admitted, counted and dispatched`, {
    timeout: 120_000,
  }, async () => {
    const user = await api.createUser(token, 'quota', { max_api_calls: QUOTA })
    const keys = await Promise.all([1, 2, 3, 4].map(() => newKey({ owner_id: user.id })))
    const before = replicas.platform.received.length
    const results = await sendToAll(
      4 * QUOTA,
      keys.map(({ full_key }) => full_key),
    )

    expect(countByReason(results)).toEqual({ 200: QUOTA, quota_exceeded: 3 * QUOTA })
    const admitted = new Set(results.filter(({ status }) => status === 200).map(({ id }) => id))
    expect(replicas.platform.received).toHaveLength(before + QUOTA)
    expect(new Set(replicas.platform.received.slice(before))).toEqual(admitted)
    const { body } = await api.call('GET', `/api/v1/users/${user.id}`, { token })
    expect(body.data.api_calls_count).toBe(QUOTA)
    const rows = await query<{ id: string }>(
      replicas.databaseUrl,
      'SELECT request_id AS id FROM calls WHERE owner_id = $1',
      [user.id],
    )
    expect(rows).toHaveLength(QUOTA)
    expect(new Set(rows.map(({ id }) => id))).toEqual(admitted)
  })

  test(`a limit of 60 per minute admits exactly 60 of ${CALLS_OVER_LIMIT} concurrent calls across all replicas`, async () => {
    const key = await newKey({ limits: { chat_per_minute: 60 } })
    expect(countByReason(await sendToAll(CALLS_OVER_LIMIT, [key.full_key]))).toEqual({
      200: 60,
      rate_limited: CALLS_OVER_LIMIT - 60,
    })
  })

  /** Revokes a key at one replica and immediately uses it at the others. */
  async function revocationTrial(index: number): Promise<{ used: ChatResult; results: ChatResult[] }> {
    const key = await newKey()
    const revoking = replicas.gateways[index % 4] as TestGateway
    const others = replicas.gateways.filter((each) => each !== revoking)
    const used = await sendChat((others[index % 3] as TestGateway).url, key.full_key)
    const { status } = await apiOf(revoking).call('POST', `/api/v1/api-keys/${key.id}/revoke`, { token })
    expect(status).toBe(200)
    return { used, results: await Promise.all(others.map(({ url }) => sendChat(url, key.full_key))) }
  }

  async function expectRevocations(trials: number): Promise<void> {
    for (let index = 0; index < trials; index += 1) {
      const { used, results } = await revocationTrial(index)
      expect(used.status).toBe(200)
      // The calls follow immediately, so there is no window in which the key still works.
      expect(countByReason(results)).toEqual({ key_revoked: 3 })
    }
  }

  test(
    `a key that one replica revoked is rejected by all the others at once, ${REVOCATIONS} times out of ${REVOCATIONS}`,
    { timeout: 60_000 },
    () => expectRevocations(REVOCATIONS),
  )

  test('after all of these tests the ledger and all counters agree', async () => {
    const { code, output } = await (replicas.gateways[0] as TestGateway).trunkline('usage', 'verify')
    expect(output).toContain('agree')
    expect(code).toBe(0)
    await query(
      replicas.databaseUrl,
      'UPDATE users SET api_calls_count = api_calls_count + 1 WHERE username = $1',
      ['quota'],
    )
    const drifted = await (replicas.gateways[0] as TestGateway).trunkline('usage', 'verify')
    expect(drifted.output).toContain('user count = rollups + unsettled')
    expect(drifted.code).toBe(1)
  })
})
