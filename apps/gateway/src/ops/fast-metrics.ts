import { Counter, type CounterConfiguration, Histogram, type HistogramConfiguration } from 'prom-client'
import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'

/** Series that are no longer kept are forgotten when they would be shown. */
export interface Kept {
  /** Whether series are kept whose first labels have these values; all are by default. A histogram has only the first. */
  readonly keeps?: (first: string, second?: string) => boolean
}

type FastCounterConfiguration = Kept & CounterConfiguration<string> & { labelNames: readonly string[] }

/**
 * A counter for the path of every call. prom-client validates, sorts and hashes the labels at every increment, which costs a
 * call more than its rate limit does. Here an increment is one look-up in a map, and prom-client gets the sums when it is
 * scraped.
 */
export class FastCounter {
  readonly #labelNames: readonly string[]
  readonly #counts = new Map<string, { readonly labels: Record<string, string>; value: number }>()

  constructor({ keeps = () => true, ...config }: FastCounterConfiguration) {
    this.#labelNames = config.labelNames
    const counts = this.#counts
    new Counter({
      ...config,
      collect() {
        this.reset()
        for (const [key, { labels, value }] of counts) {
          const [first = '', second] = key.split('\n', 2)
          if (keeps(first, second)) this.inc(labels, value)
          else counts.delete(key)
        }
      },
    })
  }

  /** Adds one to the counter with these label values, given in the order of `labelNames`. */
  add(first = '', second = '', third = ''): void {
    this.addMany(1, first, second, third)
  }

  addMany(amount: number, first = '', second = '', third = ''): void {
    const key = `${first}\n${second}\n${third}`
    const count = this.#counts.get(key)
    if (count !== undefined) count.value += amount
    else this.#counts.set(key, { labels: this.#labelsOf([first, second, third]), value: amount })
  }

  #labelsOf(values: readonly string[]): Record<string, string> {
    return Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index] ?? '']))
  }
}

interface Series {
  /** The number of values in each bucket, not cumulated; the last bucket is above all bounds. */
  readonly counts: Float64Array
  sum: number
}

type FastHistogramConfiguration = Kept & HistogramConfiguration<string> & { label: string; buckets: number[] }

/** A histogram with one label, fast for the same reason as {@link FastCounter}. */
export class FastHistogram {
  readonly #label: string
  readonly #keeps: (first: string) => boolean
  readonly #bounds: readonly number[]
  readonly #name: string
  readonly #series = new Map<string, Series>()

  constructor({ label, keeps = () => true, ...config }: FastHistogramConfiguration) {
    this.#label = label
    this.#keeps = keeps
    this.#bounds = config.buckets
    this.#name = config.name
    const histogram = new Histogram({ ...config, labelNames: [label] })
    const described = markRejectionHandled(histogram.get())
    const get = async () => ({ ...(await described), values: this.#values() })
    // prom-client calls `getForPromString` to print the text, which its types do not declare.
    Object.assign(histogram, { get, getForPromString: get })
  }

  add(labelValue: string, value: number): void {
    let series = this.#series.get(labelValue)
    if (series === undefined) {
      series = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 }
      this.#series.set(labelValue, series)
    }
    let bucket = 0
    while (value > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += value
  }

  #values() {
    for (const labelValue of this.#series.keys())
      if (!this.#keeps(labelValue)) this.#series.delete(labelValue)
    return [...this.#series].flatMap(([labelValue, { counts, sum }]) => {
      const labels = { [this.#label]: labelValue }
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
