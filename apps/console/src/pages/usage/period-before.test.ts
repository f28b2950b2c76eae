import { expect, test } from 'vitest'
import { periodBefore } from './period-before.ts'
import { usageSearch } from './usage-search.ts'

/** A Wednesday. */
const NOW = new Date('2026-11-25T10:20:00Z')

const before = (given: Record<string, unknown>, now = NOW) =>
  periodBefore(usageSearch({ zone: 'UTC', ...given }, now), now).map((at) => at.toISOString().slice(0, 16))

test.each([
  ['last_week', ['2026-11-09T00:00', '2026-11-16T00:00']],
  ['last_month', ['2026-09-01T00:00', '2026-10-01T00:00']],
  ['this_week', ['2026-11-16T00:00', '2026-11-18T11:00']],
  ['this_month', ['2026-10-01T00:00', '2026-10-25T11:00']],
  ['today', ['2026-11-24T00:00', '2026-11-24T11:00']],
  ['7d', ['2026-11-12T00:00', '2026-11-18T11:00']],
  ['12m', ['2024-12-01T00:00', '2025-11-25T11:00']],
])('%s is compared with what came before it, as far as it has come', (range, expected) => {
  expect(before({ range })).toEqual(expected)
})

test('whole months and whole days of the zone are compared with as many before them', () => {
  const ofShanghai = { zone: 'Asia/Shanghai', from: '2026-02-28T16:00:00Z', to: '2026-03-31T16:00:00Z' }
  expect(before(ofShanghai)).toEqual(['2026-01-31T16:00', '2026-02-28T16:00'])
  // The clocks are put forward within the range, which is an hour shorter.
  const ofBerlin = { zone: 'Europe/Berlin', from: '2026-03-28T23:00:00Z', to: '2026-03-30T22:00:00Z' }
  expect(before(ofBerlin)).toEqual(['2026-03-26T23:00', '2026-03-28T23:00'])
  expect(before({ from: '2026-03-01T05:00:00Z', to: '2026-03-01T08:00:00Z' })).toEqual([
    '2026-03-01T02:00',
    '2026-03-01T05:00',
  ])
})

test('the end of a month is compared with the whole of a shorter one, and midnight with midnight', () => {
  const march = new Date('2026-03-30T10:20:00Z')
  expect(before({ range: 'this_month' }, march)).toEqual(['2026-02-01T00:00', '2026-03-01T00:00'])
  const lastHour = new Date('2026-11-22T23:30:00Z')
  expect(before({ range: 'this_week' }, lastHour)).toEqual(['2026-11-09T00:00', '2026-11-16T00:00'])
})
