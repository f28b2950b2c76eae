import { createEventLoopYield } from '#core/base/async/event-loop-yield.ts'
import type { Report } from '#core/reports/reports.ts'
import { success } from '#http/response/schemas.ts'
import { groupRecord, reportRecord } from '#resources/usage-report.ts'

/**
 * The JSON of a report, and of the one with which it is compared, group by group. A large report has 10 MB; to serialise it in one
 * go would block the event loop, and with it every running call.
 */
export async function* reportPieces(report: Report, compared?: Report): AsyncGenerator<string> {
  const [head = '', tail = ''] = JSON.stringify(success(null)).split('null')
  yield head
  yield* openObject(report)
  if (compared !== undefined) {
    yield ',"previous":'
    yield* openObject(compared)
    yield '}'
  }
  yield `}${tail}`
}

/** The object of a report without its end, so that more can follow. */
async function* openObject(report: Report): AsyncGenerator<string> {
  const yieldToEventLoop = createEventLoopYield()
  // The groups are the last property.
  yield JSON.stringify(reportRecord({ ...report, groups: [] })).replace(/\]\}$/, '')
  for (const [index, one] of report.groups.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(groupRecord(one))}`
    await yieldToEventLoop()
  }
  yield ']'
}
