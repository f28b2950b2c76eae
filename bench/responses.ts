import { startChild } from './child.ts'
import { OTHER_CORE, pin } from './cores.ts'
import { startGateway } from './gateway.ts'
import { run, type Target } from './load.ts'
import { type Pair, settled } from './measure.ts'
import { cpuUs } from './process-usage.ts'
import { cpuRow, RULE, table } from './report.ts'
import { createScratchDatabase } from './scratch-database.ts'
import { CHUNKS_PER_STREAM, RESPONSES_CALL, STREAM_CALL } from './workload.ts'

/**
 * `pnpm bench:responses [--quick]` compares what a delta of `/api/v1/responses` costs with a chunk of
 * `/api/v1/chat/completions`, in the same process, alternately. It needs what `pnpm bench` needs.
 */
const ROUNDS = process.argv.includes('--quick') ? 3 : 9
const STREAMS = 192
const WARM_UP_STREAMS = 800
const CONCURRENCY = 32
/** The aim, which does not fail the bench. */
const RATIO_MAX = 1.25

if (!pin(process.pid, OTHER_CORE)) throw new Error('the bench needs Linux and taskset')
const undo: (() => Promise<unknown>)[] = []
try {
  const database = await createScratchDatabase()
  undo.push(database.drop)
  const mock = await startChild('mock-platform.ts', OTHER_CORE)
  undo.push(mock.stop)
  const gateway = await startGateway(database.url, mock.origin)
  undo.push(gateway.stop)
  for (const call of [STREAM_CALL, RESPONSES_CALL])
    await run(gateway, call, { calls: WARM_UP_STREAMS, concurrency: CONCURRENCY })
  await database.analyze()
  await database.pinSessions()

  const rounds: Pair<number>[] = []
  while (rounds.length < ROUNDS) {
    rounds.push({
      passThrough: await cpuUsPerChunk(gateway, STREAM_CALL),
      gateway: await cpuUsPerChunk(gateway, RESPONSES_CALL),
    })
  }
  console.log(
    `\n${table([
      ['', 'completions', 'Responses', 'compared (least–most)', 'aim', 'reached'],
      RULE,
      cpuRow('CPU a streamed delta, 32 streams', rounds, RATIO_MAX),
    ])}\n`,
  )
} finally {
  for (const step of undo.reverse()) await step()
}

async function cpuUsPerChunk(target: Target, call: typeof STREAM_CALL): Promise<number> {
  const beforeUs = cpuUs(target.pid)
  await run(target, call, { calls: STREAMS, concurrency: CONCURRENCY })
  await settled()
  return (cpuUs(target.pid) - beforeUs) / (STREAMS * CHUNKS_PER_STREAM)
}
