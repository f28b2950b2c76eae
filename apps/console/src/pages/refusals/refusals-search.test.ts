import { expect, test } from 'vitest'
import { COUNT_RANGE, groupsOf, REFUSAL_RANGE, refusalsSearch } from './refusals-search.ts'

const NOW = new Date('2026-11-22T10:00:00Z')

test('an address keeps what filters refusals, and nothing else', () => {
  const search = {
    show: 'counts',
    range: '7d',
    agent: 'dify',
    key: 'k',
    reason: 'rate_limited',
    limit: 'chat',
  }
  expect(refusalsSearch({ ...search, by: 'key' })).toEqual({ ...search, by: 'key' })
  expect(refusalsSearch({ show: 'all', range: '2y', agent: ' ', other: 1 })).toEqual({})
})

test('a range that only counts reach is none of the single ones', () => {
  expect(refusalsSearch({ range: '7d' })).toEqual({})
  expect(refusalsSearch({ show: 'counts', range: '1h' })).toEqual({ show: 'counts' })
})

test('a range ends now, that of the reader where it is typed, and a request is looked for among all', () => {
  expect(REFUSAL_RANGE.times({}, NOW)).toEqual({ from: '2026-11-21T10:00:00.000Z' })
  expect(COUNT_RANGE.times({ range: '7d' }, NOW)).toEqual({ from: '2026-11-15T10:00:00.000Z' })
  const to = '2026-11-22T09:00:00.000Z'
  expect(REFUSAL_RANGE.times({ range: '1h', to }, NOW)).toEqual({ to })
  expect(REFUSAL_RANGE.shown({ range: '1h', to })).toBe('custom')
  expect(REFUSAL_RANGE.times({ requestId: 'r-1' }, NOW)).toEqual({})
})

test('groups are those that are known, in one order', () => {
  expect(groupsOf(undefined)).toEqual(['key', 'reason', 'limit'])
  expect(groupsOf('limit,key,colour')).toEqual(['key', 'limit'])
  expect(groupsOf('')).toEqual([])
})
