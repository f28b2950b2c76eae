import type { Logger } from 'pino'

/** Called when something stops or resumes working, with the error if there is one. */
type ChangeObserver = (works: boolean, error?: unknown) => void

/** Logs when something stops working, and when it works again. */
export function logChanges(log: Pick<Logger, 'info' | 'warn'>, works: string, fails: string): ChangeObserver {
  return (isWorking, error) => {
    if (isWorking) log.info(works)
    else log.warn({ err: error }, fails)
  }
}
