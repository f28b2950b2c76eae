import { expect, test } from 'vitest'
import type { Sql } from './database.ts'
import { createWritability } from './writability.ts'

const FULL = Object.assign(new Error('could not extend file'), { code: '53100' })
const READ_ONLY = Object.assign(new Error('cannot execute INSERT in a read-only transaction'), {
  code: '25006',
})
const MISSING_RIGHT = Object.assign(new Error('permission denied for table calls'), { code: '42501' })

function remembered() {
  const state = { nowMs: 0, changes: [] as (string | undefined)[] }
  const writability = createWritability({ elapsedMs: () => state.nowMs }, (obstacle) =>
    state.changes.push(obstacle),
  )
  return Object.assign(state, { writability })
}

test.each([
  ['disk_full', FULL],
  ['read_only', READ_ONLY],
  ['missing_right', MISSING_RIGHT],
])('%s is remembered until a write succeeds, or for some seconds without any', (obstacle, error) => {
  const state = remembered()
  const { writability } = state
  writability.failed('admit', new Error('other'))
  expect(writability.obstacle).toBeUndefined()
  writability.failed('admit', error)
  writability.failed('admit', error)
  expect(writability.obstacle).toBe(obstacle)
  writability.written('admit')
  expect([writability.obstacle, state.changes]).toEqual([undefined, [obstacle, undefined]])
  writability.failed('admit', error)
  state.nowMs += 9_999
  expect(writability.obstacle).toBe(obstacle)
  state.nowMs += 1
  expect(writability.obstacle).toBeUndefined()
})

test('a write of one kind says nothing of a right that another lacks, but that the database is not read only', () => {
  const { writability, changes } = remembered()
  writability.failed('settle', MISSING_RIGHT)
  writability.written('heartbeat')
  expect(writability.obstacle).toBe('missing_right')
  writability.failed('admit', READ_ONLY)
  writability.written('heartbeat')
  writability.written('settle')
  expect([writability.obstacle, changes]).toEqual([undefined, ['missing_right', undefined]])
})

test('statements that are watched say by themselves whether they could write', async () => {
  const { writability } = remembered()
  let error: Error | undefined = READ_ONLY
  const sql: Sql = { query: async () => (error === undefined ? [] : Promise.reject(error)) }
  const beats = writability.watched(sql, 'heartbeat')
  await expect(beats.query('')).rejects.toBe(READ_ONLY)
  expect(writability.obstacle).toBe('read_only')
  error = undefined
  expect(await beats.query('')).toEqual([])
  expect(writability.obstacle).toBeUndefined()
})
