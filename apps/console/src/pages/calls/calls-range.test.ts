import { expect, test } from 'vitest'
import { localTime, rangeAround, rangeOf, shownRange, typedTime } from './calls-range.ts'

const NOW = new Date('2026-11-22T10:00:00Z')
const from = '2026-01-01T00:00:00.000Z'
const to = '2026-10-01T00:00:00.000Z'

test.each([
  [{}, { from: '2026-11-15T10:00:00.000Z' }],
  [{ range: '24h' }, { from: '2026-11-21T10:00:00.000Z' }],
  [{ range: 'all' }, {}],
  [
    { from, to },
    { from, to },
  ],
  [{ range: '24h', from }, { from }],
] as const)('the list of %j covers %j', (search, range) => {
  expect(rangeOf(search, NOW)).toEqual(range)
})

test.each([
  [{}, { from: '2026-10-22T10:00:00.000Z' }],
  [{ range: 'all' }, { from: '2026-10-22T10:00:00.000Z' }],
  [{ range: '24h' }, { from: '2026-11-21T10:00:00.000Z' }],
  [
    { from, to },
    { from: '2026-08-31T00:00:00.000Z', to },
  ],
  [{ to }, { from: '2026-08-31T00:00:00.000Z', to }],
  [{ from }, { from, to: '2026-02-01T00:00:00.000Z' }],
  [{ from: '2026-11-01T00:00:00.000Z' }, { from: '2026-11-01T00:00:00.000Z' }],
  [
    { from: '2026-09-30T00:00:00.000Z', to },
    { from: '2026-09-30T00:00:00.000Z', to },
  ],
] as const)('a search within %j covers %j, at most 31 days', (search, range) => {
  expect(rangeOf({ ...search, requestId: 'r-1' }, NOW)).toEqual(range)
  expect(rangeOf({ ...search, conversation: 'c-1' }, NOW)).toEqual(range)
})

test('the controls show the range of the list', () => {
  expect(shownRange({})).toBe('7d')
  expect(shownRange({ requestId: 'r-1' })).toBe('31d')
  expect(shownRange({ range: 'all', to })).toBe('custom')
})

test('a conversation is looked for on both sides of a call, within a search', () => {
  const around = rangeAround('2026-06-15T00:00:00.000Z')
  expect(rangeOf({ ...around, conversation: 'c-1' }, NOW)).toEqual(around)
})

test('a typed time is that of the reader, and comes back as it was', () => {
  expect(typedTime('2026-11-22T10:15')).toBe(new Date(2026, 10, 22, 10, 15).toISOString())
  expect(localTime(typedTime('2026-11-22T10:15'))).toBe('2026-11-22T10:15')
  expect(typedTime('')).toBeUndefined()
})
