import cluster from 'node:cluster'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { BREAKER_STATES, type LoadReader } from '#core/agents/deployments/load.ts'
import type { Deployment } from '#core/agents/served-agent.ts'
import type { CallObserver } from '#core/calls/call-events.ts'
import type { Problem } from '#core/errors.ts'
import { REFUSAL_KINDS, type RefusalKind } from '#core/refusals/refusal-recorder.ts'
import { SWEPT_KINDS, type SweptKind } from '#core/uploads/upload-sweep.ts'
import { BUILD } from './build-info.ts'
import { ClientLabels, type ClientVersion } from './client-version.ts'
import { reportToPrimary } from './cluster/worker-metrics.ts'
import { FastCounter, FastHistogram, type Kept } from './fast-metrics.ts'

/**
 * The metrics of the gateway. Their labels have a bounded number of values: routes come from the code, agents and deployments
 * from the configuration and reasons from the table of errors.
 */
export interface Metrics {
  /** The metrics in Prometheus' exposition format, of all workers if there are several. */
  text(): Promise<string>
  /** In a worker, leaves what was counted to the primary; call it when nothing more is counted. */
  close(): Promise<void>
  readonly contentType: string
  request(route: string, method: string, status: number, seconds: number): void
  /** Counts a request of an SDK, by its version. */
  sdkRequest(client: ClientVersion): void
  /** Counts calls in progress, ended ones, and the attempts of each. */
  readonly call: CallObserver
  ledgerBatch(statement: string, size: number, ms: number): void
  ledgerBatchFailed(statement: string, cause: LedgerFailure): void
  settleFailed(): void
  /** Counts an unhandled rejection. */
  strayRejection(): void
  /** Shows how many equations between counters, rollups and ledger did not hold when some process last checked them. */
  usageDrift(check: DriftCheck): void
  limitStore(answers: boolean): void
  /** Counts a request that was answered with an error. */
  refused(problem: Pick<Problem, 'reason' | 'limit'>): void
  /** Counts refusals that are not on record. */
  refusalsDropped(kind: RefusalKind, refusals: number): void
  /** Counts a GraphQL operation; the caller bounds the number of names. */
  graphqlOperation(type: string, name: string, seconds: number): void
  graphqlError(code: string): void
  subscriptionStarted(): void
  subscriptionEnded(): void
  /** Counts what the sweep of uploads has deleted. */
  uploadsSwept(kind: SweptKind, count: number): void
  /** Counts spans that the collector did not get. */
  spansDropped(count: number): void
  /** Counts a kept reply that could not be kept to its end. */
  replyLost(): void
  /** Counts the log lines that were dropped by this output. */
  watchLog(output: { readonly droppedLines: number }): void
  /** Shows the free space of `DATA_DIR` and whether a full disk prevents writes. */
  watchDisk(disk: { isFull(): boolean; freeBytes?(): number | undefined }): void
  /** Counts how often the engine of an embedded database had to be opened again. */
  watchEngine(engine: { readonly losses: number }): void
  /** Leaves out what was counted of agents and deployments that are no longer served. */
  watchAgents(catalog: { current(): ServedIds }): void
  /** Shows the breakers of deployments, and the calls that agents carry and that wait for them. */
  watchLoad(load: LoadReader): void
  /** Shows the connections that clients have open. */
  watchConnections(connections: { readonly open: number }): void
}

/** The agents of the configuration and the ids of their deployments. */
type ServedIds = ReadonlyMap<string, { readonly deployments: readonly Pick<Deployment, 'id'>[] }>

/** The label of a deployment that was taken out of the configuration while its last calls went on. */
const OTHER_DEPLOYMENT = 'other'

/** Why a statement of the ledger failed: by an outage, its time limit, or a disk on which nothing more can be written. */
export type LedgerFailure = 'connection' | 'timeout' | 'disk_full' | 'other'

