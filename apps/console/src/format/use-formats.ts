import { useLocale } from 'use-intl'

/** How numbers and times are written, as is usual in the reader's region and, without another one, time zone. */
export type Formats = ReturnType<typeof formatsIn>

/** Formats are dear to make, and each cell of a list uses them. */
const made = new Map<string, Formats>()

export function useFormats(zone?: string): Formats {
  const locale = useLocale()
  const name = `${locale} ${zone}`
  const formats = made.get(name) ?? formatsIn(locale, zone)
  made.set(name, formats)
  return formats
}

export function formatsIn(locale: string, timeZone: string | undefined) {
  const number = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options).format
  const unit = (name: string, digits: number, unitDisplay: 'short' | 'long' = 'short') =>
    number({ style: 'unit', unit: name, unitDisplay, maximumFractionDigits: digits })
  const date = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone })
    return (value: string | Date) => format.format(new Date(value))
  }
  const fromNow = new Intl.RelativeTimeFormat(locale)
  const dateTime = date({ dateStyle: 'medium', timeStyle: 'medium' })
  const [time, dayOnly] = [date({ timeStyle: 'medium' }), date({ dateStyle: 'medium' })]
  const dayAndTime = date({ day: 'numeric', month: 'short', hour: 'numeric', minute: 'numeric' })
  const year = date({ year: 'numeric' })
  const zoneOnly = new Intl.DateTimeFormat(locale, { timeZoneName: 'short', timeZone })
  const zoneName = (value: string | Date = new Date()) =>
    zoneOnly.formatToParts(new Date(value)).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [ms, seconds, minutes] = [unit('millisecond', 0), unit('second', 1), unit('minute', 1)]
  const bytes = BYTE_UNITS.map((name, step) => (step === 0 ? unit(name, 0, 'long') : unit(name, 1)))
  const percent = number({ style: 'percent', maximumFractionDigits: 1 })
  const duration = (value: number) => {
    if (value < 1_000) return ms(value)
    return value < 120_000 ? seconds(value / 1_000) : minutes(value / 60_000)
  }
  return {
    /** `12,345` */
    count: number({}),
    /** `12.3k` */
    compact: number({ notation: 'compact', maximumFractionDigits: 1 }),
    /** `12.5 %` */
    percent,
    /** `850 ms`, `1.2 s`, `3 min` */
    duration,
    /** `≈ 30 %`: by how much a percentile has changed. */
    aboutPercent: (share: number) => `≈ ${percent(Math.round(share * 20) / 20)}`,
    /** `≈ 510 ms`: a percentile, which is known to about 5 %, with two digits. */
    about: (ms: number) => `≈ ${duration(Number(ms.toPrecision(2)))}`,
    /** `in 3 days`, `5 minutes ago`: a time from now. */
    relative(value: number) {
      const [name, size] = RELATIVE_UNITS.find(([, each]) => Math.abs(value) >= 2 * each) ?? ['second', 1_000]
      return fromNow.format(Math.trunc(value / size), name)
    },
    /** `1.4 MB` */
    bytes(value: number) {
      const step = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), bytes.length - 1)
      return bytes[step]?.(value / 1_000 ** step) ?? String(value)
    },
    /** `22 Nov 2026, 10:15:30` */
    dateTime,
    /** `10:15:30`, where the day stands above it. */
    time,
    /** `Sunday, 22 November 2026` */
    day: date({ dateStyle: 'full' }),
    /** `10:15:30` of today, `22 Nov, 10:15` of this year, otherwise `22 Nov 2026`. */
    short(value: string | Date, now = new Date()) {
      if (dayOnly(value) === dayOnly(now)) return time(value)
      return year(value) === year(now) ? dayAndTime(value) : dayOnly(value)
    },
    /** `22 Nov 2026, 10:15:30 GMT+1`, where nothing beside it names the zone. */
    moment: (value: string | Date) => `${dateTime(value)} ${zoneName(value)}`,
    /** `GMT+1`, the zone of the times at that moment. */
    zoneName,
    /** `22 Nov 2026` */
    date: dayOnly,
    /** `16 – 22 Nov 2026`, or with times where it is not whole days. The end does not belong to the range. */
    range: rangeFormat(locale, timeZone),
  }
}

function rangeFormat(locale: string, timeZone: string | undefined) {
  const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23', timeZone })
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone })
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone })
  return (from: string, to: string) => {
    const [start, end] = [new Date(from), new Date(to)]
    const isWholeDays = [start, end].every((at) => clock.format(at) === '00:00:00')
    return isWholeDays ? days.formatRange(start, new Date(end.getTime() - 1)) : times.formatRange(start, end)
  }
}

const RELATIVE_UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
