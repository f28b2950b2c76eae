import type { Logger } from 'pino'
import type { Conversations } from '#core/calls/conversation/conversations.ts'
import type { Instances } from '#core/ledger/instances.ts'
import type { UsageMaintenance } from '#core/reports/usage.ts'
import type { UploadSweep } from '#core/uploads/upload-sweep.ts'
import type { Metrics } from './metrics.ts'

/** Background work: deletes what is past its retention and verifies that counters, rollups and ledger agree. */
export interface Maintenance {
  start(): void
  stop(): void
}

const EVERY_MS = 600_000
/** Comparing the storage with the records lists every file, so it happens only every six hours. */
const ORPHANS_EVERY_ROUNDS = 36

export function createMaintenance({
  usage,
  conversations,
  instances,
  uploads,
  metrics,
  log,
}: {
  usage: Pick<UsageMaintenance, 'verify' | 'prune' | 'pruneNames'>
  conversations: Pick<Conversations, 'sweep'>
  instances: Pick<Instances, 'sweep'>
  uploads: UploadSweep
  metrics: Pick<Metrics, 'usageDrift'>
  log: Logger
}): Maintenance {
  let timer: NodeJS.Timeout | undefined
  let rounds = 0

  /** If one part fails, the others still run: a check that takes too long must not prevent the deletion of old rows. */
  async function round(): Promise<void> {
    const deletions = [usage.prune, usage.pruneNames, conversations.sweep, instances.sweep, uploads.expired]
    const parts = [...deletions.map((deleteSome) => () => untilNone(deleteSome)), verify]
    rounds += 1
    for (const part of rounds % ORPHANS_EVERY_ROUNDS === 0 ? [...parts, sweepOrphans] : parts) {
      await part().catch((error: unknown) => log.warn({ err: error }, 'the maintenance failed'))
    }
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
    metrics.usageDrift(drifts.length)
    for (const drift of drifts.slice(0, 10)) log.error({ drift }, 'usage does not add up')
  }

  function schedule(): void {
    const again = () => {
      if (timer !== undefined) schedule()
    }
    timer = setTimeout(() => {
      round().then(again, again)
    }, EVERY_MS).unref()
  }

  return {
    start() {
      if (timer === undefined) schedule()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
