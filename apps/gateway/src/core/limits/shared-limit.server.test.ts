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
  let live = 1
  let caller = ''
  let windowSeconds = 60

  beforeAll(() => {
    other = new Redis(url ?? '')
  })
  afterAll(() => other.disconnect())
  beforeEach(() => {
    live = 1
    windowSeconds = 60
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
    const observer = { storeAnswers: () => undefined }
    const limits = createLimits(rulesOf(rule), { redis, liveProcesses: () => live, observer })
    const started = { redis, limiter: limits.chat }
    processes.push(started)
    return started
  }

  async function go({ redis }: Process): Promise<void> {
    const ended = once(redis, 'end')
    redis.disconnect()
    await ended
  }
  const comeBack = ({ redis }: Process) => redis.connect()

  /** The count in Redis. */
  async function counted(): Promise<number> {
    return Number(await other.get(`trunkline:limit:chat:${caller}`))
  }

  /** Waits until a window that begins now would end clearly later than this caller's, since their ends are compared. */
  const windowIsOld = () =>
    vi.waitFor(async () => {
      expect(await other.pttl(`trunkline:limit:chat:${caller}`)).toBeLessThan(windowSeconds * 1000 - 300)
    })

  /** How many of a number of concurrent calls pass. */
  async function passing({ limiter }: Process, count: number): Promise<number> {
    const verdicts = await Promise.all(Array.from({ length: count }, () => limiter.take(caller)))
    return verdicts.filter(({ allowed }) => allowed).length
  }

  test('they hold over all processes', async () => {
    const [one, two] = [await start(), await start()]
    expect((await passing(one, 40)) + (await passing(two, 40))).toBe(60)
    expect(await two.limiter.take(caller)).toMatchObject({ allowed: false, points: 60, remaining: 0 })
  })

  test('when Redis fails, a single process lets no more calls pass in that window than with it', async () => {
    const one = await start()
    expect(await passing(one, 45)).toBe(45)
    await go(one)
    expect(await passing(one, 100)).toBe(15)
    await comeBack(one)
    expect(await passing(one, 10)).toBe(0)
  })

  test('commands that Redis does not answer are counted once', async () => {
    const one = await start()
    expect(await passing(one, 30)).toBe(30)
    const asked = passing(one, 100)
    const gone = go(one)
    expect(await asked).toBe(30)
    await gone
  })

  test('each of several processes has its part of the points that it knows to be left; one that does not know the caller has its part of all', async () => {
    const [one, two, three] = [await start(), await start(), await start()]
    live = 3
    expect(await passing(one, 29)).toBe(29)
    expect(await passing(two, 1)).toBe(1)
    expect(await one.limiter.take(caller)).toMatchObject({ allowed: true, remaining: 29 })
    await two.limiter.take(caller)
    for (const each of processes) await go(each)
    // 32 have passed, 28 are left; the first saw 31.
    expect(await passing(one, 60)).toBe(9)
    expect(await passing(two, 60)).toBe(9)
    expect(await passing(three, 60)).toBe(20)
  })

  test('calls that passed without Redis are added to its count, whether it kept the count or comes back empty', async () => {
    for (const isEmptied of [false, true]) {
      caller = randomUUID()
      const [one, two] = [await start(), await start()]
      live = 2
      expect((await passing(one, 20)) + (await passing(two, 20))).toBe(40)
      // Both have seen nearly all of it.
      await one.limiter.take(caller)
      for (const each of [one, two]) await go(each)
      expect([await passing(one, 60), await passing(two, 60)]).toEqual([9, 10])
      await windowIsOld()
      if (isEmptied) await empty()
      for (const each of [one, two]) await comeBack(each)
      await vi.waitFor(async () => expect(await counted()).toBe(60))
      expect((await passing(one, 5)) + (await passing(two, 5))).toBe(0)
      await empty()
    }
  })

  test('in a Redis that comes back empty, the count of one does not swallow what another counted alone', async () => {
    const [one, two] = [await start(), await start()]
    live = 2
    expect(await passing(one, 30)).toBe(30)
    for (const each of [one, two]) await go(each)
    expect([await passing(one, 60), await passing(two, 60)]).toEqual([15, 30])
    await windowIsOld()
    await empty()
    // The one that has not seen what Redis has lost is back first.
    for (const each of [two, one]) await comeBack(each)
    await vi.waitFor(async () => expect(await counted()).toBe(75))
    expect((await passing(one, 5)) + (await passing(two, 5))).toBe(0)
  })

  test('a Redis that was emptied does not restart the window, however many calls arrive at once', async () => {
    const [one, two] = [await start(), await start()]
    expect((await passing(one, 30)) + (await passing(two, 30))).toBe(60)
    await windowIsOld()
    await empty()
    // The second process has seen all of it, the first only its own half, and the other half comes back with the second.
    expect(await passing(two, 100)).toBe(0)
    await one.limiter.take(caller)
    await vi.waitFor(async () => expect(await counted()).toBe(60))
    expect(await passing(one, 100)).toBe(0)
  })

  test('refused calls do not count', async () => {
    const [one, two] = [await start(), await start()]
    expect(await passing(one, 100)).toBe(60)
    await vi.waitFor(async () => expect(await counted()).toBe(60))
    await one.limiter.giveBack(caller)
    expect(await passing(two, 2)).toBe(1)
  })

  test('a point that is given back does not count in any process, with Redis and without', async () => {
    const [one, two] = [await start(), await start()]
    expect(await passing(one, 60)).toBe(60)
    await one.limiter.giveBack(caller)
    expect(await passing(two, 2)).toBe(1)
    expect(await passing(one, 1)).toBe(0)
    await go(one)
    await one.limiter.giveBack(caller)
    expect(await passing(one, 2)).toBe(1)
    expect(await counted()).toBe(60)
  })

  test('a point that is given back after its window has ended starts no window', async () => {
    windowSeconds = 1
    const one = await start()
    await one.limiter.take(caller)
    await vi.waitFor(async () => expect(await counted()).toBe(0), 2_000)
    await one.limiter.giveBack(caller)
    expect(await other.exists(`trunkline:limit:chat:${caller}`)).toBe(0)
  })
})
