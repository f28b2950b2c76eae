import { setTimeout as pause } from 'node:timers/promises'
import { query } from '../../test/support/query.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { Stage } from '../stage.ts'
import { type ChatAnswer, Clients } from './clients.ts'
import { entryOf, startEmulators } from './emulators.ts'
import { counted, type Figures, ms } from './figures.ts'

const TURN_MS = 500
/** What a wait may last longer on a busy machine. */
const LATE_MS = 50
const SLOTS = 20
const GREEDY = 500
const SECONDS = 30
const QUICK_SECONDS = 6

/** In the first case Y waits in the queue with X, in the second X leaves slots free, and the queue is full of its calls. */
const CASES = {
  'all-slots': {
    max: SLOTS,
    perKey: SLOTS,
    queue: GREEDY,
    waitMs: 60_000,
    says: 'X may hold all slots',
  },
  'half-the-slots': {
    max: SLOTS,
    perKey: SLOTS / 2,
    queue: 100,
    waitMs: 60_000,
    says: 'X may hold half the slots, and fills the queue',
  },
}

/** One key with 500 calls at a time beside another with one a second. */
export async function measureFairness(stage: Stage, figures: Figures): Promise<void> {
  stage.atEnd(leaveServerCore())
  const { agents: emulators } = await startEmulators(stage)
  const database = await stage.database()
  const agents = Object.fromEntries(
    Object.entries(CASES).map(([id, { says: _, ...concurrency }]) => [
      id,
      { ...entryOf('openai', emulators.openai), concurrency },
    ]),
  )
  const gateway = await stage.gateway(database.url, emulators.openai.baseUrl, { settings: { agents } })
  const clients = new Clients(gateway)
  stage.atEnd(() => clients.close())
  const { key } = await gateway.createUser('modest')
  const seconds = stage.isQuick ? QUICK_SECONDS : SECONDS
  for (const [agent, { says, perKey, max }] of Object.entries(CASES)) {
    const { greedy, modest } = await measure(clients, { agent, key, seconds })
    const part = `fairness, ${says}`
    const [{ waited } = { waited: null }] = await query<{ waited: number | null }>(
      database.url,
      `SELECT max(queued_ms)::int AS waited FROM calls WHERE agent = $1 AND key_id <>
        (SELECT key_id FROM calls WHERE agent = $1 GROUP BY key_id ORDER BY count(*) DESC LIMIT 1)`,
      [agent],
    )
    const slowest = Math.max(...modest.map(({ ms }) => ms))
    figures.add(part, `answers to X: ${counted(greedy.map(wordOf))}`)
    const refused = modest.filter(({ status }) => status !== 200)
    figures.add(part, `answers to Y: ${counted(modest.map(wordOf))}`, {
      text: 'no 503',
      isHeld: refused.length === 0 && modest.length > 0,
    })
    // Where X holds all slots, the ledger has a wait.
    const isMeasured = waited !== null || perKey < max
    figures.add(
      part,
      `Y waited at most ${waited ?? 0} ms for a slot, and was answered after ${ms(slowest)} at most`,
      {
        text: `a slot's turn of ${TURN_MS} ms`,
        isHeld: isMeasured && (waited ?? 0) <= TURN_MS + LATE_MS,
      },
    )
  }
}

interface Answers {
  readonly greedy: readonly ChatAnswer[]
  readonly modest: readonly ChatAnswer[]
}

async function measure(
  clients: Clients,
  { agent, key, seconds }: { agent: string; key: string; seconds: number },
): Promise<Answers> {
  const end = new AbortController()
  const chat = { agent, query: `sandbox:slow-first=${TURN_MS} Hello` }
  const greedy: ChatAnswer[] = []
  const worker = async () => {
    while (!end.signal.aborted) {
      const answer = await clients.ask({ ...chat, signal: end.signal })
      if (end.signal.aborted) return
      greedy.push(answer)
      if (answer.status !== 200) await pause(answer.retryAfterMs ?? 1_000)
    }
  }
  const workers = Array.from({ length: GREEDY }, worker)
  // Until the queue is full.
  await pause(TURN_MS * 2)
  const modest: Promise<ChatAnswer>[] = []
  for (let second = 0; second < seconds; second += 1) {
    modest.push(clients.ask({ ...chat, key }))
    await pause(1_000)
  }
  const answers = await Promise.all(modest)
  end.abort()
  await Promise.all(workers)
  return { greedy, modest: answers }
}

function wordOf({ status, reason }: ChatAnswer): string {
  return `${status} ${reason ?? ''}`.trim()
}
