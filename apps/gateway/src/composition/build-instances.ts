import { tooOld } from '#core/database/migrations/min-build.ts'
import { createInstances, type Instances, type InstancesDeps } from '#core/ledger/instances.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import type { ReplyStore } from '#core/reply-log/store/reply-store.ts'
import { logChanges } from '#ops/log-changes.ts'
import type { Surroundings } from './surroundings.ts'

export interface EndedByInstances
  extends Pick<InstancesDeps, 'processes' | 'load' | 'configuration' | 'concerns' | 'port'> {
  readonly ledger: Pick<Ledger, 'settleDead'>
  readonly replyStore: Pick<ReplyStore, 'endDead'>
}

/** The row of this process among those of others, and who ends the calls of dead ones. */
export function buildInstances(
  { config, database, runtime, identity, build, disk, log }: Surroundings,
  { processes, load, configuration, concerns, port, ledger, replyStore }: EndedByInstances,
): Instances {
  const { lanes } = database
  const { leaseMs } = config.instance
  return createInstances({
    // Also in a process without any calls, so that its readiness says whether the database takes writes.
    sql: disk.writability.watched(lanes.heartbeat, 'heartbeat'),
    readSql: lanes.probes,
    upkeepSql: lanes.upkeep,
    runtime,
    identity,
    processes,
    load,
    configuration,
    concerns,
    port,
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
}

/** Ends what a previous process of an embedded database has left. The database has one owner, so those calls have ended with it. */
export async function endPredecessors(
  { database, identity }: Surroundings,
  {
    ledger,
    replyStore,
  }: {
    readonly ledger: Pick<Ledger, 'settlePredecessors'>
    readonly replyStore: Pick<ReplyStore, 'endPredecessors'>
  },
): Promise<void> {
  if (database.kind !== 'embedded') return
  await untilNone(() => replyStore.endPredecessors(identity.id))
  await ledger.settlePredecessors()
}

/** Repeats work that processes a bounded number of rows until none is left. */
async function untilNone(work: () => Promise<number>): Promise<void> {
  while ((await work()) > 0);
}
