import cluster from 'node:cluster'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { RunEnd } from '#core/chat/run.ts'
import { readClusterMetrics, reportToPrimary } from './cluster-metrics.ts'
import { FastCounter, FastHistogram } from './fast-metrics.ts'

/**
 * The metrics of the gateway. Their labels have a bounded number of values: routes come from the code, agents from the
 * configuration and reasons from the table of errors.
 */
export interface Metrics {
  /** The metrics in Prometheus' exposition format, of all workers if there are several. */
  text(): Promise<string>
  readonly contentType: string
  request(route: string, method: string, status: number, seconds: number): void
  callStarted(): void
  callEnded(agent: string, end: RunEnd): void
  ledgerBatch(statement: string, size: number, ms: number): void
  settleFailed(): void
  /** Counts an unhandled rejection. */
  strayRejection(): void
  /** Sets the number of equations between counters, rollups and ledger that do not hold. */
  usageDrift(count: number): void
  limitStore(answers: boolean): void
  refused(reason: string): void
  /** Counts the log lines that were dropped by this output. */
  watchLog(output: { readonly droppedLines: number }): void
  /** Shows the connections that clients have open. */
  watchConnections(connections: { readonly open: number }): void
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'trunkline_' })
  const registers = [registry]

  const requests = new FastCounter({
    name: 'trunkline_http_requests_total',
    help: 'Requests by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const requestSeconds = new FastHistogram({
    name: 'trunkline_http_request_duration_seconds',
    help: 'Time from the request to the end of the response.',
    label: 'route',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  })
  const refusals = new FastCounter({
    name: 'trunkline_refusals_total',
    help: 'Requests answered with an error, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const calls = new FastCounter({
    name: 'trunkline_calls_total',
    help: 'Admitted calls by agent, outcome and reason.',
    labelNames: ['agent', 'outcome', 'reason'],
    registers,
  })
  const callSeconds = new FastHistogram({
    name: 'trunkline_call_duration_seconds',
    help: "Time from a call's dispatch to its end.",
    label: 'agent',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 1200],
    registers,
  })
  const firstChunkSeconds = new FastHistogram({
    name: 'trunkline_call_first_chunk_seconds',
    help: "Time from a call's dispatch to the first text.",
    label: 'agent',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  })
  let inFlight = 0
  new Gauge({
    name: 'trunkline_calls_in_flight',
    help: 'Calls that were dispatched and have not ended.',
    registers,
    collect() {
      this.set(inFlight)
    },
  })
  const batchSize = new FastHistogram({
    name: 'trunkline_ledger_batch_size',
    help: 'Calls that one statement of the ledger carried.',
    label: 'statement',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  })
  const batchSeconds = new FastHistogram({
    name: 'trunkline_ledger_batch_duration_seconds',
    help: 'Time of one statement of the ledger.',
    label: 'statement',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers,
  })
  const settleFailures = new Counter({
    name: 'trunkline_settle_failures_total',
    help: 'Ends of calls that could not be written to the ledger.',
    registers,
  })
  const strayRejections = new Counter({
    name: 'trunkline_stray_rejections_total',
    help: 'Unhandled rejections of promises; any value but 0 is a fault of the gateway.',
    registers,
  })

  const drift = new Gauge({
    name: 'trunkline_usage_drift',
    help: 'Equations between counters, rollups and ledger that do not hold; any value but 0 is a fault.',
    aggregator: 'max',
    registers,
  })
  const limitStore = new Gauge({
    name: 'trunkline_limit_store_up',
    help: '1 while Redis shares the limits between processes, 0 while each process enforces its part.',
    aggregator: 'min',
    registers,
  })
  let logOutput: { readonly droppedLines: number } | undefined
  new Counter({
    name: 'trunkline_log_lines_dropped_total',
    help: 'Log lines that were dropped because standard output did not accept them.',
    registers,
    collect() {
      this.reset()
      this.inc(logOutput?.droppedLines ?? 0)
    },
  })
  let connections: { readonly open: number } | undefined
  new Gauge({
    name: 'trunkline_connections',
    help: 'Connections of clients that are open.',
    registers,
    collect() {
      this.set(connections?.open ?? 0)
    },
  })

  if (cluster.isWorker) reportToPrimary(registry)

  return {
    text: () => (cluster.isWorker ? readClusterMetrics() : registry.metrics()),
    contentType: registry.contentType,
    request(route, method, status, seconds) {
      requests.add(route, method, String(status))
      requestSeconds.add(route, seconds)
    },
    callStarted() {
      inFlight += 1
    },
    callEnded(agent, { outcome, failure, durationMs, firstChunkMs }) {
      inFlight -= 1
      calls.add(agent, outcome, failure?.reason)
      callSeconds.add(agent, durationMs / 1000)
      if (firstChunkMs !== undefined) firstChunkSeconds.add(agent, firstChunkMs / 1000)
    },
    ledgerBatch(statement, size, ms) {
      batchSize.add(statement, size)
      batchSeconds.add(statement, ms / 1000)
    },
    settleFailed() {
      settleFailures.inc()
    },
    strayRejection() {
      strayRejections.inc()
    },
    usageDrift(count) {
      drift.set(count)
    },
    limitStore(answers) {
      limitStore.set(answers ? 1 : 0)
    },
    refused(reason) {
      refusals.add(reason)
    },
    watchLog(output) {
      logOutput = output
    },
    watchConnections(watched) {
      connections = watched
    },
  }
}
