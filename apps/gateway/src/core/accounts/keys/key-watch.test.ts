import { afterEach, expect, test, vi } from 'vitest'
import type { Sql } from '#core/database/database.ts'
import { createKeyWatch } from './key-watch.ts'

// What the watch reads is tested on real databases, which have timers of their own that would be counted here.

const EVERY_MS = 500
const KEYS = Array.from({ length: 10 }, (_, n) => ({ keyId: `key ${n}`, ownerId: 'an owner', address: '' }))

afterEach(() => {
  vi.useRealTimers()
})

/** A watch for which no key is refused, and the number of its statements. */
function openWatch() {
  let statements = 0
  let elapsedMs = 0
  const sql: Sql = {
    async query<Row>() {
      statements += 1
      return [{ nowMs: elapsedMs, refused: [], bound: [], stopped: [] }] as Row[]
    },
  }
  const watch = createKeyWatch({
    sql,
    runtime: { elapsedMs: () => elapsedMs },
    instanceId: 'this process',
    onAnswer: () => undefined,
  })
  return {
    statements: () => statements,
    /** Begins a thousand calls, and returns what ends each of them. */
    begin: () =>
      Array.from({ length: 100 }, () => KEYS.map((key) => watch.watch(key, () => undefined))).flat(),
    async pass(ms: number) {
      elapsedMs += ms
      await vi.advanceTimersByTimeAsync(ms)
    },
  }
}

test('a thousand calls cost a statement in a period, short calls one at most, and none once they have ended', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { begin, pass, statements } = openWatch()
  for (const end of begin()) end()
  await pass(EVERY_MS)
  expect([statements(), vi.getTimerCount()]).toEqual([0, 0])
  const ends = begin()
  await pass(EVERY_MS)
  await pass(EVERY_MS)
  for (const end of ends) end()
  await pass(60_000)
  expect([statements(), vi.getTimerCount()]).toEqual([2, 0])
})

test('the timer of the watch does not keep the process alive', () => {
  const alive = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = alive()
  const ends = openWatch().begin()
  expect(alive()).toBe(before)
  for (const end of ends) end()
})
