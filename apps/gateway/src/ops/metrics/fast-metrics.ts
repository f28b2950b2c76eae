import { Counter, type CounterConfiguration, Histogram, type HistogramConfiguration } from 'prom-client'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'

/** Series that are no longer kept are forgotten when they would be shown. */
export interface Kept {
  /** Whether series are kept whose first labels have these values; all are by default. */
  readonly keeps?: (first: string, second?: string) => boolean
}

/** How the series of a counter are shown. */
export interface CounterOptions extends Kept {
  /** The labels of series that are shown as 0 before they count, since the first increase of a new series is not seen. */
  readonly expected?: () => readonly (readonly string[])[]
}

type FastCounterConfiguration = CounterOptions &
  CounterConfiguration<string> & { labelNames: readonly string[] }

/**
 * A counter for the path of every call. prom-client validates, sorts and hashes the labels at every increment, which costs a
 * call more than its rate limit does. Here an increment is one look-up in a map, and prom-client gets the sums when it is
 * scraped.
 */
export class FastCounter {
  readonly #labelNames: readonly string[]
  readonly #counts = new Map<string, { readonly labels: Record<string, string>; value: number }>()

  constructor({ keeps = () => true, expected = () => [], ...config }: FastCounterConfiguration) {
    this.#labelNames = config.labelNames
    const counts = this.#counts
    const show = (labels: readonly string[]) => this.add(0, ...labels)
    new Counter({
      ...config,
      collect() {
        for (const labels of expected()) show(labels)
        this.reset()
        for (const [key, { labels, value }] of counts) {
          const [first = '', second] = key.split('\n', 2)
          if (keeps(first, second)) this.inc(labels, value)
          else counts.delete(key)
        }
      },
    })
  }

  /** Adds to the counter with these label values, given in the order of `labelNames`. */
  add(amount: number, first = '', second = '', third = ''): void {
    const key = `${first}\n${second}\n${third}`
    const count = this.#counts.get(key)
    if (count !== undefined) count.value += amount
    else this.#counts.set(key, { labels: labelsOf(this.#labelNames, [first, second, third]), value: amount })
  }
}

interface Series {
  readonly labels: Record<string, string>
  /** The number of values in each bucket, not cumulated; the last bucket is above all bounds. */
  readonly counts: Float64Array
  sum: number
}

/** How the series of a histogram differ from those of another with the same labels. */
export interface HistogramOptions extends Kept {
  /** Labels that every series has, beside those whose values are given with each value. */
  readonly fixedLabels?: Readonly<Record<string, string>>
}

type FastHistogramConfiguration = HistogramOptions &
  Omit<HistogramConfiguration<string>, 'buckets'> & {
    labelNames: readonly string[]
    buckets: readonly number[]
  }

/** A histogram with up to four labels, fast for the same reason as {@link FastCounter}. */
export class FastHistogram {
  readonly #labelNames: readonly string[]
  readonly #fixedLabels: Readonly<Record<string, string>>
  readonly #keeps: (first: string, second?: string) => boolean
  readonly #bounds: readonly number[]
  readonly #name: string
  readonly #series = new Map<string, Series>()

  constructor({ keeps = () => true, fixedLabels = {}, ...config }: FastHistogramConfiguration) {
    this.#fixedLabels = fixedLabels
    this.#labelNames = config.labelNames
    this.#keeps = keeps
    this.#bounds = config.buckets
    this.#name = config.name
    // Without labels there is one series, which is shown from the beginning.
    if (config.labelNames.length === 0) this.#seriesOf('', '', '', '')
    const labelNames = [...Object.keys(fixedLabels), ...config.labelNames]
    const histogram = new Histogram({ ...config, labelNames, buckets: [...config.buckets] })
    const described = markRejectionHandled(histogram.get())
    const get = async () => ({ ...(await described), values: this.#values() })
    // prom-client calls `getForPromString` to print the text, which its types do not declare.
    Object.assign(histogram, { get, getForPromString: get })
  }

  /** Adds a value to the series with these label values, given in the order of `labelNames`. */
  add(value: number, first = '', second = '', third = '', fourth = ''): void {
    const series = this.#seriesOf(first, second, third, fourth)
    let bucket = 0
    while (value > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += value
  }

  #seriesOf(first: string, second: string, third: string, fourth: string): Series {
    const key = `${first}\n${second}\n${third}\n${fourth}`
    let series = this.#series.get(key)
    if (series === undefined) {
      const labels = { ...this.#fixedLabels, ...labelsOf(this.#labelNames, [first, second, third, fourth]) }
      series = { labels, counts: new Float64Array(this.#bounds.length + 1), sum: 0 }
      this.#series.set(key, series)
    }
    return series
  }

  #values() {
    for (const key of this.#series.keys()) {
      const [first = '', second] = key.split('\n', 2)
      if (!this.#keeps(first, second)) this.#series.delete(key)
    }
    return [...this.#series.values()].flatMap(({ labels, counts, sum }) => {
      let count = 0
      const buckets = Array.from(counts, (ofBucket, index) => {
        count += ofBucket
        const le = this.#bounds[index] ?? '+Inf'
        return { metricName: `${this.#name}_bucket`, labels: { le, ...labels }, value: count }
      })
      return [
        ...buckets,
        { metricName: `${this.#name}_sum`, labels, value: sum },
        { metricName: `${this.#name}_count`, labels, value: count },
      ]
    })
  }
}

function labelsOf(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
}
