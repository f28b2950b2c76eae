import { createEventLoopYield } from '#core/base/async/event-loop-yield.ts'
import type { CallInstance } from '#core/reports/call-instances.ts'
import type { Report } from '#core/reports/reports.ts'
import type { Call } from '#generated/prisma/client.ts'
import type { Cell } from '#http/response/csv.ts'
import { success } from '#http/response/schemas.ts'
import { callRecord, groupRecord, reportRecord } from '#records/usage-record.ts'
import { CallSchema } from './usage-schemas.ts'

/**
 * The JSON of a report, group by group. A large report has 10 MB; to serialise it in one go would block the event loop,
 * and with it every running call.
 */
export async function* reportPieces(report: Report): AsyncGenerator<string> {
  const { groups } = report
  const yieldToEventLoop = createEventLoopYield()
  const [before, after] = JSON.stringify(success(reportRecord({ ...report, groups: [] }))).split(
    '"groups":[]',
  )
  yield `${before}"groups":[`
  for (const [index, one] of groups.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(groupRecord(one))}`
    await yieldToEventLoop()
  }
  yield `]${after}`
}

export const CALL_FIELDS = Object.keys(CallSchema.properties)

export async function* callRows(
  calls: AsyncIterable<Call>,
  findInstances: (ids: readonly string[]) => Promise<readonly CallInstance[]>,
): AsyncGenerator<Cell[]> {
  /** A process serves many calls. */
  const known = new Map<string, CallInstance | undefined>()
  for await (const call of calls) {
    const { instance } = call
    if (!known.has(instance)) known.set(instance, (await findInstances([instance]))[0])
    yield Object.values(callRecord(call, known.get(instance)))
  }
}
