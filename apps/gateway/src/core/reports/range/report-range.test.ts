import { assert, constantFrom, date, integer, property, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseReportQuery } from '../report-query.ts'
import type { Granularity } from './calendar.ts'
import { BUCKETS_MAX, rangeBefore, reportRange, type Segment } from './report-range.ts'

const HOUR_MS = 3_600_000
const LENGTH_MAX_HOURS = { hour: 100, day: 60 * 24, month: 900 * 24 }

const ZONES = [
  'UTC',
  'Asia/Shanghai',
  'Europe/Berlin',
  'America/New_York',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  // These zones change their clocks at midnight, so that some days have no midnight and others have two.
  'America/Havana',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Beirut',
  'America/Asuncion',
  // This zone skipped a whole day in 2011.
  'Pacific/Apia',
]

const MOMENTS = {
  min: new Date('2005-01-01T00:00:00Z'),
  max: new Date('2035-01-01T00:00:00Z'),
  noInvalidDate: true,
}
const rangesBy = (granularity: Granularity) =>
  tuple(
    date(MOMENTS),
    integer({ min: 1, max: LENGTH_MAX_HOURS[granularity] * HOUR_MS }),
    constantFrom(...ZONES),
  )

describe.each(['hour', 'day', 'month'] as const)('a report by the %s', (granularity) => {
  test('has the hours that the requested range touches, in buckets without gaps that begin where those of the zone do', () => {
    assert(
      property(rangesBy(granularity), ([from, lengthMs, timezone]) => {
        const to = new Date(from.getTime() + lengthMs)
        const range = reportRange(from, to, timezone, granularity)
        expect([range.from, range.to]).toEqual([
          new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
          new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
        ])
        expect(range.starts[0]).toEqual(range.from)
        // A report for the returned range is the same one.
        expect(reportRange(range.from, range.to, timezone, granularity)).toEqual(range)
        const labels = range.starts.map((start) => labelOf(start, timezone, granularity))
        if (granularity !== 'hour') expect(new Set(labels).size).toBe(labels.length)
        for (const [index, start] of range.starts.entries()) {
          const end = range.starts[index + 1] ?? range.to
          expect(labelOf(new Date(end.getTime() - 1), timezone, granularity)).toBe(labels[index])
          expect(end > start).toBe(true)
        }
      }),
      { numRuns: process.env.SOAK ? 1_000 : 30 },
    )
  })

  test('has a period before it that is as long and ends where it begins', () => {
    assert(
      property(rangesBy(granularity), ([from, lengthMs, timezone]) => {
        const range = reportRange(from, new Date(from.getTime() + lengthMs), timezone, granularity)
        const { from: start, to: end } = rangeBefore(range)
        const before = reportRange(start, end, timezone, granularity)
        expect(before.to).toEqual(range.from)
        expect(before.to.getTime() - before.from.getTime()).toBe(range.to.getTime() - range.from.getTime())
      }),
      { numRuns: process.env.SOAK ? 1_000 : 30 },
    )
  })

  test('counts each hour of a bucket exactly once, and no other', () => {
    assert(
      property(rangesBy(granularity), ([from, lengthMs, timezone]) => {
        const to = new Date(from.getTime() + lengthMs)
        const { segments, starts, to: end } = reportRange(from, to, timezone, granularity)
        const byStart = Map.groupBy(segments, ({ start }) => start.getTime())
        for (const [index, start] of starts.entries()) {
          const hours = countHours(byStart.get(start.getTime()) ?? [])
          const bucketEnd = starts[index + 1] ?? end
          for (const [hourMs, count] of hours) {
            expect(count).toBe(hourMs >= start.getTime() && hourMs < bucketEnd.getTime() ? 1 : 0)
          }
          const counted = [...hours.values()].filter((count) => count === 1)
          expect(counted).toHaveLength((bucketEnd.getTime() - start.getTime()) / HOUR_MS)
        }
        for (const { span, from: begins, to: ends } of segments) {
          expect(isWhole(begins, span) && isWhole(ends, span) && begins < ends).toBe(true)
        }
      }),
      // Each run visits every hour of several years.
      { numRuns: process.env.SOAK ? 400 : 8 },
    )
  })
})

/** How often each hour is counted. */
function countHours(segments: readonly Segment[]): Map<number, number> {
  const hours = new Map<number, number>()
  for (const { sign, from, to } of segments) {
    for (let time = from.getTime(); time < to.getTime(); time += HOUR_MS)
      hours.set(time, (hours.get(time) ?? 0) + sign)
  }
  return hours
}

