import type { Logger } from 'pino'
import type { Conversations } from '#core/chat/conversations.ts'
import type { Instances } from '#core/usage/instances.ts'
import type { UsageMaintenance } from '#core/usage/usage.ts'
import type { Metrics } from './metrics.ts'

/** Work that no request waits for: deleting what is past its retention, and checking that the counts agree. */
export interface Maintenance {
  start(): void
  stop(): void
}

const EVERY_MS = 600_000

export function createMaintenance({
  usage,
  conversations,
  instances,
  metrics,
  log,
}: {
  usage: UsageMaintenance
  conversations: Pick<Conversations, 'sweep'>
  instances: Pick<Instances, 'sweep'>
  metrics: Pick<Metrics, 'usageDrift'>
  log: Logger
}): Maintenance {
  let timer: NodeJS.Timeout | undefined

  /** Each part stands alone: a check that takes too long must not keep old rows alive. */
  async function round(): Promise<void> {
    const deletions = [usage.prune, usage.pruneNames, conversations.sweep, instances.sweep]
    for (const part of [...deletions.map((deleteSome) => () => untilNone(deleteSome)), verify]) {
      await part().catch((error: unknown) => log.warn({ err: error }, 'the maintenance failed'))
    }
  }

  /** A bounded number of rows a statement, so that no backlog is too large to be deleted at all. */
  async function untilNone(deleteSome: () => Promise<number>): Promise<void> {
    while ((await deleteSome()) > 0 && timer !== undefined);
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
