import { Pool } from 'undici'
import { printTable } from '../figures/print-table.ts'
import { median } from '../figures/quantile.ts'
import { run, type Target } from '../load/load.ts'
import { JSON_CALL } from '../load/workload.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { Stage } from '../stage.ts'

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

/**
 * How much clients whose GraphQL documents are refused slow the chats of another tenant, compared with as many clients of
 * `/healthz` in the same run.
 */
export async function bench(stage: Stage): Promise<void> {
  stage.atEnd(leaveServerCore())
  const { database, gateway } = await stage.servers()
  await run(gateway, JSON_CALL, { calls: WARM_UP_CHATS, concurrency: 1 })
  await database.pinSessions()

  const alone = await p50OfChats(gateway, undefined)
  const times = new Map<string, number[]>()
  for (let round = 0; round < (stage.isQuick ? 2 : 5); round += 1) {
    for (const [name, disturbance] of Object.entries(DISTURBANCES)) {
      const p50 = await p50OfChats(gateway, disturbance)
      times.set(name, [...(times.get(name) ?? []), p50])
    }
  }
  const health = times.get('/healthz') ?? []
  const rows = [...times].map(([name, p50s]) => {
    const ratio = median(p50s.map((p50, round) => p50 / (health[round] ?? p50)))
    const aim = p50s === health ? [] : [`≤ × ${RATIO_MAX}`, ratio <= RATIO_MAX ? 'yes' : 'no']
    return [`${CLIENTS} clients: ${name}`, `${median(p50s).toFixed(2)} ms`, `× ${ratio.toFixed(2)}`, ...aim]
  })
  printTable('p50 of another tenant’s chats, one at a time | time | compared | aim | reached', [
    ['nobody else', `${alone.toFixed(2)} ms`],
    ...rows,
  ])
}

/** The median time of a chat while the clients send as fast as they are answered. */
async function p50OfChats(target: Target, disturbance: Disturbance | undefined): Promise<number> {
  const ends = AbortSignal.timeout(ROUND_MS_MAX)
  const stop = new AbortController()
  const timesMs: number[] = []
  const chat = async () => {
    while (timesMs.length < CHATS && !ends.aborted) {
      timesMs.push(...(await run(target, JSON_CALL, { calls: 10, concurrency: 1 })))
    }
    stop.abort()
  }
  await Promise.all([chat(), disturbance && disturb(target.origin, disturbance, stop.signal)])
  return median(timesMs)
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
