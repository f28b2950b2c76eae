import cluster from 'node:cluster'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { CallObserver } from '#core/calls/call-events.ts'
import { SWEPT_KINDS, type SweptKind } from '#core/uploads/upload-sweep.ts'
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
  /** Counts calls in progress and ended ones. */
  readonly call: CallObserver
  ledgerBatch(statement: string, size: number, ms: number): void
  ledgerBatchFailed(statement: string, cause: LedgerFailure): void
  settleFailed(): void
  /** Counts an unhandled rejection. */
  strayRejection(): void
  /** Sets the number of equations between counters, rollups and ledger that do not hold. */
  usageDrift(count: number): void
  limitStore(answers: boolean): void
  refused(reason: string): void
  /** Counts a GraphQL operation; the caller bounds the number of names. */
  graphqlOperation(type: string, name: string, seconds: number): void
  graphqlError(code: string): void
  subscriptionStarted(): void
  subscriptionEnded(): void
  /** Counts what the sweep of uploads has deleted. */
  uploadsSwept(kind: SweptKind, count: number): void
  /** Counts the log lines that were dropped by this output. */
  watchLog(output: { readonly droppedLines: number }): void
  /** Shows the free space of `DATA_DIR` and whether a full disk prevents writes. */
  watchDisk(disk: { isFull(): boolean; freeBytes?(): number | undefined }): void
  /** Counts how often the engine of an embedded database had to be opened again. */
  watchEngine(engine: { readonly losses: number }): void
  /** Leaves out what was counted of agents that are no longer served. */
  watchAgents(catalog: { current(): ReadonlyMap<string, unknown> }): void
  /** Shows the connections that clients have open. */
  watchConnections(connections: { readonly open: number }): void
}

