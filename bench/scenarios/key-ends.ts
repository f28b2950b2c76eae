import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { Agent, type Dispatcher } from 'undici'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import { createKeyWatch } from '../../apps/gateway/src/core/keys/key-watch.ts'
import { systemRuntime } from '../../apps/gateway/src/core/runtime.ts'
import { printTable } from '../figures/print-table.ts'
import { median } from '../figures/quantile.ts'
import { PACED_CALL } from '../load/workload.ts'
import type { GatewayTarget } from '../servers/gateway.ts'
import type { Stage } from '../stage.ts'

const STREAMS = 1_000
const STREAMS_QUICK = 100
const KEYS_IN_USE = [1, 500, 501, 10_000]
const LOOKING_MS = 2_000
const ENDED_WITHIN_MS = 10_000
const OPENING_AT_ONCE = 64

/**
 * How long the streams of an owner go on who is suspended, with one key and with a key for each stream, and what a look at the
 * keys in use costs while nothing changes.
 */
export async function bench(stage: Stage): Promise<void> {
  const streams = stage.isQuick ? STREAMS_QUICK : STREAMS
  const { database, gateway } = await stage.servers()
  const session = new pg.Client({ connectionString: database.url })
  await session.connect()
  stage.atEnd(() => session.end())

  const keys: string[] = []
  while (keys.length < streams) keys.push(await gateway.createKey())
  const owner = "(SELECT id FROM users WHERE username = 'bench')"
  await session.query(`UPDATE api_keys SET owner_id = ${owner}`)

  const ends: string[][] = []
  for (const count of [1, streams]) {
    ends.push(await measureEnds(gateway, session, { keys: keys.slice(0, count), streams }))
  }
  printTable('keys | ended: p50 | last | with the reason', ends)

  const looks: string[][] = []
  for (const count of KEYS_IN_USE) looks.push(await measureLook(database.url, count))
  printTable('keys in use | CPU of the process a look | time of its statement: p50', looks)
}

async function measureEnds(
  gateway: GatewayTarget,
  session: pg.Client,
  { keys, streams }: { keys: readonly string[]; streams: number },
): Promise<string[]> {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const ends: Promise<Ended>[] = []
  let next = 0
  const open = async () => {
    while (next < streams) {
      const key = keys[next % keys.length] ?? ''
      next += 1
      const { ended } = await openStream(agent, gateway, key)
      ends.push(ended)
    }
  }
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, open))
  const setStatus = (status: string) =>
    session.query("UPDATE users SET status = $1, updated_at = now() WHERE username = 'bench'", [status])
  const startedMs = performance.now()
  await setStatus('suspended')
  const giveUp = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('streams go on')), ENDED_WITHIN_MS).unref()
  })
  const ended = await Promise.race([Promise.all(ends), giveUp])
  await setStatus('active')
  await agent.destroy()
  const ms = ended.map(({ atMs }) => atMs - startedMs)
  const told = ended.filter(({ text }) => text.includes('"code":"owner_suspended"')).length
  return [
    String(keys.length),
    `${median(ms).toFixed(0)} ms`,
    `${Math.max(...ms).toFixed(0)} ms`,
    `${told} of ${streams}`,
  ]
}

/** Looks far more often than a gateway does, so that a look can be told from what else the process does. */
async function measureLook(url: string, count: number): Promise<string[]> {
  const database = await openDatabase({ kind: 'server', url })
  const times: number[] = []
  const watch = createKeyWatch({
    sql: {
      async query(text, values) {
        const startedMs = performance.now()
        const rows = await database.sql.query<never>(text, values)
        times.push(performance.now() - startedMs)
        return rows
      },
    },
    runtime: systemRuntime,
    onAnswer: (_, error) => console.error(error),
    everyMs: 10,
  })
  const ends = Array.from({ length: count }, () =>
    watch.watch({ keyId: randomUUID(), ownerId: randomUUID() }, () => undefined),
  )
  // The first looks compile the statement and ask for all keys.
  await pause(LOOKING_MS / 4)
  times.length = 0
  const before = process.cpuUsage()
  await pause(LOOKING_MS)
  const { user, system } = process.cpuUsage(before)
  const looks = times.length
  for (const end of ends) end()
  // The last look ends, and finds nothing to look for.
  await pause(LOOKING_MS / 4)
  await database.close()
  return [String(count), `${((user + system) / looks).toFixed(0)} µs`, `${median(times).toFixed(1)} ms`]
}

interface Ended {
  readonly atMs: number
  /** What came last. */
  readonly text: string
}

/** Resolves when the stream has begun. */
async function openStream(
  agent: Agent,
  { origin, headers }: GatewayTarget,
  key: string,
): Promise<{ readonly ended: Promise<Ended> }> {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<Ended>()
  ended.promise.catch(begun.reject)
  let text = ''
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {},
    onResponseStart(_controller, status) {
      if (status !== 200) ended.reject(new Error(`a stream was answered ${status}`))
    },
    onResponseData(_controller, chunk) {
      text = chunk.toString()
      begun.resolve()
    },
    onResponseEnd: () => ended.resolve({ atMs: performance.now(), text }),
    onResponseError: (_controller, error) => ended.reject(error),
  }
  const { path, body } = PACED_CALL
  const authorization = `Bearer ${key}`
  agent.dispatch({ origin, method: 'POST', path, headers: { ...headers, authorization }, body }, handler)
  await begun.promise
  return { ended: ended.promise }
}
