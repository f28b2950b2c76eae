import { expect, test } from 'vitest'
import { AUDIT_RANGE, auditSearch } from './audit-search.ts'

const NOW = new Date('2026-11-22T10:00:00Z')

test('an address keeps what filters events, and nothing else', () => {
  const search = { range: '7d', result: 'REFUSED', operation: 'users.update', target: 'user', targetId: '7' }
  expect(auditSearch(search)).toEqual(search)
  expect(auditSearch({ range: '2y', result: 'LOST', user: '', other: 1 })).toEqual({})
})

test('all events are listed until a range is chosen', () => {
  expect(AUDIT_RANGE.times({}, NOW)).toEqual({})
  expect(AUDIT_RANGE.times({ range: '24h' }, NOW)).toEqual({ from: '2026-11-21T10:00:00.000Z' })
  const from = '2026-11-01T00:00:00.000Z'
  expect(AUDIT_RANGE.times({ range: '24h', from }, NOW)).toEqual({ from })
})
