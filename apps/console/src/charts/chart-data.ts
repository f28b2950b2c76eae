import type { LinkProps } from '@tanstack/react-router'

export type Granularity = 'HOUR' | 'DAY' | 'MONTH'

/** What single calls or refusals have in common, as the address of their list says it. */
export type RecordFilter = Readonly<Record<string, string | number | undefined>>

/** The way to a list of what was counted. */
export type RecordsLink = Required<Pick<LinkProps, 'to' | 'search'>>

/** One line or one layer of bars. */
export interface ChartSeries {
  readonly name: string
  /** A value for each bucket; null where there is none. */
  readonly values: readonly (number | null)[]
  /** A custom property of `tokens.css`. */
  readonly colour: `--${string}`
  readonly isDashed?: boolean
  /** What its records have in common, beside what holds for all of the chart; undefined where no list has just these. */
  readonly filter?: RecordFilter | undefined
}

/** What a chart shows, in words as well as in lines. */
export interface ChartData {
  /** The starts of the buckets, in order and without gaps. */
  readonly starts: readonly string[]
  /** The end of the last bucket. */
  readonly end: string
  readonly granularity: Granularity
  /** The time zone in which days and months begin. */
  readonly zone: string
  readonly series: readonly ChartSeries[]
  /** Bars are stacked and have a sum; lines are not. */
  readonly kind: 'bars' | 'lines'
  /** The way to the records of a time, of all series or of one. */
  linkTo(from: string, to: string, filter?: RecordFilter): RecordsLink
  /** The same for the period before, bucket by bucket, as dashed lines. */
  readonly before?: {
    readonly starts: readonly string[]
    readonly series: readonly ChartSeries[]
  }
}

/** The way to the records of a bucket or, without one, of the whole chart. */
export function recordsIn(
  { starts, end, linkTo }: ChartData,
  index?: number,
  filter?: RecordFilter,
): RecordsLink {
  const to = (index === undefined ? undefined : starts[index + 1]) ?? end
  return linkTo(starts[index ?? 0] ?? end, to, filter)
}
