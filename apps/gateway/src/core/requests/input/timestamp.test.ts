import { expect, test } from 'vitest'
import { parseDate, parseTimestamp } from './timestamp.ts'

test.each([
  ['2027-01-31T00:00:00Z', '2027-01-31T00:00:00.000Z'],
  ['2027-01-31T08:30+08:00', '2027-01-31T00:30:00.000Z'],
  ['2027-01-31T08:30:00-0530', '2027-01-31T14:00:00.000Z'],
  ['2027-01-31t00:00:00.123456z', '2027-01-31T00:00:00.123Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
])('the text %s is a timestamp', (text, iso) => {
  expect(parseTimestamp(text)?.toISOString()).toBe(iso)
})

test.each([
  '2027-01-31T00:00:00',
  '2027-01-31',
  '2027-02-30T00:00:00Z',
  '2027-13-01T00:00:00Z',
  '2027-01-31T25:00:00Z',
  '2027-01-31T00:00:00+99:00',
  '31 Jan 2027 00:00:00 Z',
  '1800000000000',
  ' 2027-01-31T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '1970-01-01T00:00:00+01:00',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-01:00',
  '+010000-01-01T00:00:00Z',
  '',
])('the value %j is not a timestamp', (text) => {
  expect(parseTimestamp(text)).toBeUndefined()
})

test('a date is midnight UTC, has no time and must exist in the calendar', () => {
  expect(parseDate('2028-02-29')?.toISOString()).toBe('2028-02-29T00:00:00.000Z')
  const others = ['2027-02-29', '2027-02-30', '0000-01-01', '1969-12-31', '2027-2-1', '20270201', '']
  for (const text of [...others, '2027-02-01T00:00:00Z']) expect(parseDate(text)).toBeUndefined()
})
