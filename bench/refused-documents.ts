import { Pool } from 'undici'
import { startChild } from './child.ts'
import { OTHER_CORE, pin } from './cores.ts'
import { startGateway } from './gateway.ts'
import { run, type Target } from './load.ts'
import { quantile } from './quantile.ts'
import { table } from './report.ts'
import { createScratchDatabase } from './scratch-database.ts'
import { JSON_CALL } from './workload.ts'

/**
 * `node bench/refused-documents.ts [--quick]` measures how much clients whose GraphQL documents are refused slow the chats of another tenant,
 * compared with as many clients of `/healthz` in the same run. It needs what `pnpm bench` needs.
 */
const ROUNDS = process.argv.includes('--quick') ? 2 : 5
const CLIENTS = 20
const CHATS = 150
const WARM_UP_CHATS = 300
/** A chat that waits behind everything else must still end; the bench is bounded in time as well. */
const ROUND_MS_MAX = 5_000
/** The aim, which does not fail the bench. */
const RATIO_MAX = 1.7

interface Disturbance {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

const HEALTH: Disturbance = { method: 'GET', path: '/healthz' }
const asDocument = (query: string): Disturbance => ({
  method: 'POST',
  path: '/graphql',
  body: JSON.stringify({ query }),
})
const REPEATED = asDocument(`{ ${'me { id username role } '.repeat(240)} }`)
const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  '/healthz': HEALTH,
  'documents of 1,200 tokens': REPEATED,
  'documents without a credential': asDocument('{ me { id } }'),
}

if (!pin(process.pid, OTHER_CORE)) throw new Error('the bench needs Linux and taskset')
const undo: (() => Promise<unknown>)[] = []
try {
  const database = await createScratchDatabase()
  undo.push(database.drop)
  const mock = await startChild('mock-platform.ts', OTHER_CORE)
  undo.push(mock.stop)
  const closing = await startGateway(database.url, mock.origin)
  undo.push(closing.stop)
  await run(closing, JSON_CALL, { calls: WARM_UP_CHATS, concurrency: 1 })
  await database.pinSessions()

  const alone = await p50sOf(closing, undefined)
  const times = new Map<string, number[]>()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, disturbance] of Object.entries(DISTURBANCES)) {
      const seen = await p50sOf(closing, disturbance)
      times.set(name, [...(times.get(name) ?? []), seen])
    }
  }
  const health = times.get('/healthz') ?? []
  const rows = [...times].map(([name, p50s]) => {
    const ratio = quantile(
      p50s.map((p50, round) => p50 / (health[round] ?? p50)),
      0.5,
    )
    return [
      `${CLIENTS} clients: ${name}`,
      `${quantile(p50s, 0.5).toFixed(2)} ms`,
      `× ${ratio.toFixed(2)}`,
      p50s === health ? '' : `× ${RATIO_MAX}`,
      p50s === health ? '' : ratio <= RATIO_MAX ? 'yes' : 'no',
    ]
  })
  const header = ['p50 of another tenant’s chats, one at a time', 'time', 'compared', 'aim', 'reached']
  console.log(
    `\n${table([header, ['---', '---:', '---:', '---:', '---'], ['nobody else', `${alone.toFixed(2)} ms`, '', '', ''], ...rows])}\n`,
  )
} finally {
  for (const step of undo.reverse()) await step()
}

/** The median time of a chat while the clients send as fast as they are answered. */
async function p50sOf(target: Target, disturbance: Disturbance | undefined): Promise<number> {
  const ends = AbortSignal.timeout(ROUND_MS_MAX)
  const stop = new AbortController()
  const load = disturbance === undefined ? undefined : disturb(target.origin, disturbance, stop.signal)
  const timesMs: number[] = []
  while (timesMs.length < CHATS && !ends.aborted) {
    timesMs.push(...(await run(target, JSON_CALL, { calls: 10, concurrency: 1 })))
  }
  stop.abort()
  await load
  return quantile(timesMs, 0.5)
}

async function disturb(
  origin: string,
  { method, path, body }: Disturbance,
  ends: AbortSignal,
): Promise<void> {
  const pool = new Pool(origin, { connections: CLIENTS })
  const client = async () => {
    while (!ends.aborted) {
      const headers = { 'content-type': 'application/json' }
      const reply = await pool.request({ method, path, headers, body: body ?? null })
      await reply.body.dump()
    }
  }
  try {
    await Promise.all(Array.from({ length: CLIENTS }, client))
  } finally {
    await pool.destroy()
  }
}
