import { costOf } from '../figures/cost.ts'
import { inTurns } from '../figures/pair.ts'
import { printTable } from '../figures/print-table.ts'
import { COMPARED, cpuRow } from '../figures/rows.ts'
import { run } from '../load/load.ts'
import { CHUNKS_PER_STREAM, RESPONSES_CALL, STREAM_CALL } from '../load/workload.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { Stage } from '../stage.ts'

const STREAMS = 192
const WARM_UP_STREAMS = 800
const CONCURRENCY = 32
/** The aim, which does not fail the bench. */
const RATIO_MAX = 1.25

/**
 * What a delta of `/api/v1/responses` costs, compared with a chunk of `/api/v1/chat/completions` in the same process,
 * alternately.
 */
export async function bench(stage: Stage): Promise<void> {
  stage.atEnd(leaveServerCore())
  const { database, gateway } = await stage.servers()
  for (const call of [STREAM_CALL, RESPONSES_CALL])
    await run(gateway, call, { calls: WARM_UP_STREAMS, concurrency: CONCURRENCY })
  await database.analyze()
  await database.pinSessions()

  const calls = { base: STREAM_CALL, tested: RESPONSES_CALL }
  const rounds = await inTurns(stage.isQuick ? 3 : 9, calls, async (call) => {
    const cost = await costOf(gateway, call, { calls: STREAMS, concurrency: CONCURRENCY })
    return cost.cpuUs / (STREAMS * CHUNKS_PER_STREAM)
  })
  printTable(` | completions | Responses | ${COMPARED}`, [
    cpuRow('CPU a streamed delta, 32 streams', rounds, RATIO_MAX),
  ])
}
