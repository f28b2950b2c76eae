import { useMemo } from 'react'
import { useLocale } from 'use-intl'
import type { Granularity } from './chart-data.ts'

/** How the buckets of a report are named, as is usual in the reader's region, in the report's time zone. */
export interface BucketFormat {
  /** For the axis: `15:00` or `3:00 PM`, at midnight `22 Nov`; `22 Nov`; `Nov 2026`. */
  short(start: string): string
  /** For tables and what is under the pointer: `Sun, 22 Nov 2026, 15:00`. */
  long(start: string): string
}

export function useBucketFormat(granularity: Granularity, zone: string): BucketFormat {
  const locale = useLocale()
  return useMemo(() => bucketFormat(locale, granularity, zone), [locale, granularity, zone])
}

function bucketFormat(locale: string, granularity: Granularity, zone: string): BucketFormat {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const { format } = new Intl.DateTimeFormat(locale, { timeZone: zone, ...options })
    return (start: string) => format(new Date(start))
  }
  if (granularity === 'MONTH') {
    return {
      short: format({ month: 'short', year: 'numeric' }),
      long: format({ month: 'long', year: 'numeric' }),
    }
  }
  const day = format({ day: 'numeric', month: 'short' })
  const date = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const
  if (granularity === 'DAY') return { short: day, long: format(date) }
  const { hourCycle } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
  const time = { hour: hourCycle === 'h23' ? '2-digit' : 'numeric', minute: '2-digit' } as const
  const clock = format(time)
  const midnight = format({ hour: 'numeric', hourCycle: 'h23' })
  return {
    short: (start) => (Number.parseInt(midnight(start), 10) === 0 ? day(start) : clock(start)),
    long: format({ ...date, ...time }),
  }
}
