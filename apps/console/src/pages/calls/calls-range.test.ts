import { expect, test } from 'vitest'
import { rangeAround, shownRange, timesOf } from './calls-range.ts'

const NOW = new Date('2026-11-22T10:00:00Z')
const DAY_MS = 86_400_000
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
  expect(timesOf(search, NOW)).toEqual(range)
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
  expect(timesOf({ ...search, requestId: 'r-1' }, NOW)).toEqual(range)
  expect(timesOf({ ...search, conversation: 'c-1' }, NOW)).toEqual(range)
})

test('the controls show the range of the list', () => {
  expect(shownRange({}, NOW)).toBe('7d')
  expect(shownRange({ requestId: 'r-1' }, NOW)).toBe('31d')
  expect(shownRange({ range: 'all', to }, NOW)).toBe('custom')
})

test('a conversation is looked for on both sides of a call, within a search', () => {
  const around = rangeAround('2026-06-15T00:00:00.000Z')
  expect(timesOf({ ...around, conversation: 'c-1' }, NOW)).toEqual(around)
})

test('a request whose id carries its time is looked for around it, whatever preset is chosen, unless times are typed', () => {
  const requestId = '019d0000-0000-774b-bcce-b302099a8057'
  const at = 0x019d_0000_0000
  const around = { from: new Date(at - 3_600_000).toISOString(), to: new Date(at + DAY_MS).toISOString() }
  expect(timesOf({ requestId }, NOW)).toEqual(around)
  expect(timesOf({ requestId, range: '24h' }, NOW)).toEqual(around)
  expect(shownRange({ requestId, range: '24h' }, NOW)).toBeUndefined()
  expect(timesOf({ requestId, to }, NOW)).toEqual({ from: '2026-08-31T00:00:00.000Z', to })
})