/** The last check of the counters against the ledger. */
export interface DriftCheck {
  /** How many equations did not hold. */
  readonly count: number
  /** In the database's time. */
  readonly checkedAt: Date
}

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const CALL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 1200]
const FIRST_CHUNK_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const UPLOAD_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200]
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const BATCH_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'trunkline_' })
  const registers = [registry]
  const inFlight = { chat: 0, upload: 0 }
  let subscriptions = 0
  let catalog: Parameters<Metrics['watchAgents']>[0] | undefined
  let log: Parameters<Metrics['watchLog']>[0] | undefined
  let disk: Parameters<Metrics['watchDisk']>[0] | undefined
  let engine: Parameters<Metrics['watchEngine']>[0] | undefined
  let connections: Parameters<Metrics['watchConnections']>[0] | undefined
  let load: LoadReader | undefined
  const ofServed: Kept = { keeps: (agent) => catalog?.current().has(agent) ?? true }
  const isServed = (agent: string, deployment: string) =>
    catalog === undefined ||
    catalog
      .current()
      .get(agent)
      ?.deployments.some(({ id }) => id === deployment) === true
  const ofDeployed: Kept = {
    keeps: (agent, deployment = '') =>
      isServed(agent, deployment) || (deployment === OTHER_DEPLOYMENT && ofServed.keeps?.(agent) === true),
  }

  const counter = (name: string, help: string, labelNames: readonly string[] = [], kept: Kept = {}) =>
    new FastCounter({ name: `trunkline_${name}`, help, labelNames, registers, ...kept })
  const histogram = (name: string, help: string, label: string, buckets: number[], kept: Kept = {}) =>
    new FastHistogram({ name: `trunkline_${name}`, help, label, buckets, registers, ...kept })
  /** A metric whose value is read when it is scraped. Workers' values are added up unless `aggregator` says otherwise. */
  const gauge = (name: string, help: string, read: () => number, aggregator: 'sum' | 'max' | 'min' = 'sum') =>
    new Gauge({
      name: `trunkline_${name}`,
      help,
      aggregator,
      registers,
      collect() {
        this.set(read())
      },
    })
  /** The same with labels: `read` lists the values of all series. */
  const gauges = (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[],
    aggregator: 'sum' | 'max' = 'sum',
  ) =>
    new Gauge({
      name: `trunkline_${name}`,
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
  const watchedCounter = (name: string, help: string, read: () => number) =>
    new Counter({
      name: `trunkline_${name}`,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(read())
      },
    })

  const requests = counter('http_requests_total', 'Requests by route, method and status.', [
    'route',
    'method',
    'status',
  ])
  const requestSeconds = histogram(
    'http_request_duration_seconds',
    'Time from the request to the end of the response.',
    'route',
    REQUEST_SECONDS,
  )
  const sdkLabels = new ClientLabels()
  const sdkRequests = counter(
    'sdk_requests_total',
    'Requests of SDKs, by language and version without its last part; versions after the first hundred are other.',
    ['client'],
  )
  const refusals = counter(
    'refusals_total',
    'Requests answered with an error, by reason, and by the limit that was reached or the part that was not available.',
    ['reason', 'limit'],
  )
  const unavailable = counter(
    'unavailable_total',
    'Requests that were refused as unavailable, by the part that was not available.',
    ['cause'],
  )
  const refusalsDropped = counter(
    'refusals_dropped_total',
    'Refusals that are not on record, because there was no room for them or they could not be written.',
    ['kind'],
  )
  for (const kind of REFUSAL_KINDS) refusalsDropped.addMany(0, kind)
  const calls = counter(
    'calls_total',
    'Admitted calls by agent, outcome and reason.',
    ['agent', 'outcome', 'reason'],
    ofServed,
  )
  const attempts = counter(
    'attempts_total',
    'Requests of calls that were sent to deployments of agents, by their result: done, or the reason of the failure.',
    ['agent', 'deployment', 'result'],
    ofDeployed,
  )
  const callSeconds = histogram(
    'call_duration_seconds',
    "Time from a call's dispatch to its end.",
    'agent',
    CALL_SECONDS,
    ofServed,
  )
  const firstChunkSeconds = histogram(
    'call_first_chunk_seconds',
    "Time from a call's dispatch to the first text.",
    'agent',
    FIRST_CHUNK_SECONDS,
    ofServed,
  )
  gauge('calls_in_flight', 'Calls that were dispatched and have not ended.', () => inFlight.chat)
  const agentLoads = () => load?.load() ?? []
  const deploymentLoads = () =>
    agentLoads().flatMap(({ agent, deployments }) =>
      deployments.map(({ id: deployment, ...known }) => ({ labels: { agent, deployment }, ...known })),
    )
  gauges(
    'breaker_state',
    'Whether calls go to a deployment: 0 they do (closed), 1 one call tries it (half open), 2 they do not (open); of several workers the worst.',
    ['agent', 'deployment'],
    () => deploymentLoads().map(({ labels, breaker }) => [labels, BREAKER_STATES.indexOf(breaker)]),
    'max',
  )
  gauges('agent_calls_in_flight', 'Calls in progress at a deployment.', ['agent', 'deployment'], () =>
    deploymentLoads().map(({ labels, inFlight: calls }) => [labels, calls]),
  )
  gauges('agent_calls_waiting', 'Calls that wait for a slot of their agent.', ['agent'], () =>
    agentLoads().map(({ agent, waiting }) => [{ agent }, waiting]),
  )
  const graphqlOperations = counter(
    'graphql_operations_total',
    'GraphQL operations that have ended, by type and name; names after the first hundred are (other).',
    ['type', 'name'],
  )
  const graphqlSeconds = histogram(
    'graphql_operation_duration_seconds',
    'Time of a GraphQL operation, of a subscription until it ends.',
    'type',
    REQUEST_SECONDS,
  )
  const graphqlErrors = counter('graphql_errors_total', 'Errors in GraphQL results, by code.', ['code'])
  gauge('graphql_subscriptions', 'GraphQL subscriptions that are open.', () => subscriptions)
  const uploads = counter('uploads_total', 'Admitted uploads by outcome and reason.', ['outcome', 'reason'])
  const uploadBytes = counter(
    'upload_bytes_total',
    'Bytes of files that were received, also of files that were refused in the end.',
  )
  const uploadSeconds = histogram(
    'upload_duration_seconds',
    'Time from the first byte of a file to the end of its upload.',
    'outcome',
    UPLOAD_SECONDS,
  )
  gauge('uploads_in_flight', 'Uploads that are being received.', () => inFlight.upload)
  const uploadsSwept = counter(
    'uploads_swept_total',
    'Deleted by the sweep: expired uploads, files without record, records without file, unfinished writes.',
    ['kind'],
  )
  // The first increase of a series that begins with it would not be seen.
  for (const kind of SWEPT_KINDS) uploadsSwept.addMany(0, kind)
  const repliesLost = counter(
    'replies_lost_total',
    'Replies of kept calls that are kept no more, because they are too large or could not be stored in time.',
  )
  repliesLost.addMany(0)
  const spansDropped = counter(
    'spans_dropped_total',
    'Spans that were dropped because too many were waiting, or because the collector did not take them.',
  )
  spansDropped.addMany(0)
  const batchSize = histogram(
    'ledger_batch_size',
    'Calls that one statement of the ledger carried.',
    'statement',
    BATCH_SIZES,
  )
  const batchSeconds = histogram(
    'ledger_batch_duration_seconds',
    'Time of one statement of the ledger.',
    'statement',
    BATCH_SECONDS,
  )
  const batchFailures = counter(
    'ledger_batch_failures_total',
    'Statements of the ledger that failed and may have been repeated, by cause.',
    ['statement', 'cause'],
  )
  const settleFailures = counter(
    'settle_failures_total',
    'Ends of calls that could not be written to the ledger.',
  )
  const strayRejections = counter(
    'stray_rejections_total',
    'Unhandled rejections of promises; any value but 0 is a fault of the gateway.',
  )
  let drift: DriftCheck | undefined
  /** Absent until the first check, because 0 would say that everything adds up. */
  const showDrift = () => {
    gauge(
      'usage_drift',
      'Equations between counters, rollups and ledger that do not hold; any value but 0 is a fault.',
      () => drift?.count ?? 0,
      'max',
    )
    gauge(
      'usage_drift_checked_timestamp_seconds',
      'When the equations were last checked, by any process that shares the database; absent before the first check.',
      () => (drift?.checkedAt.getTime() ?? 0) / 1000,
      'max',
    )
  }
  let limitStoreUp = 0
  gauge(
    'limit_store_up',
    '1 while Redis shares the limits between processes, 0 while each process enforces its part.',
    () => limitStoreUp,
    'min',
  )
  watchedCounter(
    'log_lines_dropped_total',
    'Log lines that were dropped because standard output did not accept them.',
    () => log?.droppedLines ?? 0,
  )
  gauge(
    'disk_full',
    '1 while calls and changes are refused because the disk of the database is full, or almost full.',
    () => (disk?.isFull() === true ? 1 : 0),
    'max',
  )
  watchedCounter(
    'embedded_database_losses_total',
    'How often the embedded database crashed or did not answer, and was opened again.',
    () => engine?.losses ?? 0,
  )
  gauge('connections', 'Connections of clients that are open.', () => connections?.open ?? 0)

  new Gauge({
    name: 'trunkline_build_info',
    help: 'The version of the gateway and the commit that it was built from; the value is always 1.',
    labelNames: Object.keys(BUILD),
    aggregator: 'max',
    registers,
  }).set(BUILD, 1)

  const worker = cluster.isWorker ? reportToPrimary(registry) : undefined

  return {
    text: () => worker?.text() ?? registry.metrics(),
    close: () => worker?.close() ?? Promise.resolve(),
    contentType: registry.contentType,
    request(route, method, status, seconds) {
      requests.add(route, method, String(status))
      requestSeconds.add(route, seconds)
    },
    sdkRequest(client) {
      sdkRequests.add(sdkLabels.of(client))
    },
    call(event) {
      if (event.type === 'admitted') inFlight[event.call.kind] += 1
      if (event.type === 'attempt_ended') {
        const { agent } = event.call
        const deployment = isServed(agent, event.deployment) ? event.deployment : OTHER_DEPLOYMENT
        attempts.add(agent, deployment, event.failure?.reason ?? (event.isComplete ? 'done' : 'cancelled'))
      }
      if (event.type !== 'settled') return
      const { kind, agent } = event.call
      const { outcome, failure, durationMs, firstTextMs, bytes } = event.settled
      inFlight[kind] -= 1
      if (kind === 'chat') {
        calls.add(agent, outcome, failure?.reason)
        callSeconds.add(agent, durationMs / 1000)
        if (firstTextMs !== undefined) firstChunkSeconds.add(agent, firstTextMs / 1000)
      } else {
        uploads.add(outcome, failure?.reason)
        uploadBytes.addMany(bytes ?? 0)
        uploadSeconds.add(outcome, durationMs / 1000)
      }
    },
    graphqlOperation(type, name, seconds) {
      graphqlOperations.add(type, name)
      graphqlSeconds.add(type, seconds)
    },
    graphqlError: (code) => graphqlErrors.add(code),
    subscriptionStarted() {
      subscriptions += 1
    },
    subscriptionEnded() {
      subscriptions -= 1
    },
    uploadsSwept: (kind, count) => uploadsSwept.addMany(count, kind),
    replyLost: () => repliesLost.add(),
    ledgerBatch(statement, size, ms) {
      batchSize.add(statement, size)
      batchSeconds.add(statement, ms / 1000)
    },
    ledgerBatchFailed: (statement, cause) => batchFailures.add(statement, cause),
    settleFailed: () => settleFailures.add(),
    strayRejection: () => strayRejections.add(),
    usageDrift(check) {
      if (drift === undefined) showDrift()
      drift = check
    },
    limitStore(answers) {
      limitStoreUp = answers ? 1 : 0
    },
    spansDropped: (count) => spansDropped.addMany(count),
    refused({ reason, limit }) {
      refusals.add(reason, limit)
      if (reason === 'unavailable') unavailable.add(limit)
    },
    refusalsDropped: (kind, dropped) => refusalsDropped.addMany(dropped, kind),
    watchLog(output) {
      log = output
    },
    watchDisk(watched) {
      disk = watched
      if (watched.freeBytes === undefined) return
      gauge(
        'data_dir_free_bytes',
        'Free space of DATA_DIR; only where the database is embedded.',
        () => watched.freeBytes?.() ?? Number.NaN,
      )
    },
    watchEngine(watched) {
      engine = watched
    },
    watchAgents(watched) {
      catalog = watched
    },
    watchLoad(watched) {
      load = watched
    },
    watchConnections(watched) {
      connections = watched
    },
  }
}