test('a month of a zone is the nearest UTC month, with hours added and subtracted at its edges', () => {
  const { segments } = reportRange(
    new Date('2026-02-28T16:00:00Z'),
    new Date('2026-03-31T16:00:00Z'),
    'Asia/Shanghai',
    'month',
  )
  expect(
    segments.map(({ sign, span, from, to }) => [sign, span, from.toISOString(), to.toISOString()]),
  ).toEqual([
    [1, 'hour', '2026-02-28T16:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    [1, 'month', '2026-03-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z'],
    [-1, 'hour', '2026-03-31T16:00:00.000Z', '2026-04-01T00:00:00.000Z'],
  ])
})

test.each([
  ['Europe/Berlin', '2026-03-29', 23],
  ['Europe/Berlin', '2026-10-25', 25],
  ['America/Santiago', '2026-09-06', 23],
  ['America/Havana', '2026-11-01', 25],
  ['UTC', '2026-03-29', 24],
])('in %s the day %s is one point of %i hours', (timezone, day, hours) => {
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
  const query = parseReportQuery({ from: day, to: next, timezone }, new Date())
  const { from, to, starts } = reportRange(query.from, query.to, timezone, 'day')
  expect(starts).toEqual([from])
  expect((to.getTime() - from.getTime()) / HOUR_MS).toBe(hours)
})

test.each([
  ['Asia/Shanghai', '2026-10-01', '2026-11-01', 31, 744],
  ['America/New_York', '2026-10-01', '2026-11-01', 31, 744],
  ['America/New_York', '2026-11-01', '2026-12-01', 30, 721],
  ['Europe/Berlin', '2026-10-01', '2026-11-01', 31, 745],
  ['UTC', '2028-02-01', '2028-03-01', 29, 696],
])(
  'in %s the month from %s to %s is one point, or %i by the day, of %i hours',
  (timezone, begins, ends, days, hours) => {
    const query = parseReportQuery({ from: begins, to: ends, timezone }, new Date())
    const byMonth = reportRange(query.from, query.to, timezone, 'month')
    expect(byMonth.starts).toEqual([byMonth.from])
    expect((byMonth.to.getTime() - byMonth.from.getTime()) / HOUR_MS).toBe(hours)
    expect(reportRange(query.from, query.to, timezone, 'day').starts).toHaveLength(days)
  },
)

test('a part of a month is covered by its days, and a part of a day by its hours', () => {
  const { from, to, starts, segments } = reportRange(
    new Date('2026-09-20T22:30:00Z'),
    new Date('2026-11-02T01:00:00.001Z'),
    'UTC',
    'month',
  )
  expect([from, ...starts.slice(1), to].map((moment) => moment.toISOString())).toEqual([
    '2026-09-20T22:00:00.000Z',
    '2026-10-01T00:00:00.000Z',
    '2026-11-01T00:00:00.000Z',
    '2026-11-02T02:00:00.000Z',
  ])
  expect(
    segments.map(({ sign, span, from, to }) => [sign, span, from.toISOString(), to.toISOString()]),
  ).toEqual([
    [1, 'hour', '2026-09-20T22:00:00.000Z', '2026-09-21T00:00:00.000Z'],
    [1, 'day', '2026-09-21T00:00:00.000Z', '2026-10-01T00:00:00.000Z'],
    [1, 'month', '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
    [1, 'day', '2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z'],
    [1, 'hour', '2026-11-02T00:00:00.000Z', '2026-11-02T02:00:00.000Z'],
  ])
})

test('months have their own lengths, and a year has twelve', () => {
  const { starts } = reportRange(midnightOf('2027-12-01'), midnightOf('2028-12-01'), 'UTC', 'month')
  expect(starts).toHaveLength(12)
  const lengths = starts
    .slice(1)
    .map((start, index) => (start.getTime() - (starts[index]?.getTime() ?? 0)) / 86_400_000)
  expect(lengths).toEqual([31, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31])
})

describe('a report rejects', () => {
  const refused = (detail: RegExp) =>
    expect.objectContaining({ reason: 'invalid_request', detail: expect.stringMatching(detail) })

  test.each(['hour', 'day', 'month'] as const)(
    'a zone whose offset is not a whole number of hours, by the %s',
    (granularity) => {
      const ask = () =>
        reportRange(midnightOf('2026-01-01'), midnightOf('2026-01-02'), 'Asia/Kolkata', granularity)
      expect(ask).toThrow(refused(/^timezone: expected one whose offset is a whole number of hours/))
    },
  )

  test.each(['Mars/Olympus', '', 'UTC; DROP'])('the zone %j, which does not exist', (timezone) => {
    expect(() => reportRange(midnightOf('2026-01-01'), midnightOf('2026-01-02'), timezone, 'day')).toThrow(
      refused(/^timezone: expected an IANA/),
    )
  })

  test.each(['2026-01-01', '2025-12-31'])('a range from 2026-01-01 to %s', (to) => {
    expect(() => reportRange(midnightOf('2026-01-01'), midnightOf(to), 'UTC', 'day')).toThrow(
      refused(/^from/),
    )
  })

  test('more buckets than the maximum', () => {
    const end = new Date(midnightOf('2026-01-01').getTime() + BUCKETS_MAX * HOUR_MS)
    expect(reportRange(midnightOf('2026-01-01'), end, 'UTC', 'hour').starts).toHaveLength(BUCKETS_MAX)
    const later = new Date(end.getTime() + 1)
    expect(() => reportRange(midnightOf('2026-01-01'), later, 'UTC', 'hour')).toThrow(refused(/^granularity/))
  })
})

function midnightOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`)
}

const calendars = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }),
  ]),
)

/** The local date and time in the zone. */
function labelOf(moment: Date, timezone: string, granularity: Granularity): string {
  return calendars.get(timezone)?.format(moment).slice(0, { hour: 13, day: 10, month: 7 }[granularity]) ?? ''
}

function isWhole(moment: Date, span: Granularity): boolean {
  return (
    /:00:00\.000Z$/.test(moment.toISOString()) &&
    moment.toISOString().endsWith({ hour: 'Z', day: 'T00:00:00.000Z', month: '-01T00:00:00.000Z' }[span])
  )
}
