import type { Logger } from 'pino'
import { describeConfig } from '#config/describe-config.ts'
import type { Config } from '#config/load.ts'
import { createInstallationSecret } from '#core/accounts/auth/installation-secret.ts'
import { createSigningKeyAdministration } from '#core/accounts/auth/signing-key-administration.ts'
import { createTokens } from '#core/accounts/auth/tokens.ts'
import { createRememberedKeys } from '#core/accounts/keys/key-limits.ts'
import { createAgentCatalog } from '#core/agents/catalog.ts'
import { createUpstream } from '#core/agents/upstream/upstream.ts'
import { recordConfiguration } from '#core/audit/configuration-event.ts'
import { createRefusedOperations, type RefusedOperations } from '#core/audit/refused-operations.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { atAddressOf } from '#core/base/values/at-address-of.ts'
import { createConversations } from '#core/calls/conversation/conversations.ts'
import { createDerivedIds } from '#core/calls/conversation/derived-ids.ts'
import { createRoutes } from '#core/calls/routing/routes.ts'
import { eachOf, settleCalls } from '#core/calls/settle-calls.ts'
import type { Database } from '#core/database/database.ts'
import { createDatabaseClock } from '#core/database/database-clock.ts'
import { ownBuild, tooOld } from '#core/database/migrations/min-build.ts'
import { isConnectionError, isDiskFull, isStatementTimeout } from '#core/errors/connection-error.ts'
import { createInstances, type ProcessIdentity } from '#core/ledger/instances.ts'
import { createLedger } from '#core/ledger/ledger.ts'
import { createMaintenanceLease } from '#core/ledger/maintenance-lease.ts'
import { createProcessLoads } from '#core/ledger/process-loads.ts'
import { connectRedis } from '#core/limits/connect-redis.ts'
import { createLimits } from '#core/limits/limits.ts'
import { createRefusalRecorder, type RefusalRecorder } from '#core/refusals/refusal-recorder.ts'
import { createRefusalSweep } from '#core/refusals/refusal-sweep.ts'
import { createReplyStore } from '#core/reply-log/store/create-reply-store.ts'
import { createWakeUps } from '#core/reply-log/wake-ups/create-wake-ups.ts'
import { createServices } from '#core/services/create-services.ts'
import type { ProcessTasks, Services } from '#core/services/services.ts'
import { openStorage } from '#core/uploads/storage/open-storage.ts'
import type { PrismaClient } from '#generated/prisma/client.ts'
import { logCalls } from '#ops/call-log.ts'
import { createDependencyStates } from '#ops/dependencies.ts'
import { createDiskWatch } from '#ops/disk-watch.ts'
import type { Health } from '#ops/health.ts'
import { logChanges } from '#ops/log-changes.ts'
import { createMaintenance, MAINTENANCE_PERIODS } from '#ops/maintenance.ts'
import type { LedgerFailure } from '#ops/metrics/ledger-metrics.ts'
import { createMetrics, type Metrics } from '#ops/metrics/metrics.ts'
import { identifyProcess } from '#ops/process-identity.ts'
import { createStorageWatch } from '#ops/storage-watch.ts'
import { startTracing } from '#ops/tracing/start-tracing.ts'
import type { Tracing, TracingSettings } from '#ops/tracing/tracing.ts'

/** The parts of one gateway process. */
export interface Gateway {
  readonly services: Services
  readonly processTasks: ProcessTasks
  /** For the objects of the GraphQL face, which Pothos loads itself within the filters of the services. */
  readonly prisma: PrismaClient
  readonly metrics: Metrics
  /** Absent where nothing is traced. */
  readonly tracing?: Tracing | undefined
  /** Faces hand over the requests that they refuse. */
  readonly refusals: Pick<RefusalRecorder, 'record' | 'identify'> & {
    /** For the audit log. */
    readonly recordOperation: RefusedOperations['record']
  }
  readonly health: Health
  /** Its clock follows the database's once {@link Gateway.prepareCommands} has resolved. */
  readonly runtime: Runtime
  /** Reads from the database what commands need: its time, and the secret of the installation. */
  prepareCommands(): Promise<void>
  /** Does what must be done once before calls are served. May be repeated until the database is reachable. */
  prepare(): Promise<void>
  /** Sets the URL under which clients reach the gateway, for a port that the system chooses. */
  reachedAt(publicUrl: string): void
  /** Marks the start as complete; calls are served from then on. */
  open(): void
  /** Reports from now on that the process is stopping. It serves calls as before. */
  stop(): void
  /** Refuses new calls, lets running ones end within the time, and ends the rest. */
  drain(timeoutMs: number): Promise<void>
  /** Ends what still runs, writes the end of every call and closes the connections to platforms. The database stays open. */
  close(): Promise<void>
}

