import { expect, test } from 'vitest'
import { daysLeft } from './key-expiry.ts'

const NOW = new Date('2026-11-25T12:00:00Z')

test.each([
  ['2026-11-25T12:00:01Z', 0],
  ['2026-11-26T11:59:59Z', 0],
  ['2026-11-26T12:00:00Z', 1],
  ['2026-12-25T11:59:59Z', 29],
  ['2026-12-25T12:00:00Z', undefined],
  ['2027-11-25T12:00:00Z', undefined],
])('a key that expires at %s has %j whole days left', (expiresAt, days) => {
  expect(daysLeft({ isActive: true, expiresAt }, NOW)).toBe(days)
  expect(daysLeft({ isActive: false, expiresAt }, NOW)).toBeUndefined()
})

test('a key that has expired since it was read has no day left', () => {
  expect(daysLeft({ isActive: true, expiresAt: '2026-11-25T11:59:00Z' }, NOW)).toBe(0)
})
