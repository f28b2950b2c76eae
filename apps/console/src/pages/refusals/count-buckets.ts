import { startOfDay } from '../../report/zone.ts'

const HOUR_MS = 3_600_000
/** Counts are kept no longer. */
const KEPT_MS = 30 * 24 * HOUR_MS

/** The hours or days by which refusals are counted. */
export interface CountBuckets {
  readonly granularity: 'HOUR' | 'DAY'
  readonly zone: string
  /** In order and without gaps. */
  readonly starts: readonly string[]
  readonly end: string
}

interface Times {
  readonly from?: string | null | undefined
  readonly to?: string | null | undefined
}

/** Hours for up to eight days, else days. The first one begins with the range, to the minute, as the gateway counts. */
export function bucketsOf({ from, to }: Times, now: Date, zone: string): CountBuckets {
  const end = to == null ? now : new Date(to)
  const earliest = new Date(end.getTime() - KEPT_MS)
  const wanted = from == null ? earliest : new Date(from)
  const start = new Date(Math.floor(Math.max(wanted.getTime(), earliest.getTime()) / 60_000) * 60_000)
  const granularity = end.getTime() - start.getTime() <= 8 * 24 * HOUR_MS ? 'HOUR' : 'DAY'
  const starts: string[] = []
  for (let at = start; at < end; at = nextStart(at, granularity, zone)) starts.push(at.toISOString())
  return { granularity, zone, starts, end: end.toISOString() }
}

/** When the bucket with this start ends. */
export function endOf({ starts, end }: CountBuckets, start: string): string {
  return starts.find((next) => next > start) ?? end
}

/** Zones of reports are ahead of UTC by whole hours. */
function nextStart(at: Date, granularity: CountBuckets['granularity'], zone: string): Date {
  if (granularity === 'DAY') return startOfDay(at, zone, 1)
  return new Date((Math.floor(at.getTime() / HOUR_MS) + 1) * HOUR_MS)
}
