import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { connectRedis } from './connect-redis.ts'
import { rulesOf } from './limits.test-support.ts'
import { createLimits, type Limiter } from './limits.ts'

const url = process.env.E2E_REDIS_URL

/** One process of the gateway, with its own connection to Redis. */
interface Process {
  readonly redis: Redis
  readonly limiter: Limiter
}

describe.skipIf(url === undefined)('limits that are shared by Redis', () => {
  const processes: Process[] = []
  let other: Redis
  const living = { live: 1 }
  let caller = ''
  /** What was reported to the observer: the times of answers, and who met a failure. */
  let answered: number[] = []
  let failures: string[] = []
  let windowSeconds = 60

  beforeAll(() => {
    other = new Redis(url ?? '')
  })
  afterAll(() => other.disconnect())
  beforeEach(() => {
    living.live = 1
    windowSeconds = 60
    answered = []
    failures = []
    caller = randomUUID()
  })
  afterEach(async () => {
    for (const { redis } of processes.splice(0)) redis.disconnect()
    await empty()
  })

  const empty = () => other.del(`trunkline:limit:chat:${caller}`)

  async function start(): Promise<Process> {
    const redis = connectRedis(url ?? '')
    await once(redis, 'ready')
    const rule = { points: 60, windowSeconds }
    const observer = {
      storeAnswers: () => undefined,
      answered: (ms: number) => answered.push(ms),
      failed: () => failures.push(caller),
    }
    const limits = createLimits(rulesOf(rule), { redis, processes: living, observer })
    const started = { redis, limiter: limits.chat }
    processes.push(started)
    return started
  }

  async function disconnect({ redis }: Process): Promise<void> {
    const ended = once(redis, 'end')
    redis.disconnect()
    await ended
  }
  const reconnect = ({ redis }: Process) => redis.connect()

  /** The count in Redis. */
  async function countInRedis(): Promise<number> {
    return Number(await other.get(`trunkline:limit:chat:${caller}`))
  }

  /** Waits until a window that begins now would end clearly later than this caller's, since their ends are compared. */
  const windowIsOld = () =>
    vi.waitFor(async () => {
      expect(await other.pttl(`trunkline:limit:chat:${caller}`)).toBeLessThan(windowSeconds * 1000 - 300)
    }, 20_000)

  /** Returns how many of `count` concurrent calls are admitted. */
  async function passing({ limiter }: Process, count: number): Promise<number> {
    const verdicts = await Promise.all(Array.from({ length: count }, () => limiter.take(caller)))
    return verdicts.filter(({ allowed }) => allowed).length
  }

  test('apply across all processes', async () => {
    const [one, two] = [await start(), await start()]
    expect((await passing(one, 40)) + (await passing(two, 40))).toBe(60)
    expect(two.limiter.isSpent(caller)).toBe(true)
    expect(await two.limiter.take(caller)).toMatchObject({ allowed: false, points: 60, remaining: 0 })
  })

  test('admit no more calls of a single process in a window in which Redis fails', async () => {
    const one = await start()
    expect(await passing(one, 45)).toBe(45)
    await disconnect(one)
    expect(await passing(one, 100)).toBe(15)
    await reconnect(one)
    expect(await passing(one, 10)).toBe(0)
  })

  test('count a command once that Redis does not answer', async () => {
    const one = await start()
    expect(await passing(one, 30)).toBe(30)
    expect(answered.length).toBeGreaterThanOrEqual(30)
    expect(failures).toEqual([])
    const passed = passing(one, 100)
    const gone = disconnect(one)
    expect(await passed).toBe(30)
    await gone
    expect(failures).not.toEqual([])
  })

  test('without Redis give each process its share of the points that it knows to be left, or of all points for an unknown caller', async () => {
    const [one, two, three] = [await start(), await start(), await start()]
    living.live = 3
    expect(await passing(one, 29)).toBe(29)
    expect(await passing(two, 1)).toBe(1)
    expect(await one.limiter.take(caller)).toMatchObject({ allowed: true, remaining: 29 })
    await two.limiter.take(caller)
    for (const each of processes) await disconnect(each)
    // 32 calls were admitted and 28 are left; the first process knows of 31.
    expect(await passing(one, 60)).toBe(9)
    expect(await passing(two, 60)).toBe(9)
    expect(await passing(three, 60)).toBe(20)
  })

  test('add calls that were admitted without Redis to its count, whether it kept the count or returns empty', async () => {
    for (const isEmptied of [false, true]) {
      caller = randomUUID()
      const [one, two] = [await start(), await start()]
      living.live = 2
      expect((await passing(one, 20)) + (await passing(two, 20))).toBe(40)
      // Both processes know nearly the whole count.
      await one.limiter.take(caller)
      for (const each of [one, two]) await disconnect(each)
      expect([await passing(one, 60), await passing(two, 60)]).toEqual([9, 10])
      await windowIsOld()
      if (isEmptied) await empty()
      for (const each of [one, two]) await reconnect(each)
      await vi.waitFor(async () => expect(await countInRedis()).toBe(60), 20_000)
      expect((await passing(one, 5)) + (await passing(two, 5))).toBe(0)
      await empty()
    }
  })

  test('add the counts of all processes in a Redis that returns empty', async () => {
    const [one, two] = [await start(), await start()]
    living.live = 2
    expect(await passing(one, 30)).toBe(30)
    for (const each of [one, two]) await disconnect(each)
    expect([await passing(one, 60), await passing(two, 60)]).toEqual([15, 30])
    await windowIsOld()
    await empty()
    // The process that does not know the count that Redis has lost reconnects first.
    for (const each of [two, one]) await reconnect(each)
    await vi.waitFor(async () => expect(await countInRedis()).toBe(75), 20_000)
    expect((await passing(one, 5)) + (await passing(two, 5))).toBe(0)
  })

  test('do not restart the window when Redis is emptied, however many calls arrive at once', async () => {
    const [one, two] = [await start(), await start()]
    expect((await passing(one, 30)) + (await passing(two, 30))).toBe(60)
    await windowIsOld()
    await empty()
    // The second process knows the whole count and restores it in Redis; the first knows only its own half.
    expect(await passing(two, 100)).toBe(0)
    await one.limiter.take(caller)
    await vi.waitFor(async () => expect(await countInRedis()).toBe(60), 20_000)
    expect(await passing(one, 100)).toBe(0)
  })

  test('do not count rejected calls', async () => {
    const [one, two] = [await start(), await start()]
    expect(await passing(one, 100)).toBe(60)
    await vi.waitFor(async () => expect(await countInRedis()).toBe(60), 20_000)
    await one.limiter.giveBack(caller)
    expect(await passing(two, 2)).toBe(1)
  })

  test('do not count a point that is given back in any process, with Redis and without', async () => {
    const [one, two] = [await start(), await start()]
    expect(await passing(one, 60)).toBe(60)
    await one.limiter.giveBack(caller)
    expect(await passing(two, 2)).toBe(1)
    expect(await passing(one, 1)).toBe(0)
    await disconnect(one)
    await one.limiter.giveBack(caller)
    expect(await passing(one, 2)).toBe(1)
    expect(await countInRedis()).toBe(60)
  })

  test('start no window for a point that is given back after its window has ended', async () => {
    windowSeconds = 1
    const one = await start()
    await one.limiter.take(caller)
    await vi.waitFor(async () => expect(await countInRedis()).toBe(0), 20_000)
    await one.limiter.giveBack(caller)
    expect(await other.exists(`trunkline:limit:chat:${caller}`)).toBe(0)
  })
})
