import type { Registry } from 'prom-client'
import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { askPrimary, send } from './ask-primary.ts'
import { isMessage, type PrimaryMessage } from './messages.ts'

/** How often a worker reports without a request: what it counted since its last report is lost if it is killed. */
const REPORT_MS = 1_000
/** How long the last report may delay the end of the process. */
const LAST_REPORT_WITHIN_MS = 1_000

/** A worker's side of the metrics that its primary adds up. */
export function reportToPrimary(registry: Registry) {
  let isReporting = false

  async function report(id?: number): Promise<void> {
    await send({ kind: 'report', id, report: await registry.getMetricsAsJSON() })
  }

  /** Skips a report while the previous one is waiting, so that a primary that is stuck does not fill this process's memory. */
  function reportNow(): void {
    if (isReporting) return
    isReporting = true
    markRejectionHandled(
      report().finally(() => {
        isReporting = false
      }),
    )
  }

  process.on('message', (message: unknown) => {
    if (isMessage<PrimaryMessage, 'report?'>('report?', message)) markRejectionHandled(report(message.id))
  })
  reportNow()
  const reporting = setInterval(reportNow, REPORT_MS).unref()
  return {
    /** The metrics of all workers. A scrape reaches one of them, which requests them from the primary. */
    text: requestText,
    /** Reports what was counted last, before the process ends. */
    async close(): Promise<void> {
      clearInterval(reporting)
      await withDeadline(LAST_REPORT_WITHIN_MS, report())
    },
  }
}

async function requestText(): Promise<string> {
  try {
    return (await askPrimary('metrics', (id) => ({ kind: 'metrics?', id }))).text
  } catch (cause) {
    // This worker's metrics alone would look as if all counters had gone back.
    throw new Problem('unavailable', { limit: 'primary', cause })
  }
}
