import pg from 'pg'
import { request } from 'undici'
import { printTable } from '../figures/print-table.ts'
import { median, quantile } from '../figures/quantile.ts'
import { run, runFor } from '../load/load.ts'
import { type StartedLoad, startPacedLoad } from '../load/start-paced-load.ts'
import { JSON_CALL } from '../load/workload.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { GatewayTarget } from '../servers/gateway.ts'
import type { Stage } from '../stage.ts'

const PER_SECOND = 1_000
/** The aim, which does not fail the bench. */
const P99_ADDED_MS_MAX = 10
const SINGLES_MAX = 20

/**
 * How long the chats of one key take while another key is refused a thousand times a second for its rate limit, alternately with
 * runs without that, and what is on record of it in the end. The same number of requests that are answered 405, which nobody
 * records, shows how much of it is the requests themselves: the clients share the machine with the gateway.
 */
export async function bench(stage: Stage): Promise<void> {
  stage.atEnd(leaveServerCore())
  const rounds = stage.isQuick ? 2 : 5
  const lastsMs = stage.isQuick ? 5_000 : 20_000
  const { database, gateway } = await stage.servers()
  const headers = { ...gateway.headers, authorization: `Bearer ${await gateway.createKey(1)}` }
  const load = { origin: gateway.origin, body: JSON_CALL.body, headers, perSecond: PER_SECOND, leaves: false }
  const flood = startPacedLoad(stage, { ...load, path: JSON_CALL.path })
  const unrecorded = startPacedLoad(stage, { ...load, path: '/healthz' })
  await run(gateway, JSON_CALL, { calls: 300, concurrency: 1 })
  await flood(2_000)
  await unrecorded(2_000)
  await database.pinSessions()
  await database.analyze()
  const before = await counted(gateway)

  const alone: number[][] = []
  const beside: number[][] = []
  const besideOthers: number[][] = []
  let refused = 0
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await runFor(gateway, JSON_CALL, lastsMs))
    const { timesMs, refusals } = await besideFlood(gateway, flood, lastsMs)
    beside.push(timesMs)
    refused += refusals
    besideOthers.push((await besideFlood(gateway, unrecorded, lastsMs)).timesMs)
    await database.pinSessions()
  }

  const row = (name: string, runs: readonly number[][]) => [
    name,
    String(median(runs.map(({ length }) => length))),
    `${median(runs.map((timesMs) => median(timesMs))).toFixed(2)} ms`,
    `${median(runs.map(p99)).toFixed(2)} ms`,
  ]
  const added = addedTo(alone, beside)
  printTable('chats one at a time, beside | chats | p50 | p99 | p99 compared | aim | reached', [
    row('nothing', alone),
    [...row(`${PER_SECOND} answers 405 a second`, besideOthers), addedTo(alone, besideOthers).text],
    [
      ...row(`${PER_SECOND} refusals a second`, beside),
      added.text,
      `≤ + ${P99_ADDED_MS_MAX} ms`,
      added.ms <= P99_ADDED_MS_MAX ? 'yes' : 'no',
    ],
  ])
  await printRecord(database.url, { refused, dropped: (await counted(gateway)).dropped - before.dropped })
}

const p99 = (timesMs: readonly number[]) => quantile(timesMs, 0.99)

/** The median of what each run adds to the p99 of the one before. */
function addedTo(alone: readonly number[][], beside: readonly number[][]) {
  const ms = median(beside.map((timesMs, at) => p99(timesMs) - p99(alone[at] ?? [])))
  return { ms, text: `${ms < 0 ? '−' : '+'} ${Math.abs(ms).toFixed(2)} ms` }
}

async function besideFlood(gateway: GatewayTarget, flood: StartedLoad, lastsMs: number) {
  const [answers, timesMs] = await Promise.all([flood(lastsMs), runFor(gateway, JSON_CALL, lastsMs)])
  return { timesMs, refusals: answers.filter(({ status }) => status === 429).length }
}

async function counted({ origin }: GatewayTarget): Promise<{ dropped: number }> {
  const { body } = await request(`${origin}/metrics`)
  const text = await body.text()
  const lines = text.split('\n').filter((line) => line.startsWith('trunkline_refusals_dropped_total{'))
  return { dropped: lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0) }
}

/** What the tables have, once the last statement has been sent. */
async function printRecord(
  url: string,
  { refused, dropped }: { readonly refused: number; readonly dropped: number },
): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const read = async () => (await client.query(RECORD)).rows[0]
    let found = await read()
    const deadlineMs = performance.now() + 15_000
    while (performance.now() < deadlineMs && Number(found.counted) < refused) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      found = await read()
    }
    printTable('on record | figure', [
      ['refusals that were measured', String(refused)],
      ['refusals that were counted, with those of warming up', String(found.counted)],
      ['rows of counts', String(found.counters)],
      [`single refusals (at most ${SINGLES_MAX} an hour)`, String(found.singles)],
      ['dropped', String(dropped)],
      ['bytes of the tables', String(found.bytes)],
    ])
  } finally {
    await client.end()
  }
}

const RECORD = `
SELECT (SELECT coalesce(sum(count), 0) FROM refusal_counts) AS counted, (SELECT count(*) FROM refusal_counts) AS counters,
  (SELECT count(*) FROM refusals WHERE reason = 'rate_limited') AS singles,
  pg_total_relation_size('refusal_counts') + pg_total_relation_size('refusals') + pg_total_relation_size('refusal_allowances') AS bytes`
