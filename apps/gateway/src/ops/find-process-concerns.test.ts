import { expect, test } from 'vitest'
import { createProcessConcerns } from './find-process-concerns.ts'

function watchOf({ holder = undefined as string | undefined } = {}) {
  const state = { nowMs: 0, oldestMs: 0, isFull: false, holder, found: [] as string[] }
  const watch = createProcessConcerns({
    runtime: { elapsedMs: () => state.nowMs, now: () => new Date(1_000_000 + state.nowMs) },
    backlog: () => ({ waiting: 2, oldestMs: state.oldestMs }),
    lateSettlements: () => ['call 1', 'call 2'],
    isDiskFull: () => state.isFull,
    findLockHolder: async () => state.holder,
    lockFound: (name) => state.found.push(name),
  })
  const database = { reason: 'unavailable', limit: 'database' } as const
  return Object.assign(state, { watch, refuse: () => watch.refused(database) })
}

const settled = () => new Promise(setImmediate)

test('a process has no concerns while ends of calls are written and requests are served', () => {
  const { watch } = watchOf()
  watch.refused({ reason: 'rate_limited', limit: 'chat' })
  expect(watch.concerns()).toEqual([])
})

test('a ledger that is behind says since when, how many ends wait, and who holds the lock', async () => {
  const state = watchOf({ holder: 'process 7 (psql)' })
  state.oldestMs = 6_000
  const behind = { concern: 'ledger_behind', since: 994_000, count: 2, calls: ['call 1', 'call 2'] }
  expect(state.watch.concerns()).toEqual([behind])
  await settled()
  expect(state.watch.concerns()).toEqual([{ ...behind, blockedBy: state.holder }])
  await settled()
  state.watch.concerns()
  await settled()
  // The statement was cancelled and will come again.
  state.holder = undefined
  expect(state.watch.concerns()).toEqual([{ ...behind, blockedBy: 'process 7 (psql)' }])
  expect(state.found).toHaveLength(1)
  state.oldestMs = 0
  expect(state.watch.concerns()).toEqual([])
})

test('requests that are refused are counted by cause until a minute without any', () => {
  const state = watchOf()
  state.refuse()
  state.nowMs = 59_000
  state.refuse()
  state.watch.refused({ reason: 'unavailable', limit: 'storage' })
  state.nowMs = 118_000
  const database = { concern: 'unavailable', cause: 'database', since: 1_000_000, count: 2 }
  expect(state.watch.concerns()).toEqual([
    database,
    { concern: 'unavailable', cause: 'storage', since: 1_059_000, count: 1 },
  ])
  state.nowMs = 119_000
  expect(state.watch.concerns()).toEqual([])
  state.refuse()
  expect(state.watch.concerns()).toMatchObject([{ since: 1_119_000, count: 1 }])
})

test('a disk is full since it was first seen to be', () => {
  const state = watchOf()
  state.isFull = true
  expect(state.watch.concerns()).toEqual([{ concern: 'disk_full', since: 1_000_000 }])
  state.nowMs = 5_000
  expect(state.watch.concerns()).toEqual([{ concern: 'disk_full', since: 1_000_000 }])
  state.isFull = false
  expect(state.watch.concerns()).toEqual([])
})
