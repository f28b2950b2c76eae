export type Granularity = 'HOUR' | 'DAY' | 'MONTH'

/** One line or one layer of bars. */
export interface ChartSeries {
  readonly name: string
  /** A value for each bucket; null where there is none. */
  readonly values: readonly (number | null)[]
  /** A custom property of `tokens.css`. */
  readonly colour: `--${string}`
  readonly isDashed?: boolean
}

/** What a chart shows, in words as well as in lines. */
export interface ChartData {
  /** The starts of the buckets, in order and without gaps. */
  readonly starts: readonly string[]
  readonly granularity: Granularity
  /** The time zone in which days and months begin. */
  readonly zone: string
  readonly series: readonly ChartSeries[]
  /** Bars are stacked and have a sum; lines are not. */
  readonly kind: 'bars' | 'lines'
}
