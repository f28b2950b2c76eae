import type { Logger } from 'pino'
import { withDeadline } from '#core/base/async/deadline.ts'
import { PeriodicRead } from '#core/base/async/periodic-read.ts'
import type { Runtime } from '#core/base/runtime.ts'

const ASKED_EVERY_MS = 10_000
/** A local disk has no limit of its own, and may hang. */
const ANSWER_WITHIN_MS = 5_000

/** Logs when the storage of files stops answering and when it answers again, also while there are no uploads. */
export function createStorageWatch({
  ping,
  runtime,
  log,
}: {
  /** Rejects with an error whose message names the storage. */
  ping(): Promise<void>
  runtime: Pick<Runtime, 'elapsedMs'>
  log: Logger
}) {
  let isRunning = false
  const reads = new PeriodicRead({
    everyMs: ASKED_EVERY_MS,
    runtime,
    isNeeded: () => isRunning,
    read: () => withDeadline(ANSWER_WITHIN_MS, ping()),
    onAnswer(answers, error) {
      if (!isRunning) return
      if (answers) log.info('the storage of files answers again')
      else
        log.warn(
          { err: error },
          `uploads are refused until the storage of files answers: ${messageOf(error)}`,
        )
    },
  })
  return {
    /** Asks at once, and then every ten seconds. */
    start(): void {
      isRunning = true
      reads.start()
    },
    stop(): void {
      isRunning = false
      reads.stop()
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
