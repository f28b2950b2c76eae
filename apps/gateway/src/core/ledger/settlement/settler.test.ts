import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Settlement } from './settlement-row.ts'
import { Settler } from './settler.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const failing = (code: string) => Object.assign(new Error(code), { code })
const REFUSED_VALUE = failing('22P05')
const READ_ONLY = failing('25006')

/** A settler before a database whose refusals the test chooses. */
function settlerOf(refusal: (batch: readonly Settlement[]) => Error | undefined) {
  const written: Settlement[] = []
  const batches: number[] = []
  const reduced: string[] = []
  const settler = new Settler({
    runtime: { elapsedMs: () => Date.now() },
    async write(batch) {
      batches.push(batch.length)
      const error = refusal(batch)
      if (error !== undefined) throw error
      written.push(...batch)
    },
    writeFreeing: async () => undefined,
    onReduced: (_error, callId) => reduced.push(callId),
  })
  return { settler, written, batches, reduced }
}

const endOf = (callId: string): Settlement => ({
  callId,
  outcome: 'done',
  model: `model of ${callId}`,
  totalTokens: 18,
  durationMs: 5,
})

test.each([
  ...['25006', '42501', '53100', '53300', '40P01', '40001', '55P03', '57014', '57P01', '57P03', '58030'],
  ...['08006', 'ECONNRESET', 'XX000', 'P0001', '42P01', '0A000'],
])(
  'while the database fails with %s no end is given up, and afterwards each is written whole',
  async (code) => {
    let isFailing = true
    const { settler, written, reduced } = settlerOf(() => (isFailing ? failing(code) : undefined))
    const ends = ['a', 'b', 'c'].map(endOf)
    for (const end of ends) settler.settle(end)
    await vi.advanceTimersByTimeAsync(6_000)
    expect([settler.waiting, written]).toEqual([3, []])
    isFailing = false
    await vi.advanceTimersByTimeAsync(10_000)
    expect(written.sort((a, b) => a.callId.localeCompare(b.callId))).toEqual(ends)
    expect([settler.waiting, reduced]).toEqual([0, []])
  },
)

test.each(['40P01', '40001'])(
  'a transaction that gave way to another (%s) is repeated at once',
  async (code) => {
    let failures = 3
    const { settler, written } = settlerOf(() => (failures-- > 0 ? failing(code) : undefined))
    settler.settle(endOf('a'))
    await vi.advanceTimersByTimeAsync(99)
    expect(written).toHaveLength(1)
  },
)

test('a database that fails for long is tried less and less often, and not in smaller batches', async () => {
  const { settler, batches } = settlerOf(() => READ_ONLY)
  for (let n = 0; n < 500; n += 1) settler.settle(endOf(`call ${n}`))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(new Set(batches)).toEqual(new Set([500]))
  expect(batches.length).toBeLessThan(20)
})

test('a row that the database refuses is found by halves, and settled as interrupted without its texts', async () => {
  const { settler, written, batches, reduced } = settlerOf((batch) =>
    batch.some(({ model }) => model === 'model of call 77') ? REFUSED_VALUE : undefined,
  )
  const { written: wait } = settler.awaitSettlement('call 77')
  for (let n = 0; n < 100; n += 1) settler.settle(endOf(`call ${n}`))
  await vi.advanceTimersByTimeAsync(1_000)
  await wait
  expect(written.filter(({ outcome }) => outcome === 'done')).toHaveLength(99)
  expect(written.find(({ callId }) => callId === 'call 77')).toEqual({
    callId: 'call 77',
    outcome: 'interrupted',
    reason: 'interrupted',
    totalTokens: 18,
    durationMs: 5,
  })
  expect([reduced, settler.waiting]).toEqual([['call 77'], 0])
  expect(batches.length).toBeLessThan(20)
})

test('a call of which the database accepts nothing stays unwritten, delays no other, and is written whole in the end', async () => {
  let isRefused = true
  const { settler, written, reduced } = settlerOf((batch) =>
    isRefused && batch.some(({ callId }) => callId === 'bad') ? REFUSED_VALUE : undefined,
  )
  settler.settle(endOf('bad'))
  settler.settle(endOf('good'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect([written.map(({ callId }) => callId), settler.waiting]).toEqual([['good'], 1])
  expect([settler.late(1_000, 10), settler.late(1_001, 10)]).toEqual([['bad'], []])
  expect(settler.backlog()).toEqual({ waiting: 1, oldestMs: 1_000 })
  isRefused = false
  await vi.advanceTimersByTimeAsync(30_000)
  expect([written.at(-1), reduced]).toEqual([endOf('bad'), []])
})

test('the oldest that wait are named first, and no more than asked for', async () => {
  const { settler } = settlerOf(() => READ_ONLY)
  for (const callId of ['a', 'b', 'c']) {
    settler.settle(endOf(callId))
    await vi.advanceTimersByTimeAsync(10)
  }
  expect([settler.late(0, 2), settler.late(20, 5)]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
})

test('closing tries at once what pauses, and says how many ends are not written', async () => {
  let isFailing = true
  const { settler, written } = settlerOf(() => (isFailing ? READ_ONLY : undefined))
  settler.settle(endOf('a'))
  await vi.advanceTimersByTimeAsync(3_000)
  isFailing = false
  const closing = settler.close(5_000)
  await vi.advanceTimersByTimeAsync(100)
  expect([await closing, written]).toEqual([0, [endOf('a')]])

  const other = settlerOf(() => READ_ONLY)
  const { written: wait } = other.settler.awaitSettlement('b')
  for (const callId of ['b', 'c']) other.settler.settle(endOf(callId))
  const givenUp = other.settler.close(1_000)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await givenUp).toBe(2)
  // Nobody waits for an end that is given up.
  await wait
})
