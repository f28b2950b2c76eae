import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../support/query.ts'
import { startPacedPlatform } from '../support/rolling/paced-platform.ts'
import { PROXY_KINDS, type ProxyServer, proxiesAreInstalled, startProxy } from '../support/rolling/proxy.ts'
import { RollingLoad } from '../support/rolling/rolling-load.ts'
import { type RollingReplica, startRollingReplica } from '../support/rolling/rolling-replicas.ts'
import { until } from '../support/until.ts'

// A process, because a proxy chooses between replicas while they stop and start.
// It takes about a minute, because each of four restarts waits until proxies have seen it and streams have ended.

const server = process.env.E2E_DATABASE_URL ?? ''
const ROLLS = 2
/** Longer than HAProxy needs to see that a replica stops: two checks. */
const ACCEPT_MS = 3_000
const STREAM_MS = { min: 500, max: 4_000 }

/** `bench release` does the same in full size, from one version to another. */
describe.skipIf(server === '' || !proxiesAreInstalled())(
  'two replicas that are restarted one after the other',
  () => {
    const undo: (() => Promise<unknown>)[] = []
    const replicas: RollingReplica[] = []
    const proxies: ProxyServer[] = []
    let databaseUrl: string
    let key: string

    beforeAll(async () => {
      const database = await createScratchDatabase(server)
      undo.push(database.drop)
      databaseUrl = database.url
      const platform = await startPacedPlatform()
      undo.push(platform.close)
      const plenty = { points: 1_000_000 }
      const config = JSON.stringify({
        agents: { paced: { platform: 'openai', baseUrl: platform.baseUrl, model: 'paced' } },
        limits: { chat: plenty, agents: plenty },
        drain: { acceptMs: ACCEPT_MS, timeoutMs: 30_000 },
      })
      for (const _replica of ['a', 'b']) {
        const replica = await startRollingReplica({ config, databaseUrl })
        undo.push(replica.gateway.remove)
        replicas.push(replica)
      }
      const [a, b] = replicas as [RollingReplica, RollingReplica]
      key = (await a.api.createKey(await a.api.login())).full_key
      for (const kind of PROXY_KINDS) {
        const proxy = await startProxy(kind, [a, b])
        undo.push(proxy.stop)
        proxies.push(proxy)
      }
    })
    afterAll(async () => {
      for (const step of undo.reverse()) await step()
    })

    test('refuse and break nothing behind any proxy, and count each call once', {
      timeout: 300_000,
    }, async () => {
      // Those of an earlier try are in the same ledger.
      const { now } = (await query<{ now: Date }>(databaseUrl, 'SELECT now()'))[0] ?? {}
      const loads = proxies.map(({ url }) => {
        return new RollingLoad({
          url,
          key,
          agent: 'paced',
          streams: 12,
          streamMs: STREAM_MS,
          callsPerSecond: 5,
        })
      })
      await until('streams are open', () => loads.every(({ open }) => open > 6))
      const codes: (number | null)[] = []
      for (let roll = 0; roll < ROLLS; roll += 1) {
        for (const replica of replicas) {
          codes.push(await replica.restart())
          await Promise.all(proxies.map((proxy) => proxy.sendsTo(replica)))
        }
      }
      const seen = await Promise.all(loads.map((load) => load.stop()))

      expect(Object.fromEntries(seen.map((each, index) => [proxies[index]?.kind, each]))).toEqual(
        Object.fromEntries(
          PROXY_KINDS.map((kind) => [kind, { done: expect.any(Number), refused: {}, broken: {} }]),
        ),
      )
      expect(new Set(codes)).toEqual(new Set([0]))
      const done = seen.reduce((sum, each) => sum + each.done, 0)
      expect(done).toBeGreaterThan(300)
      // The end of a call is written after its reply.
      await expect
        .poll(() =>
          query(
            databaseUrl,
            'SELECT outcome::text, count(*)::int FROM calls WHERE admitted_at >= $1 GROUP BY outcome ORDER BY 1',
            [now],
          ),
        )
        .toEqual([{ outcome: 'done', count: done }])
    })
  },
)
