import { expect, test, vi } from 'vitest'
import { ClientGone } from '#core/base/errors/client-gone.ts'
import { createReads } from './reads.ts'

const ALONE = { owner: 'alone' }

test.each([
  ['embedded', 1],
  ['server', 2],
] as const)(
  'on %s at most %i reads run at a time, and the others wait for their turns',
  async (kind, most) => {
    const reads = createReads(kind, { elapsedMs: () => 0 })
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
    const begun: number[] = []
    const done = gates.map(({ promise }, index) =>
      reads.inTurn({ owner: String(index % 2) }, async () => {
        begun.push(index)
        await promise
      }),
    )
    for (let ended = 0; ended < gates.length; ended += 1) {
      await new Promise(setImmediate)
      expect(begun).toHaveLength(Math.min(gates.length, most + ended))
      gates[ended]?.resolve()
      await done[ended]
      await new Promise(setImmediate)
    }
    expect(begun).toEqual([0, 1, 2, 3, 4])
  },
)

test('a read is rejected when too many are waiting, and a failed read makes room as well', async () => {
  const reads = createReads('server', { places: { inAll: 1, perOwner: 1 }, elapsedMs: () => 0 })
  const gate = Promise.withResolvers<void>()
  const failing = () => gate.promise.then(() => Promise.reject(new Error('no')))
  const first = [failing, failing].map((read) => reads.inTurn(ALONE, read).catch(() => 'failed'))
  await expect(reads.inTurn(ALONE, failing)).rejects.toMatchObject({
    reason: 'rate_limited',
    retryAfterSeconds: 1,
  })
  const another = reads.inTurn({ owner: 'another' }, () => gate.promise)
  expect(() => reads.requirePlace({ owner: 'a third' })).toThrow(
    expect.objectContaining({ reason: 'unavailable' }),
  )
  gate.resolve()
  expect(await Promise.all(first)).toEqual(['failed', 'failed'])
  await another
  expect(await reads.inTurn(ALONE, async () => 'read')).toBe('read')
})

test('however many reads an owner asks for, one runs at a time, and another owner has the other turn', async () => {
  const reads = createReads('server', { elapsedMs: () => 0 })
  const gate = Promise.withResolvers<void>()
  let running = 0
  const slow = Array.from({ length: 5 }, () =>
    reads.inTurn(ALONE, async () => {
      running += 1
      await gate.promise
    }),
  )
  expect(await reads.inTurn({ owner: 'another' }, async () => running)).toBe(1)
  gate.resolve()
  await Promise.all(slow)
})

test('a turn stays free for as long as it was used, for a bounded time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    let nowMs = 0
    const reads = createReads('embedded', { elapsedMs: () => nowMs })
    const taking = (ms: number) =>
      reads.inTurn(ALONE, async () => {
        nowMs += ms
      })
    for (const [tookMs, pauseMs] of [
      [10, 10],
      [5_000, 40],
    ] as const) {
      await taking(tookMs)
      let isRead = false
      const next = taking(0).then(() => {
        isRead = true
      })
      await vi.advanceTimersByTimeAsync(pauseMs - 1)
      expect(isRead).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      await next
      expect(isRead).toBe(true)
    }
  } finally {
    vi.useRealTimers()
  }
})

test('slices grow while they are quick and shrink when they are slow, within their bounds', async () => {
  let nowMs = 0
  const reads = createReads('embedded', { elapsedMs: () => nowMs })
  const sizes = await reads.inTurn(ALONE, async (slices) => {
    const sizes: number[] = []
    const slice = (ms: number) =>
      slices?.run(async (rowsMax) => {
        sizes.push(rowsMax)
        nowMs += ms
      })
    for (let quick = 0; quick < 8; quick += 1) await slice(0)
    for (let slow = 0; slow < 9; slow += 1) await slice(50)
    return sizes
  })
  expect(Math.max(...sizes)).toBe(1_000)
  expect(sizes.at(-1)).toBe(200)
  expect(await createReads('server').inTurn(ALONE, async (slices) => slices)).toBeUndefined()
})

test('a read in slices ends when it has taken too long, and when its client is gone', async () => {
  let nowMs = 0
  const reads = createReads('embedded', { elapsedMs: () => nowMs })
  const search = (msOfSlice: number, signal?: AbortSignal) =>
    reads.inTurn({ ...ALONE, signal }, async (slices) => {
      for (let slice = 0; slice < 1_000; slice += 1) {
        await slices?.run(async () => {
          nowMs += msOfSlice
        })
      }
    })
  await expect(search(7_000)).rejects.toMatchObject({ reason: 'unavailable', limit: 'search_time' })
  expect(nowMs).toBe(21_000)
  const gone = new AbortController()
  const searching = search(0, gone.signal)
  gone.abort()
  await expect(searching).rejects.toThrow(ClientGone)
})
