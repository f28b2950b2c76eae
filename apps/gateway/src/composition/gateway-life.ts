import type { Redis } from 'ioredis'
import type { RefusedOperations } from '#core/audit/refused-operations.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Conversations } from '#core/calls/conversation/conversations.ts'
import type { Pauses } from '#core/calls/pauses/pauses.ts'
import type { Instances } from '#core/ledger/instances.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import { createMaintenanceLease } from '#core/ledger/maintenance-lease.ts'
import type { RefusalRecorder } from '#core/refusals/refusal-recorder.ts'
import { createRefusalSweep } from '#core/refusals/refusal-sweep.ts'
import type { ProcessTasks } from '#core/services/services.ts'
import type { FileStorage } from '#core/uploads/storage/storage.ts'
import { createDependencyStates } from '#ops/dependencies.ts'
import type { Health } from '#ops/health.ts'
import { createMaintenance, MAINTENANCE_PERIODS } from '#ops/maintenance.ts'
import { createStorageWatch } from '#ops/storage-watch.ts'
import type { AccountParts } from './build-accounts.ts'
import type { AgentParts } from './build-agents.ts'
import { endPredecessors } from './build-instances.ts'
import type { ReplyLogParts } from './build-reply-log.ts'
import type { Surroundings } from './surroundings.ts'

/** What begins and ends in a process, and in which order. */
export type GatewayLife = ReturnType<typeof createGatewayLife>

export interface LivingParts
  extends AgentParts,
    Pick<AccountParts, 'tokens' | 'secret'>,
    Omit<ReplyLogParts, 'repliesObserver'> {
  readonly redis: Redis | undefined
  readonly ledger: Ledger
  readonly instances: Instances
  readonly refusals: RefusalRecorder
  readonly refusedOperations: RefusedOperations
  readonly conversations: Conversations
  readonly pauses: Pauses
  readonly storage: FileStorage
  readonly processTasks: ProcessTasks
}

/** A collector that does not answer delays the end of the process no longer than this. */
const TRACES_WITHIN_MS = 2_000

export function createGatewayLife(surroundings: Surroundings, parts: LivingParts) {
  const { config, database, runtime, identity, clock, metrics, tracing, disk, build, log } = surroundings
  const { ledger, instances, replyStore, conversations, pauses, storage, processTasks, secret, redis } = parts
  const { lanes } = database
  const maintenance = createMaintenance({
    ...processTasks,
    conversations,
    pauses,
    replies: replyStore,
    instances,
    refusals: createRefusalSweep({ sql: lanes.upkeep }),
    lease: createMaintenanceLease(lanes.upkeep, identity.id, MAINTENANCE_PERIODS),
    metrics,
    log,
  })

  const state = {
    isPrepared: false,
    isStopping: false,
    isDraining: false,
    /** Settles when the start is complete, or has failed. */
    completing: markRejectionHandled(Promise.resolve() as Promise<unknown>),
  }
  const pingStorage = async () => {
    // The start has not prepared it if it is still waiting for the database, which is no fault of the storage.
    if (!state.isPrepared) await storage.prepare()
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
    start: state,
  })
  const health: Readonly<typeof state> & Health = Object.assign(state, { dependencies })
  async function drain(timeoutMs: number): Promise<void> {
    state.isStopping = true
    state.isDraining = true
    // These have no end of their own. Their clients subscribe again, at a process that goes on.
    processTasks.usage.endUpdates()
    processTasks.replies.drain()
    await Promise.all([processTasks.chat.drain(timeoutMs), processTasks.uploads.drain(timeoutMs)])
  }

  return {
    health,
    /** Reads from the database what commands need: its time, and the secret of the installation. */
    async prepareCommands(): Promise<void> {
      await clock.sync()
      await secret.prepare()
    },
    /** Does what must be done once before the process joins the others. May be repeated until the database is reachable. */
    async prepare(): Promise<void> {
      await disk.start()
      await clock.sync()
      clock.start()
      await parts.tokens.prepare()
      await secret.prepare()
      await storage.prepare()
      await endPredecessors(surroundings, { ledger, replyStore })
      // The conversations of the emulators were lost with the previous process.
      if (config.sandbox) {
        const agents = [...parts.catalog.current().keys()]
        await Promise.all([conversations.forget(agents), pauses.forget(agents)])
      }
    },
    /**
     * Joins the processes that share the database and completes the start: calls are served from then on. Comes after
     * everything that can fail, since a process that has joined and then ends without a word counts as lost.
     */
    async open(): Promise<void> {
      if (!disk.space.isLow) await processTasks.configuration.record()
      await instances.join()
      maintenance.start()
      storageWatch.start()
      metrics.eventLoop.start()
      processTasks.configuration.watch()
      state.isPrepared = true
    },
    /** Lets requests that arrive before the start is complete wait until then, or until `completed` has settled. */
    holdRequestsFor(completed: Promise<unknown>): void {
      state.completing = completed
    },
    /** Reports from now on that the process is stopping. It serves calls as before. */
    stop(): void {
      state.isStopping = true
    },
    /** Refuses new calls, lets running ones end within the time, and ends the rest. */
    drain,
    /**
     * Ends what still runs, writes the end of every call and closes the connections to platforms. The database stays open.
     *
     * @returns how many ends of calls could not be written
     */
    async close(): Promise<number> {
      await drain(0)
      const [endsNotWritten] = await Promise.all([
        ledger.close(5_000),
        processTasks.replies.close(5_000),
        parts.refusals.close(5_000),
      ])
      await withDeadline(5_000, parts.refusedOperations.settled()).catch(() => undefined)
      maintenance.stop()
      processTasks.configuration.stop()
      clock.stop()
      disk.stop()
      storageWatch.stop()
      metrics.eventLoop.stop()
      await instances
        .leave()
        .catch((error: unknown) => log.warn({ err: error }, 'the end of the instance could not be written'))
      await parts.wakeUps.close()
      redis?.disconnect()
      storage.close()
      await Promise.all([parts.upstream.close(), processTasks.keptFiles.close()])
      await tracing?.close(TRACES_WITHIN_MS)
      return endsNotWritten
    },
  }
}