export interface GatewayDeps {
  readonly config: Config
  readonly database: Database
  readonly runtime: Runtime
  readonly log: Logger
  /** The identity that the lines of `log` have; a new one by default. */
  readonly identity?: ProcessIdentity
  /** How calls are traced; by default not at all, since the process of a command serves none. */
  readonly tracing?: TracingSettings | undefined
}

/**
 * The composition root: creates all services from the configuration.
 *
 * @throws StorageError if the storage of files cannot be opened
 */
export async function createGateway({
  config,
  database,
  runtime: system,
  log,
  identity = identifyProcess(),
  tracing: tracingConfig,
}: GatewayDeps): Promise<Gateway> {
  const { sql, prisma, lanes } = database
  let { publicUrl } = config
  const clock = createDatabaseClock(lanes.upkeep, system)
  const { runtime } = clock
  const build = await ownBuild()
  const metrics = createMetrics()
  // The process of a command starts no emulators, but keys may still name their ids.
  const catalog = createAgentCatalog(config.agents, config.sandbox ? config.platforms.names : [])
  metrics.watchAgents(catalog)
  metrics.watchLanes(database.connections)
  const tracing =
    tracingConfig &&
    (await startTracing(tracingConfig, {
      identity,
      observer: {
        dropped: metrics.spansDropped,
        collectorAnswers: logChanges(
          log,
          'the collector takes traces again',
          'the collector does not take traces: they are dropped',
        ),
      },
    }))
  const upstream = createUpstream({
    replyBytesMax: config.chat.replyBytesMax,
    unsentBytesMax: config.chat.unsentBytesMax / 4,
  })
  const routes = createRoutes({
    catalog,
    upstream,
    runtime,
    observer: {
      deploymentChanged({ breaker, failure, ...which }) {
        if (breaker === 'closed') log.info(which, 'the deployment works again')
        else
          log.warn(
            { ...which, ...failure },
            'the deployment does not work: its calls go elsewhere, or are refused',
          )
      },
      ownerRefused({ failure, ...which }) {
        log.warn({ ...which, ...failure }, 'the deployment fails calls of one owner, which it gets no more')
      },
    },
  })
  metrics.watchLoad(routes)

  const redis = config.redisUrl === undefined ? undefined : connectRedis(config.redisUrl)
  const redisName = `Redis${atAddressOf(config.redisUrl)}`
  if (redis !== undefined) metrics.limitStore(true)
  const logRedis = logChanges(
    log,
    `${redisName} answers: limits hold across processes`,
    `${redisName} does not answer: each process enforces its part of the limits`,
  )
  const limits = createLimits(config.limits, {
    liveProcesses: () => instances.live,
    observer: {
      storeAnswers(answers, error) {
        metrics.limitStore(answers)
        logRedis(answers, error)
      },
      answered: metrics.limitStoreAnswered,
      failed: metrics.limitStoreFailed,
    },
    ...(redis !== undefined && { redis }),
  })
  const { secretKey, secretKeyPrevious } = config
  const signingKeysDeps = { prisma, runtime, secretKey, secretKeyPrevious }
  const tokens = createTokens({ ...signingKeysDeps, config: config.tokens })
  const disk = createDiskWatch({ config, database, runtime, metrics, log })
  const ledger = createLedger({
    sql: lanes.settlements,
    admissionSql: lanes.admissions,
    keptAdmissionSql: lanes.keptAdmissions,
    upkeepSql: lanes.upkeep,
    runtime,
    instanceId: identity.id,
    bounds: config.usage,
    observer: {
      batch(statement, calls, ms) {
        disk.fullness.written()
        metrics.ledgerBatch(statement, calls.length, ms)
        tracing?.ledgerBatch(statement, calls, ms)
      },
      batchFailed(statement, error, calls, ms) {
        disk.fullness.failed(error)
        const cause = failureOf(error)
        metrics.ledgerBatchFailed(statement, cause)
        tracing?.ledgerBatch(statement, calls, ms, cause)
      },
      settleFailed(error) {
        metrics.settleFailed()
        log.error({ err: error }, 'the end of a call could not be written')
      },
    },
  })
  metrics.watchSettlements(ledger)
  const { leaseMs } = config.instance
  const instances = createInstances({
    sql: lanes.heartbeat,
    readSql: lanes.probes,
    upkeepSql: lanes.upkeep,
    runtime,
    identity,
    load: routes,
    build,
    ...config.instance,
    async reap() {
      // First, so that a reader who finds the call interrupted in the ledger finds its reply ended.
      await untilNone(() => replyStore.endDead({ id: identity.id, leaseMs }))
      return ledger.settleDead(leaseMs)
    },
    observer: {
      reapable: logChanges(
        log,
        'the calls of dead instances can be settled again',
        'the calls of dead instances cannot be settled',
      ),
      reaped: (calls) => log.warn({ calls }, 'the open calls of dead instances were settled'),
      renewable: logChanges(log, 'the lease is renewed again', 'the lease cannot be renewed'),
      needsBuild(minBuild) {
        if (minBuild === undefined) log.info('this version is no longer too old for the database')
        else log.error({ build, minBuild }, `not ready: ${tooOld(build, minBuild)}`)
      },
    },
  })
  const rememberedKeys = createRememberedKeys({ sql: lanes.keys, runtime })
  const refusals = createRefusalRecorder({
    sql: lanes.records.sql,
    runtime,
    space: disk.space,
    isAgent: (id) => catalog.current().has(id),
    identityOf: rememberedKeys.identityOf,
    observer: {
      dropped: metrics.refusalsDropped,
      recordable: logChanges(
        log,
        'refusals can be recorded again',
        'refusals cannot be recorded, so they are dropped',
      ),
    },
  })
  const ofReplies = { ...database, sql: lanes.replies }
  const replyStore = createReplyStore({
    database: ofReplies,
    upkeepSql: lanes.upkeep,
    randomBytes: runtime.randomBytes,
    secretKeys: { secretKey, secretKeyPrevious },
    bounds: config.replies,
  })
  const conversations = createConversations({
    sql: lanes.conversations,
    runtime,
    bounds: config.conversations,
  })
  const secret = createInstallationSecret({ prisma, runtime })
  const derivedIds = createDerivedIds(() => secret.value)
  const wakeUps = createWakeUps({
    database: ofReplies,
    redis,
    installation: () => derivedIds.installation(),
    runtime,
    observer: {
      wakeUpsArrive: logChanges(
        log,
        'messages of other processes arrive again',
        'messages of other processes do not arrive: readers of kept replies look at the database',
      ),
    },
  })
  const storage = await openStorage(config, {
    runtime,
    publicUrl: () => publicUrl,
    space: disk.space,
  })
  const { services, processTasks } = createServices({
    config,
    database,
    runtime,
    catalog,
    limits,
    rememberedKeys,
    tokens,
    signingKeys: createSigningKeyAdministration(signingKeysDeps, config.tokens),
    ledger,
    loads: createProcessLoads({ instances, identity, load: routes, runtime }),
    upstream,
    routes,
    conversations,
    derivedIds,
    storage,
    space: disk.space,
    replyStore,
    wakeUps,
    repliesObserver: {
      lost(callId) {
        metrics.replyLost()
        log.warn(
          { callId },
          'the reply of a call is kept no more: it is too large, or could not be stored in time',
        )
      },
      storable: logChanges(
        log,
        'the replies of calls can be stored again',
        'the replies of calls cannot be stored',
      ),
    },
    onUsageFeedAnswer: logChanges(
      log,
      'the usage of today can be read again',
      'the usage of today cannot be read for its subscribers',
    ),
    onKeyWatchAnswer: logChanges(
      log,
      'the keys of running calls can be checked again',
      'the keys of running calls cannot be checked, so the calls go on',
    ),
    sweepObserver: { swept: metrics.uploadsSwept },
    // Each listens to every call.
    observe: eachOf([settleCalls(ledger), metrics.call, logCalls(log), ...(tracing ? [tracing.call] : [])]),
  })

  const refusedOperations = createRefusedOperations({
    audit: processTasks.audit,
    onDropped: metrics.auditDropped,
  })
  const lease = createMaintenanceLease(lanes.upkeep, identity.id, MAINTENANCE_PERIODS)
  const maintenance = createMaintenance({
    ...processTasks,
    conversations,
    replies: replyStore,
    instances,
    refusals: createRefusalSweep({ sql: lanes.upkeep }),
    lease,
    metrics,
    log,
  })

  let isStopping = false
  let isDraining = false
  let isPrepared = false
  const pingStorage = async () => {
    // The start has not prepared it if it is still waiting for the database, which is no fault of the storage.
    if (!isPrepared) await storage.prepare()
    await storage.ping()
  }
  const storageWatch = createStorageWatch({ ping: pingStorage, runtime, log })
  const dependencies = createDependencyStates({
    database,
    instances,
    build,
    disk,
    pingStorage,
    redis,
    runtime,
    isPrepared: () => isPrepared,
  })
  async function drain(timeoutMs: number): Promise<void> {
    isStopping = true
    isDraining = true
    // These have no end of their own. Their clients subscribe again, at a process that goes on.
    processTasks.usage.endUpdates()
    processTasks.replies.drain()
    await Promise.all([processTasks.chat.drain(timeoutMs), processTasks.uploads.drain(timeoutMs)])
  }

  return {
    services,
    processTasks,
    prisma,
    metrics,
    tracing,
    refusals: {
      record: refusals.record,
      identify: refusals.identify,
      recordOperation: refusedOperations.record,
    },
    runtime,
    health: {
      isPrepared: () => isPrepared,
      isStopping: () => isStopping,
      isDraining: () => isDraining,
      dependencies,
    },
    async prepareCommands() {
      await clock.sync()
      await secret.prepare()
    },
    reachedAt(url) {
      publicUrl = url
    },
    async prepare() {
      await disk.start()
      await clock.sync()
      clock.start()
      await tokens.prepare()
      await secret.prepare()
      await storage.prepare()
      if (!disk.space.isLow) await recordConfiguration(sql, describeConfig(config, secret.value))
      await instances.join()
      // An embedded database has one owner, so calls that are still open ended with the previous process.
      if (database.kind === 'embedded') {
        await untilNone(() => replyStore.endPredecessors(identity.id))
        await ledger.settlePredecessors()
      }
      // The conversations of the emulators were lost with the previous process.
      if (config.sandbox) await conversations.forget([...catalog.current().keys()])
    },
    open() {
      maintenance.start()
      storageWatch.start()
      metrics.eventLoop.start()
      isPrepared = true
    },
    stop() {
      isStopping = true
    },
    drain,
    async close() {
      await drain(0)
      await Promise.all([ledger.close(5_000), processTasks.replies.close(5_000), refusals.close(5_000)])
      await withDeadline(5_000, refusedOperations.settled()).catch(() => undefined)
      maintenance.stop()
      clock.stop()
      disk.stop()
      storageWatch.stop()
      metrics.eventLoop.stop()
      await instances
        .leave()
        .catch((error: unknown) => log.warn({ err: error }, 'the end of the instance could not be written'))
      await wakeUps.close()
      redis?.disconnect()
      storage.close()
      await upstream.close()
      await tracing?.close(TRACES_WITHIN_MS)
    },
  }
}

/** A collector that does not answer delays the end of the process no longer than this. */
const TRACES_WITHIN_MS = 2_000

/** Repeats work that processes a bounded number of rows until none is left. */
async function untilNone(work: () => Promise<number>): Promise<void> {
  while ((await work()) > 0);
}

/** Why a statement of the ledger failed, for the metric. */
function failureOf(error: unknown): LedgerFailure {
  if (isDiskFull(error)) return 'disk_full'
  if (isStatementTimeout(error)) return 'timeout'
  return isConnectionError(error) ? 'connection' : 'other'
}
