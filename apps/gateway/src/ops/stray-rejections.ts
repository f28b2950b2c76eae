import type { Logger } from 'pino'
import type { Metrics } from './metrics.ts'

/**
 * Keeps the process alive where a promise was rejected and nothing handled it. Node would end the process, and with it every
 * other client's stream. A rejection has left no foreign code half done, as an exception may, so going on is safe; it is a
 * fault of the gateway all the same, which the log and the metric show.
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
