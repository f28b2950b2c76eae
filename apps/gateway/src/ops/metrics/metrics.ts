import cluster from 'node:cluster'
import type { LoadReader } from '#core/agents/deployments/load.ts'
import type { CallObserver } from '#core/calls/call-events.ts'
import type { SweptKind } from '#core/uploads/upload-sweep.ts'
import { reportToPrimary } from '#ops/cluster/worker-metrics.ts'
import { createCallMetrics } from './call-metrics.ts'
import { createDependencyMetrics, type DependencyMetrics } from './dependency-metrics.ts'
import { createInstruments, type Instruments } from './instruments.ts'
import { createLedgerMetrics, type LedgerMetrics } from './ledger-metrics.ts'
import { createModelMetrics } from './model-metrics.ts'
import { createProcessMetrics, type ProcessMetrics } from './process-metrics.ts'
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts'
import { type ServedIds, ServedLabels } from './served-labels.ts'
import { createUploadMetrics } from './upload-metrics.ts'

/**
 * The metrics of the gateway. Their labels have a bounded number of values: routes come from the code, agents, deployments and
 * models from the configuration, and reasons from the table of errors.
 */
export interface Metrics extends RequestMetrics, LedgerMetrics, DependencyMetrics, ProcessMetrics {
  /** The metrics in Prometheus' exposition format, of all workers if there are several. */
  text(): Promise<string>
  /** In a worker, leaves what was counted to the primary; call it when nothing more is counted. */
  close(): Promise<void>
  readonly contentType: string
  /** Counts calls in progress, ended ones, and the attempts of each. */
  readonly call: CallObserver
  /** Counts what the sweep of uploads has deleted. */
  uploadsSwept(kind: SweptKind, count: number): void
  /** Leaves out what was counted of agents and deployments that are no longer served. */
  watchAgents(catalog: { current(): ServedIds }): void
  /** Shows the breakers of deployments, and the calls that agents carry and that wait for them. */
  watchLoad(load: LoadReader): void
}

export function createMetrics(instruments: Instruments = createInstruments()): Metrics {
  const served = new ServedLabels()
  const calls = createCallMetrics(instruments, served)
  const models = createModelMetrics(instruments)
  const uploads = createUploadMetrics(instruments)
  const subjects = {
    ...createRequestMetrics(instruments),
    ...createLedgerMetrics(instruments),
    ...createDependencyMetrics(instruments),
    ...createProcessMetrics(instruments),
  }
  const { registry } = instruments
  const worker = cluster.isWorker ? reportToPrimary(registry) : undefined
  return {
    ...subjects,
    text: () => worker?.text() ?? registry.metrics(),
    close: () => worker?.close() ?? Promise.resolve(),
    contentType: registry.contentType,
    call(event) {
      calls.observe(event)
      models(event)
      uploads.observe(event)
    },
    uploadsSwept: uploads.swept,
    watchAgents: (catalog) => served.watch(catalog),
    watchLoad: calls.watchLoad,
  }
}
