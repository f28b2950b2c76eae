import cluster from 'node:cluster'
import type { CallFollower } from '#core/calls/call-events.ts'
import { reportToPrimary } from '#ops/cluster/worker-metrics.ts'
import { createCallMetrics } from './call-metrics.ts'
import { createDependencyMetrics } from './dependency-metrics.ts'
import { createInstruments, type Instruments } from './instruments.ts'
import { createKeyMetrics } from './key-metrics.ts'
import { createLedgerMetrics } from './ledger-metrics.ts'
import { createModelMetrics } from './model-metrics.ts'
import { createProcessMetrics } from './process-metrics.ts'
import { createRequestMetrics } from './request-metrics.ts'
import { type ServedIds, ServedLabels } from './served-labels.ts'
import { createUploadMetrics } from './upload-metrics.ts'

/**
 * The metrics of the gateway. Their labels have a bounded number of values: routes come from the code, agents, deployments and
 * models from the configuration, and reasons from the table of errors.
 */
export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics(instruments: Instruments = createInstruments()) {
  const served = new ServedLabels()
  const calls = createCallMetrics(instruments, served)
  const uploads = createUploadMetrics(instruments)
  const subjects = {
    ...createRequestMetrics(instruments),
    ...createKeyMetrics(instruments),
    ...createLedgerMetrics(instruments),
    ...createDependencyMetrics(instruments),
    ...createProcessMetrics(instruments),
  }
  const { registry } = instruments
  const worker = cluster.isWorker ? reportToPrimary(registry) : undefined
  return {
    ...subjects,
    /** The metrics in Prometheus' exposition format, of all workers if there are several. */
    text: (): Promise<string> => worker?.text() ?? registry.metrics(),
    /** In a worker, leaves what was counted to the primary; call it when nothing more is counted. */
    close: (): Promise<void> => worker?.close() ?? Promise.resolve(),
    contentType: registry.contentType,
    /** Count calls in progress, ended ones, and the attempts of each. */
    callFollowers: [
      { chat: calls.steps },
      { chat: createModelMetrics(instruments) },
      { upload: uploads.steps },
    ] satisfies CallFollower[],
    /** Counts what the sweep of uploads has deleted. */
    uploadsSwept: uploads.swept,
    /** Leaves out what was counted of agents and deployments that are no longer served. */
    watchAgents: (catalog: { current(): ServedIds }): void => served.watch(catalog),
    /** Shows the breakers of deployments, and the calls that agents carry and that wait for them. */
    watchLoad: calls.watchLoad,
  }
}
