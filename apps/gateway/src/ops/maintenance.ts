import type { Logger } from 'pino'
import type { ExpiringKeySearch } from '#core/accounts/keys/expiring-keys.ts'
import type { KeySweep } from '#core/accounts/keys/key-sweep.ts'
import type { UnusedKeys } from '#core/accounts/keys/unused-keys.ts'
import type { ChainSweep } from '#core/audit/chain-sweep.ts'
import type { Conversations } from '#core/calls/conversation/conversations.ts'
import type { Pauses } from '#core/calls/pauses/pauses.ts'
import type { Instances } from '#core/ledger/instances.ts'
import type { MaintenanceLease, MaintenancePeriods } from '#core/ledger/maintenance-lease.ts'
import type { RefusalSweep } from '#core/refusals/refusal-sweep.ts'
import type { ReplyStore } from '#core/reply-log/store/reply-store.ts'
import type { UsageUpkeep } from '#core/reports/usage.ts'
import type { UploadSweep } from '#core/uploads/upload-sweep.ts'
import type { Metrics } from './metrics/metrics.ts'

/**
 * Background work: deletes what is past its retention and verifies that counters, rollups and ledger agree. One process of
 * all that share a database does it at a time. What each process must do itself is elsewhere: its heartbeat, the calls of dead
 * processes, its clock, its disk and the keys of its running calls.
 */
export type Maintenance = ReturnType<typeof createMaintenance>

export const MAINTENANCE_PERIODS: MaintenancePeriods = {
  everyMs: 600_000,
  /** Comparing the storage with the records lists every file, so it happens only every six hours. */
  orphansEveryMs: 21_600_000,
}
/** How often parts are done that read many rows, or log what is compared later. */
const HOUR_MS = 3_600_000
/** How often a process asks whether the maintenance is due: how long that of a dead process waits at most for another. */
const ASK_EVERY_MS = 60_000

export function createMaintenance({
  usage,
  conversations,
  pauses,
  replies,
  instances,
  refusals,
  keys,
  uploads,
  audit,
  lease,
  metrics,
  log,
}: {
  usage: Pick<UsageUpkeep, 'verify' | 'prune' | 'pruneNames'>
  conversations: Pick<Conversations, 'sweep'>
  readonly pauses: Pick<Pauses, 'sweep'>
  replies: Pick<ReplyStore, 'sweep'>
  instances: Pick<Instances, 'sweep'>
  refusals: RefusalSweep
  keys: KeySweep & UnusedKeys & ExpiringKeySearch
  uploads: UploadSweep
  audit: ChainSweep
  lease: MaintenanceLease
  metrics: Pick<Metrics, 'usageDrift' | 'keysExpiring'>
  log: Logger
}) {
  let timer: NodeJS.Timeout | undefined

  async function claim(): Promise<void> {
    const { isClaimed, orphansAreDue, check } = await lease.claim()
    if (check !== undefined) metrics.usageDrift(check)
    if (isClaimed) await round(orphansAreDue)
  }

  /** If one part fails, the others still run: a check that takes too long must not prevent the deletion of old rows. */
  async function round(orphans: boolean): Promise<void> {
    const deletions = [
      usage.prune,
      usage.pruneNames,
      conversations.sweep,
      pauses.sweep,
      replies.sweep,
      instances.sweep,
      refusals.sweep,
      // Before the files, whose deletion it begins.
      keys.sweep,
      uploads.expired,
      audit.addOmitted,
      audit.cut,
    ]
    const parts = [...deletions.map((deleteSome) => () => untilNone(deleteSome)), verify, ...hourly]
    for (const part of orphans ? [...parts, sweepOrphans] : parts) {
      if (timer === undefined || !(await lease.isHeld())) return
      await part().catch(logFailure)
    }
    await lease.end({ orphans })
  }

  function logFailure(error: unknown): void {
    log.warn({ err: error }, 'the maintenance failed')
  }

  /** Each statement deletes a bounded number of rows, so that no backlog is too large to be deleted. */
  async function untilNone(deleteSome: () => Promise<number>): Promise<void> {
    while ((await deleteSome()) > 0 && timer !== undefined);
  }

  async function sweepOrphans(): Promise<void> {
    const { suspicious } = await uploads.orphans()
    if (suspicious > 0) {
      log.error(
        { records: suspicious },
        'the storage lacks the files of many uploads: it may be the wrong one',
      )
    }
  }

  async function verify(): Promise<void> {
    const drifts = await usage.verify('recent')
    const checkedAt = await lease.recordCheck(drifts.length)
    if (checkedAt !== undefined) metrics.usageDrift({ count: drifts.length, checkedAt })
    for (const drift of drifts.slice(0, 10)) log.error({ drift }, 'usage does not add up')
  }

  const hourly = [logHead, () => untilNone(keys.revokeUnused), tellExpiring].map(atMostHourly)

  /** A part that has failed is tried again in the next round. */
  function atMostHourly(part: () => Promise<void>): () => Promise<void> {
    let doneMs = Number.NEGATIVE_INFINITY
    return async () => {
      if (performance.now() - doneMs < HOUR_MS) return
      await part()
      doneMs = performance.now()
    }
  }

  async function tellExpiring(): Promise<void> {
    const expiring = await keys.expiring()
    metrics.keysExpiring(expiring)
    const told = expiring.filter(({ count }) => count > 0)
    if (told.length === 0 || !(await keys.mayTell())) return
    for (const { days, count, first } of told)
      log.warn(
        { days, count, keys: first },
        `API keys expire within ${days === 1 ? 'a day' : `${days} days`}`,
      )
  }

  /** A copy of the audit log can be compared with its head later. */
  async function logHead(): Promise<void> {
    const head = await audit.head()
    if (head !== undefined) log.info({ head }, 'the head of the audit log')
  }

  function schedule(): void {
    const again = () => {
      if (timer !== undefined) schedule()
    }
    timer = setTimeout(() => {
      claim().catch(logFailure).then(again, again)
    }, ASK_EVERY_MS).unref()
  }

  return {
    start(): void {
      if (timer === undefined) schedule()
    },
    stop(): void {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
