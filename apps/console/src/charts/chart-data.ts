import type { LinkProps } from '@tanstack/react-router'

export type Granularity = 'HOUR' | 'DAY' | 'MONTH'

/** Charts of times show one of them: the spikes of a higher one would flatten the lines of the others. */
export const PERCENTILES = ['p50', 'p95', 'p99'] as const
export type Percentile = (typeof PERCENTILES)[number]

/** What single calls or refusals have in common, as the address of their list says it. */
export type RecordFilter = Readonly<Record<string, string | number | undefined>>

/** The way to a list of what was counted. */
export type RecordsLink = Required<Pick<LinkProps, 'to' | 'search'>>

/** One line or one layer of bars. */
export interface ChartSeries {
  readonly name: string
  /** A value for each bucket; null for a bucket without a value. */
  readonly values: readonly (number | null)[]
  /** A custom property of `tokens.css`. */
  readonly colour: `--${string}`
  readonly isDashed?: boolean
  /**
   * What the records behind one of its values have in common, beside what holds for all of the chart; undefined where no list has
   * just these. A percentile leads to what took at least as long.
   */
  filterOf?(value: number): RecordFilter | undefined
  /** Its value over the whole of the chart, where that is not the sum of its values. */
  readonly overall?: number | undefined
  /** The target of its name, if that is not a list of records. */
  readonly link?: RecordsLink
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
  /** The same for the period before, bucket by bucket: bars beside those of this one, or dashed lines. */
  readonly before?: {
    readonly starts: readonly string[]
    /** The end of its last bucket. */
    readonly end: string
    readonly series: readonly ChartSeries[]
  }
}

/** The values of a bucket, and what their series look like. */
export function valuesAt(series: readonly ChartSeries[], index: number) {
  return series.map((one) => ({ ...one, value: one.values[index] ?? null }))
}

/** Buckets one after the other, and the way to the records within some time. */
export type Buckets = Pick<ChartData, 'starts' | 'end' | 'linkTo'>

/** The way to the records of a bucket or, without one, of all of them. */
export function recordsIn(
  { starts, end, linkTo }: Buckets,
  index?: number,
  filter?: RecordFilter,
): RecordsLink {
  const to = (index === undefined ? undefined : starts[index + 1]) ?? end
  return linkTo(starts[index ?? 0] ?? end, to, filter)
}

/** The way to the records behind a value of a bucket; undefined where there are none, or no list has just these. */
export function recordsOf(buckets: Buckets, series: ChartSeries, index: number): RecordsLink | undefined {
  const value = series.values[index] ?? 0
  const filter = value === 0 ? undefined : series.filterOf?.(value)
  return filter && recordsIn(buckets, index, filter)
}

/** The target of the name of a series. */
export function linkOfSeries(buckets: Buckets, series: ChartSeries): RecordsLink | undefined {
  if (series.link !== undefined) return series.link
  const value = series.overall ?? series.values.reduce<number>((sum, each) => sum + (each ?? 0), 0)
  const filter = series.filterOf?.(value)
  return filter && recordsIn(buckets, undefined, filter)
}

/** The buckets of the period before. */
export function bucketsBefore({ before, linkTo }: ChartData): Buckets {
  return { starts: before?.starts ?? [], end: before?.end ?? '', linkTo }
}