/** Why a statement of the ledger failed: by an outage, its time limit, or a disk on which nothing more can be written. */
export type LedgerFailure = 'connection' | 'timeout' | 'disk_full' | 'other'

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'trunkline_' })
  const registers = [registry]
  let isServed = (_agent: string) => true
  const keeps = (agent: string) => isServed(agent)

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
    keeps,
    registers,
  })
  const callSeconds = new FastHistogram({
    name: 'trunkline_call_duration_seconds',
    help: "Time from a call's dispatch to its end.",
    label: 'agent',
    keeps,
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 1200],
    registers,
  })
  const firstChunkSeconds = new FastHistogram({
    name: 'trunkline_call_first_chunk_seconds',
    help: "Time from a call's dispatch to the first text.",
    label: 'agent',
    keeps,
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  })
  const inFlight = { chat: 0, upload: 0 }
  new Gauge({
    name: 'trunkline_calls_in_flight',
    help: 'Calls that were dispatched and have not ended.',
    registers,
    collect() {
      this.set(inFlight.chat)
    },
  })
  const graphqlOperations = new FastCounter({
    name: 'trunkline_graphql_operations_total',
    help: 'GraphQL operations that have ended, by type and name; names after the first hundred are (other).',
    labelNames: ['type', 'name'],
    registers,
  })
  const graphqlSeconds = new FastHistogram({
    name: 'trunkline_graphql_operation_duration_seconds',
    help: 'Time of a GraphQL operation, of a subscription until it ends.',
    label: 'type',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  })
  const graphqlErrors = new FastCounter({
    name: 'trunkline_graphql_errors_total',
    help: 'Errors in GraphQL results, by code.',
    labelNames: ['code'],
    registers,
  })
  let subscriptions = 0
  new Gauge({
    name: 'trunkline_graphql_subscriptions',
    help: 'GraphQL subscriptions that are open.',
    registers,
    collect() {
      this.set(subscriptions)
    },
  })
  const uploads = new Counter({
    name: 'trunkline_uploads_total',
    help: 'Admitted uploads by outcome and reason.',
    labelNames: ['outcome', 'reason'],
    registers,
  })
  const uploadBytes = new Counter({
    name: 'trunkline_upload_bytes_total',
    help: 'Bytes of files that were received, also of files that were refused in the end.',
    registers,
  })
  const uploadSeconds = new FastHistogram({
    name: 'trunkline_upload_duration_seconds',
    help: 'Time from the first byte of a file to the end of its upload.',
    label: 'outcome',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200],
    registers,
  })
  new Gauge({
    name: 'trunkline_uploads_in_flight',
    help: 'Uploads that are being received.',
    registers,
    collect() {
      this.set(inFlight.upload)
    },
  })
  const uploadsSwept = new Counter({
    name: 'trunkline_uploads_swept_total',
    help: 'Deleted by the sweep: expired uploads, files without record, records without file, unfinished writes.',
    labelNames: ['kind'],
    registers,
  })
  // The first increase of a series that begins with it would not be seen.
  for (const kind of SWEPT_KINDS) uploadsSwept.inc({ kind }, 0)
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
  const batchFailures = new FastCounter({
    name: 'trunkline_ledger_batch_failures_total',
    help: 'Statements of the ledger that failed and may have been repeated, by cause.',
    labelNames: ['statement', 'cause'],
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
  let disk: Parameters<Metrics['watchDisk']>[0] | undefined
  new Gauge({
    name: 'trunkline_disk_full',
    help: '1 while calls and changes are refused because the disk of the database is full, or almost full.',
    aggregator: 'max',
    registers,
    collect() {
      this.set(disk?.isFull() === true ? 1 : 0)
    },
  })
  let engine: { readonly losses: number } | undefined
  new Counter({
    name: 'trunkline_embedded_database_losses_total',
    help: 'How often the embedded database crashed or did not answer, and was opened again.',
    registers,
    collect() {
      this.reset()
      this.inc(engine?.losses ?? 0)
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
    call(event) {
      if (event.type === 'admitted') inFlight[event.call.kind] += 1
      if (event.type !== 'settled') return
      const { kind, agent } = event.call
      const { outcome, failure, durationMs, firstTextMs, bytes } = event.settled
      inFlight[kind] -= 1
      if (kind === 'chat') {
        calls.add(agent, outcome, failure?.reason)
        callSeconds.add(agent, durationMs / 1000)
        if (firstTextMs !== undefined) firstChunkSeconds.add(agent, firstTextMs / 1000)
      } else {
        uploads.inc({ outcome, reason: failure?.reason ?? '' })
        uploadBytes.inc(bytes ?? 0)
        uploadSeconds.add(outcome, durationMs / 1000)
      }
    },
    graphqlOperation(type, name, seconds) {
      graphqlOperations.add(type, name)
      graphqlSeconds.add(type, seconds)
    },
    graphqlError(code) {
      graphqlErrors.add(code)
    },
    subscriptionStarted() {
      subscriptions += 1
    },
    subscriptionEnded() {
      subscriptions -= 1
    },
    uploadsSwept(kind, count) {
      uploadsSwept.inc({ kind }, count)
    },
    ledgerBatch(statement, size, ms) {
      batchSize.add(statement, size)
      batchSeconds.add(statement, ms / 1000)
    },
    ledgerBatchFailed(statement, cause) {
      batchFailures.add(statement, cause)
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
    watchDisk(watched) {
      disk = watched
      const { freeBytes } = watched
      if (freeBytes === undefined) return
      new Gauge({
        name: 'trunkline_data_dir_free_bytes',
        help: 'Free space of DATA_DIR; only where the database is embedded.',
        registers,
        collect() {
          const bytes = freeBytes()
          if (bytes !== undefined) this.set(bytes)
        },
      })
    },
    watchEngine(watched) {
      engine = watched
    },
    watchAgents(catalog) {
      isServed = (agent) => catalog.current().has(agent)
    },
    watchConnections(watched) {
      connections = watched
    },
  }
}
