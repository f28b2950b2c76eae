import { expect, test } from 'vitest'
import { periodEnd, periodStart } from './quota-period.ts'

const leapDay = new Date('2028-02-29T23:59:59.999Z')

test.each([
  ['none', '1970-01-01T00:00:00.000Z', undefined],
  ['day', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ['month', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
] as const)('a quota with the period %s is counted in UTC', (period, start, end) => {
  expect(periodStart(period, leapDay).toISOString()).toBe(start)
  expect(periodEnd(period, leapDay)?.toISOString()).toBe(end)
})

test('the quota of December ends in January of the next year', () => {
  expect(periodEnd('month', new Date('2027-12-31T12:00:00Z'))?.toISOString()).toBe('2028-01-01T00:00:00.000Z')
})
