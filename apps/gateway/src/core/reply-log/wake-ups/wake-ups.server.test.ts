import { randomUUIDv7 } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import { openServer } from '#core/database/open-server.ts'
import { createScratchDatabase, type ScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { connectRedis } from '#core/limits/connect-redis.ts'
import { startTcpProxy } from '../../../../../../test/support/tcp-proxy.ts'
import { createWakeUps } from './create-wake-ups.ts'
import { startDeafProxy } from './deaf-proxy.test-support.ts'
import type { WakeUpKind, WakeUps } from './wake-ups.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const redisUrl = process.env.E2E_REDIS_URL

let scratch: ScratchDatabase
const closers: (() => unknown)[] = []

beforeAll(async () => {
  if (serverUrl !== undefined) scratch = await createScratchDatabase(serverUrl)
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(() => scratch?.drop())

interface Paths {
  readonly database?: string
  readonly redis?: string | undefined
  readonly installation?: string
}

/** One process of the gateway, with its own connections. */
class Process {
  readonly wakeUps: WakeUps
  /** The calls that were woken. */
  readonly heard: string[] = []
  /** Whether messages arrive, as reported to the operator. */
  readonly told: boolean[] = []

  constructor({ database: url = scratch.url, redis: redisOf, installation = scratch.url }: Paths) {
    const database = openServer({ url })
    const redis = redisOf === undefined ? undefined : connectRedis(redisOf)
    this.wakeUps = createWakeUps({
      database,
      redis,
      installation: () => installation,
      runtime: systemRuntime,
      observer: { wakeUpsArrive: (arrive) => this.told.push(arrive) },
    })
    closers.push(async () => {
      await this.wakeUps.close()
      redis?.disconnect()
      await database.close()
    })
  }

  listen(callId: string, kind: WakeUpKind = 'log'): () => void {
    return this.wakeUps.listen(kind, callId, () => this.heard.push(callId))
  }

  /** Resolves when messages are known to arrive. Something must listen. */
  trusts(isTrusted = true): Promise<void> {
    return expect.poll(() => this.wakeUps.isTrusted).toBe(isTrusted)
  }
}

const newIds = (count: number) => Array.from({ length: count }, () => randomUUIDv7())

/** The connections that listen in the scratch database. */
async function listening(): Promise<number[]> {
  const database = openServer({ url: scratch.url, poolMax: 1 })
  const rows = await database.sql.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
  )
  await database.close()
  return rows.map(({ pid }) => pid)
}

describe.each([
  { name: 'PostgreSQL', isTested: serverUrl !== undefined, redis: undefined },
  { name: 'Redis', isTested: serverUrl !== undefined && redisUrl !== undefined, redis: redisUrl },
])('through $name', ({ isTested, redis }) => {
  describe.runIf(isTested)('processes', () => {
    const start = (paths: Paths = {}) => new Process({ redis, ...paths })

    test('wake all others and themselves, each call once, a thousand calls by one send', async () => {
      const processes = [start(), start(), start()]
      const [one, ...others] = processes as [Process, Process, Process]
      const ids = newIds(1_000)
      for (const process of processes) {
        for (const id of ids) process.listen(id)
        expect(process.wakeUps.isTrusted).toBe(false)
        await process.trusts()
      }
      one.wakeUps.send('log', [...ids, randomUUIDv7()])
      expect(one.heard).toEqual(ids)
      for (const other of others) await expect.poll(() => other.heard.length).toBe(1_000)
      // What comes later comes after everything of before.
      others[0].wakeUps.send('log', ids.slice(0, 1))
      for (const process of processes) {
        await expect.poll(() => process.heard.length).toBe(1_001)
        expect(process.heard).toEqual([...ids, ids[0]])
      }
    })

    test('wake nobody for another kind, after the end of listening, or in another installation', async () => {
      const [one, two] = [start(), start()]
      const stranger = start({ installation: 'another' })
      const [id = '', last = ''] = newIds(2)
      two.listen(id, 'stop')
      const end = two.listen(id)
      two.listen(last)
      if (redis !== undefined) stranger.listen(last)
      await two.trusts()
      end()
      one.wakeUps.send('log', [id])
      one.wakeUps.send('log', [last])
      await expect.poll(() => two.heard).toEqual([last])
      if (redis !== undefined) {
        await stranger.trusts()
        one.wakeUps.send('log', [last])
        await expect.poll(() => two.heard).toEqual([last, last])
        expect(stranger.heard).toEqual([])
      }
    })

    test('send without a connection of their own', async () => {
      const [one, two] = [start(), start()]
      const [id = ''] = newIds(1)
      two.listen(id)
      await two.trusts()
      await expect.poll(listening).toHaveLength(redis === undefined ? 1 : 0)
      const before = await listening()
      await expect
        .poll(() => {
          one.wakeUps.send('log', [id])
          return two.heard.length
        })
        .toBeGreaterThan(0)
      expect(await listening()).toEqual(before)
      expect(one.wakeUps.isTrusted).toBe(false)
    })

    test('do not trust a server that is lost, drop what they send meanwhile, and hear again when it is back', async () => {
      const proxy = await startTcpProxy(redis ?? scratch.url)
      closers.push(() => proxy.close())
      const paths = redis === undefined ? { database: proxy.url } : { redis: proxy.url }
      const [one, two] = [start(paths), start(paths)]
      const [id = ''] = newIds(1)
      two.listen(id)
      await two.trusts()
      await proxy.cut()
      await two.trusts(false)
      for (let sent = 0; sent < 100; sent += 1) one.wakeUps.send('log', [id])
      await proxy.restore()
      await two.trusts()
      expect(two.told).toEqual([false, true])
      // At most the one that waited for the connection, and one that stands for all that came meanwhile.
      expect(two.heard.length).toBeLessThanOrEqual(2)
      two.heard.length = 0
      await expect
        .poll(() => {
          one.wakeUps.send('log', [id])
          return two.heard.length
        })
        .toBeGreaterThan(0)
    })

    test('close also while the server does not answer', async () => {
      const proxy = await startTcpProxy(redis ?? scratch.url)
      closers.push(() => proxy.close())
      const { wakeUps } = new Process(redis === undefined ? { database: proxy.url } : { redis: proxy.url })
      wakeUps.listen('log', randomUUIDv7(), () => undefined)
      await expect.poll(() => wakeUps.isTrusted).toBe(true)
      proxy.stall()
      await wakeUps.close()
      await proxy.restore()
    })
  })
})

describe.runIf(serverUrl)('a server that accepts LISTEN and delivers nothing', () => {
  test('is not trusted, and is trusted when it delivers', async () => {
    const proxy = await startDeafProxy(scratch.url)
    closers.push(() => proxy.close())
    const [one, two] = [new Process({}), new Process({ database: proxy.url })]
    const [id = ''] = newIds(1)
    two.listen(id)
    await expect.poll(() => two.told).toEqual([false])
    expect(two.wakeUps.isTrusted).toBe(false)
    // Its own listeners need no server.
    two.wakeUps.send('log', [id])
    expect(two.heard).toEqual([id])
    proxy.isDeaf = false
    await two.trusts()
    expect(two.told).toEqual([false, true])
    one.wakeUps.send('log', [id])
    await expect.poll(() => two.heard).toEqual([id, id])
  })
})

test.runIf(serverUrl !== undefined && redisUrl !== undefined)(
  'with a Redis that is down, nothing goes through the database instead',
  async () => {
    const proxy = await startTcpProxy(redisUrl ?? '')
    await proxy.cut()
    const [one, two] = [new Process({ redis: proxy.url }), new Process({})]
    const [id = ''] = newIds(1)
    one.listen(id)
    two.listen(id)
    await two.trusts()
    await expect.poll(() => one.told).toEqual([false])
    one.wakeUps.send('log', [id])
    two.wakeUps.send('log', [id])
    await expect.poll(listening).toHaveLength(1)
    expect(one.wakeUps.isTrusted).toBe(false)
    expect([one.heard, two.heard]).toEqual([[id], [id]])
  },
)
