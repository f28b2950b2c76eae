import type { Logger } from 'pino'
import type { Metrics } from './metrics/metrics.ts'

/**
 * Keeps the process alive when a rejection is not handled. By default Node would end the process, and with it the streams of
 * all other clients. Unlike an uncaught exception, a rejection does not leave code that it passed through half executed, so
 * continuing is safe. It is still a fault of the gateway, which the log and the metric show.
 */
export function surviveStrayRejections({
  metrics,
  log,
}: {
  metrics: Pick<Metrics, 'strayRejection'>
  log: Logger
}): void {
  process.on('unhandledRejection', (error) => {
    metrics.strayRejection()
    log.error({ err: error }, 'a rejected promise was not handled')
  })
}
