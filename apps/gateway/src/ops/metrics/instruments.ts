import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { type CounterOptions, FastCounter, FastHistogram, type HistogramOptions } from './fast-metrics.ts'

/** How the values of several workers become one. */
type Aggregator = 'sum' | 'max' | 'min'
export type LabelledValue = readonly [labels: Readonly<Record<string, string>>, value: number]

/** Makes the metrics of one registry. They have their full names, so that a name on a dashboard is found in the code. */
export type Instruments = ReturnType<typeof createInstruments>

/** Gauges of prom-client that are named as if they were counters; each has the same value by type beside it. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `trunkline_nodejs_active_${what}_total`)

/** An empty registry but for prom-client's own metrics of the process. */
export function createInstruments() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'trunkline_' })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const registers = [registry]
  return {
    registry,
    counter: (
      name: string,
      help: string,
      labelNames: readonly string[] = [],
      options: CounterOptions = {},
    ): FastCounter => new FastCounter({ name, help, labelNames, registers, ...options }),
    histogram: (
      name: string,
      help: string,
      labelNames: readonly string[],
      buckets: readonly number[],
      options: HistogramOptions = {},
    ): FastHistogram => new FastHistogram({ name, help, labelNames, buckets, registers, ...options }),
    /**
     * A metric whose value is read when it is scraped; without one it has no sample. Workers' values are added up unless
     * `aggregator` says otherwise.
     */
    gauge(name: string, help: string, read: () => number | undefined, aggregator: Aggregator = 'sum'): void {
      new Gauge({
        name,
        help,
        aggregator,
        registers,
        collect() {
          const value = read()
          if (value === undefined) this.remove()
          else this.set(value)
        },
      })
    },
    /** The same with labels: `read` lists the values of all series. */
    gauges(
      name: string,
      help: string,
      labelNames: readonly string[],
      read: () => readonly LabelledValue[],
      aggregator: Aggregator = 'sum',
    ): void {
      new Gauge({
        name,
        help,
        labelNames,
        aggregator,
        registers,
        collect() {
          // What is no longer listed is no longer true.
          this.reset()
          for (const [labels, value] of read()) this.set(labels, value)
        },
      })
    },
    /** A counter whose value is kept elsewhere and read at each scrape. */
    watchedCounter(name: string, help: string, read: () => number): void {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(read())
        },
      })
    },
    /** The same with labels. */
    watchedCounters(
      name: string,
      help: string,
      labelNames: readonly string[],
      read: () => readonly LabelledValue[],
    ): void {
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset()
          for (const [labels, value] of read()) this.inc(labels, value)
        },
      })
    },
  }
}
