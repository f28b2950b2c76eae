import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { SecretKeys } from '../../apps/gateway/src/core/auth/stored-secrets.ts'
import type { Database } from '../../apps/gateway/src/core/database/database.ts'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import { createReplyStore } from '../../apps/gateway/src/core/replies/store/create-reply-store.ts'
import type { StoredPart } from '../../apps/gateway/src/core/replies/store/reply-store.ts'
import { printTable } from '../figures/print-table.ts'
import { cpuUs } from '../figures/process-usage.ts'
import { median } from '../figures/quantile.ts'
import type { ScratchDatabase } from '../servers/scratch-database.ts'
import type { Stage } from '../stage.ts'

const STREAMS = 1_000
const EVENTS_A_FLUSH = 5
const EVENT_BYTES = 200
const FLUSH_EVERY_MS = 250
const FLUSHES = 32
const FLUSHES_QUICK = 8

/** What the log of kept replies costs the process and its PostgreSQL session: 20 events of 200 bytes a second for each stream. */
export async function bench(stage: Stage): Promise<void> {
  const flushes = stage.isQuick ? FLUSHES_QUICK : FLUSHES
  const scratch = await stage.database()
  const database = await openDatabase({ kind: 'server', url: scratch.url, poolMax: 1 })
  stage.atEnd(() => database.close())
  await database.migrate()
  console.log(
    `PostgreSQL ${scratch.version}; ${STREAMS} streams, ${flushes} flushes of ${EVENTS_A_FLUSH} events.`,
  )
  const rows: string[][] = []
  for (const [name, secretKeys] of [
    ['without SECRET_KEY', {}],
    ['with SECRET_KEY', { secretKey: randomBytes(32).toString('hex') }],
  ] as const) {
    // The first flushes make plans, statistics and compiled code.
    await measure(database, scratch, secretKeys, FLUSHES_QUICK)
    rows.push([name, ...(await measure(database, scratch, secretKeys, flushes))])
  }
  printTable(
    'secret | process | PostgreSQL session | process a part | session a part | time of a flush: p50 | longest | stored a part',
    rows,
  )
}

async function measure(
  { sql }: Database,
  scratch: ScratchDatabase,
  secretKeys: SecretKeys,
  flushes: number,
): Promise<string[]> {
  await sql.query('TRUNCATE kept_calls, reply_parts')
  const calls = Array.from({ length: STREAMS }, () => randomUUIDv7())
  await sql.query(
    `INSERT INTO kept_calls (call_id, key_id, owner_id, key_hash, face, conversation, stream, instance)
     SELECT id, id, id, '', 'rest', '', true, id FROM unnest($1::uuid[]) AS id`,
    [calls],
  )
  await scratch.analyze()
  const [session] = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const pid = session?.pid ?? 0
  const bounds = { retentionHours: 24, bytesPerOwnerMax: 2 ** 40, bytesTotalMax: 2 ** 40 }
  const store = createReplyStore({ database: { kind: 'server', sql }, randomBytes, secretKeys, bounds })
  const texts = Array.from({ length: STREAMS }, textOfFlush)

  const timesMs: number[] = []
  const before = { own: process.cpuUsage(), sessionUs: cpuUs(pid), ms: performance.now() }
  for (let flush = 0; flush < flushes; flush += 1) {
    const startedMs = performance.now()
    const parts: StoredPart[] = calls.map((callId, index) => ({
      callId,
      first: flush * EVENTS_A_FLUSH + 1,
      count: EVENTS_A_FLUSH,
      text: texts[(index + flush) % STREAMS] ?? '',
    }))
    await store.append(parts)
    timesMs.push(performance.now() - startedMs)
    await pause(Math.max(0, FLUSH_EVERY_MS - (performance.now() - startedMs)))
  }
  const own = process.cpuUsage(before.own)
  const ownUs = own.user + own.system
  const sessionUs = cpuUs(pid) - before.sessionUs
  const elapsedUs = (performance.now() - before.ms) * 1_000
  const appended = flushes * STREAMS
  const [stored] = await sql.query<{ bytes: number }>(
    'SELECT avg(octet_length(bytes))::float8 AS bytes FROM reply_parts',
  )
  return [
    `${((100 * ownUs) / elapsedUs).toFixed(1)} %`,
    `${((100 * sessionUs) / elapsedUs).toFixed(1)} %`,
    `${(ownUs / appended).toFixed(1)} µs`,
    `${(sessionUs / appended).toFixed(1)} µs`,
    `${median(timesMs).toFixed(0)} ms`,
    `${Math.max(...timesMs).toFixed(0)} ms`,
    `${Math.round(stored?.bytes ?? 0)} bytes`,
  ]
}

const WORDS =
  'the gateway keeps what an agent has said so that a client may read it once more after a break'.split(' ')

/** Events as they are on the OpenAI-compatible face, with words that differ. */
function textOfFlush(): string {
  const word = () => WORDS[Math.floor(Math.random() * WORDS.length)]
  const id = randomUUIDv7()
  return Array.from({ length: EVENTS_A_FLUSH }, (_, n) => {
    const event = `data: {"id":"chatcmpl-${id}","object":"chat.completion.chunk","created":1764075792,"model":"model","choices":[{"index":0,"delta":{"content":"`
    const end = `"},"finish_reason":null}]}\nid: ${n}\n\n`
    let text = ''
    while (event.length + text.length + end.length < EVENT_BYTES) text += `${word()} `
    return event + text + end
  }).join('')
}
