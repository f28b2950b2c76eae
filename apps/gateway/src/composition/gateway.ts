import { buildAccounts } from '#composition/build-accounts.ts'
import { buildAgents } from '#composition/build-agents.ts'
import { buildInstances } from '#composition/build-instances.ts'
import { buildLedger } from '#composition/build-ledger.ts'
import { buildLimits } from '#composition/build-limits.ts'
import { buildRefusals } from '#composition/build-refusals.ts'
import { buildReplyLog } from '#composition/build-reply-log.ts'
import { buildServices } from '#composition/build-services.ts'
import { createGatewayLife, type GatewayLife } from '#composition/gateway-life.ts'
import { type ConfigurationFile, createLiveConfiguration } from '#composition/live-configuration.ts'
import { buildSurroundings, type ProcessDeps } from '#composition/surroundings.ts'
import { createStoredSecrets } from '#core/accounts/auth/stored-secrets.ts'
import { createRefusedOperations, type RefusedOperations } from '#core/audit/refused-operations.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { createConversations } from '#core/calls/conversation/conversations.ts'
import { createDerivedIds } from '#core/calls/conversation/derived-ids.ts'
import { createPauses } from '#core/calls/pauses/pauses.ts'
import { findLockHolder } from '#core/database/lock-holder.ts'
import type { ProcessIdentity } from '#core/ledger/instances.ts'
import { createProcessLoads } from '#core/ledger/process-loads.ts'
import type { RefusalRecorder } from '#core/refusals/refusal-recorder.ts'
import { setPrivateAddresses } from '#core/requests/input/public-host.ts'
import type { ProcessTasks, Services } from '#core/services/services.ts'
import { openStorage } from '#core/uploads/storage/open-storage.ts'
import type { PrismaClient } from '#generated/prisma/client.ts'
import { createProcessConcerns } from '#ops/find-process-concerns.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { identifyProcess } from '#ops/process-identity.ts'
import type { Tracing } from '#ops/tracing/create-tracing.ts'

export type { ConfigurationFile }

/** The parts of one gateway process, and its life. */
export interface Gateway extends GatewayLife {
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
    readonly recordCredential: RefusedOperations['recordCredential']
  }
  /** Its clock follows the database's once {@link Gateway.prepareCommands} has resolved. */
  readonly runtime: Runtime
  /** Sets the URL under which clients reach the gateway and the port on which it serves them, which the system may choose. */
  reachedAt(publicUrl: string, port: number): void
}

export interface GatewayDeps extends Omit<ProcessDeps, 'identity'> {
  /** The identity that the lines of `log` have; a new one by default. */
  readonly identity?: ProcessIdentity
  /** The file that `config` was read from; by default none, so that a reload is refused. */
  readonly configurationFile?: ConfigurationFile
}

const WITHOUT_FILE: ConfigurationFile = {
  read: () =>
    Promise.reject(
      new Problem('configuration_invalid', { detail: 'the gateway runs without a configuration file.' }),
    ),
  share: () => undefined,
  onShared: () => undefined,
}

/**
 * The composition root: creates all services from the configuration. What a room needs beside the surroundings is handed over
 * here.
 *
 * @throws StorageError if the storage of files cannot be opened
 */
export async function createGateway({
  identity = identifyProcess(),
  configurationFile = WITHOUT_FILE,
  ...deps
}: GatewayDeps): Promise<Gateway> {
  const surroundings = await buildSurroundings({ ...deps, identity })
  const { config, database, runtime, metrics, tracing, disk } = surroundings
  setPrivateAddresses(config.privateAddresses)
  let { publicUrl } = config
  let servedPort: number | undefined
  const agents = buildAgents(surroundings)
  const accounts = buildAccounts(surroundings)
  const processes = { live: 1 }
  const { limits, redis } = buildLimits(surroundings, processes)
  const derivedIds = createDerivedIds(accounts.secret)
  const installation = () => derivedIds.installation()
  const ledger = buildLedger(surroundings)
  const replyLog = buildReplyLog(surroundings, { redis, installation })
  const { catalog, routes: load } = agents
  const source = createLiveConfiguration({
    ...agents,
    config: deps.config,
    limits: config.limits,
    file: configurationFile,
    secret: () => accounts.secret.value,
  })
  const watch = createProcessConcerns({
    runtime,
    backlog: ledger.backlog,
    lateSettlements: ledger.lateSettlements,
    isDiskFull: disk.isFull,
    findLockHolder: database.kind === 'server' ? () => findLockHolder(database.lanes.probes) : undefined,
    lockFound: (blockedBy) => surroundings.log.warn({ blockedBy }, 'statements wait for a lock'),
  })
  const instances = buildInstances(surroundings, {
    processes,
    concerns: watch.concerns,
    port: () => servedPort,
    load,
    configuration: () => processTasks.configuration.state(),
    ledger,
    replyStore: replyLog.replyStore,
  })
  const refusals = buildRefusals(surroundings, { catalog, rememberedKeys: accounts.rememberedKeys })
  const conversations = createConversations({
    sql: database.lanes.conversations,
    derivedIds,
    runtime,
    bounds: { ...config.conversations, ledgerRetentionDays: config.usage.retentionDays },
  })
  const pauses = createPauses({
    sql: database.lanes.conversations,
    secrets: createStoredSecrets(config, runtime),
    retentionDays: config.conversations.mappingRetentionDays,
  })
  const storage = await openStorage(config, { runtime, publicUrl: () => publicUrl, space: disk.space })
  const parts = { ...agents, ...accounts, ...replyLog, ledger, conversations, pauses, storage }
  const loads = createProcessLoads({ instances, identity, load, runtime })
  const configuration = { source, tell: () => instances.tell() }
  const { services, processTasks } = buildServices(surroundings, {
    ...parts,
    limits,
    derivedIds,
    loads,
    configuration,
  })
  const refusedOperations = createRefusedOperations({
    audit: processTasks.audit,
    runtime,
    onDropped: metrics.auditDropped,
  })
  const ended = { redis, instances, refusals, refusedOperations, processTasks }
  const life = createGatewayLife(surroundings, { ...parts, ...ended })

  return {
    ...life,
    services,
    processTasks,
    prisma: database.prisma,
    metrics,
    tracing,
    refusals: {
      record(refused) {
        watch.refused(refused.problem)
        refusals.record(refused)
      },
      identify: refusals.identify,
      recordOperation: refusedOperations.record,
      recordCredential: refusedOperations.recordCredential,
    },
    runtime,
    reachedAt(url, port) {
      publicUrl = url
      servedPort = port
    },
  }
}
