import { countDeaths } from '#ops/cluster/primary-metrics.ts'
import { createInstruments } from './instruments.ts'
import { createMetrics } from './metrics.ts'

/** What the reference says of a metric. */
export interface MetricDescription {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly help: string
  /** How the values of several workers become one. */
  readonly aggregator: string
}

/** Describes every metric of `/metrics`, also those that only some processes show. */
export async function describeMetrics(): Promise<readonly MetricDescription[]> {
  const instruments = createInstruments()
  createMetrics(instruments)
  const { registry } = instruments
  countDeaths(registry)
  const reported = await registry.getMetricsAsJSON()
  return reported.map(({ name, type, help, aggregator }) => ({
    name,
    // The types of prom-client say that this is a number.
    type: String(type),
    labels: labelsOf(registry.getSingleMetric(name)),
    help,
    aggregator,
  }))
}

/** The types of prom-client do not declare the labels of a metric. */
function labelsOf(metric: object | undefined): readonly string[] {
  const { labelNames } = { labelNames: [], ...metric } as { labelNames: readonly string[] }
  return labelNames
}
