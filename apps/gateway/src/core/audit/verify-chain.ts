import type { Sql } from '#core/database/database.ts'
import { FIRST_HASH, hashOf, type StoredEvent } from './event-hash.ts'

/** A point of the chain that was noted outside of the database, such as in the log. */
export interface NotedHead {
  readonly n: bigint
  /** In hex. */
  readonly hash: string
}

export interface ChainState {
  readonly events: number
  /** The numbers of the first and the last event; null if there is none. */
  readonly first: string | null
  readonly last: string | null
  /** The end of the chain, as `--head` takes it; null if there is no event. */
  readonly head: string | null
  /** What does not hold; empty for a chain that was not changed. */
  readonly faults: readonly ChainFault[]
  /** Whether the chain was compared with a noted head. If not, a cut or rewritten end cannot be seen. */
  readonly isComparedWithHead: boolean
}

export interface ChainFault {
  /** The number of the event, or of the first one that is missing. */
  readonly n: string
  readonly fault: string
}

const EVENTS_AT_ONCE = 1_000
/** After more faults the rest of the chain says nothing new. */
const FAULTS_MAX = 100

/**
 * Computes the chain anew from its events, up to those of this moment. It finds events that were edited, deleted, inserted or
 * reordered, and with a noted head also an end that was cut off or rewritten.
 */
export async function verifyChain(sql: Sql, noted?: NotedHead): Promise<ChainState> {
  for (;;) {
    const before = await readEnd(sql)
    const state = await verifyUpTo(sql, before, noted)
    // Events may have been cut off meanwhile, as the retention asks for; then the rest is verified.
    if (state.faults.length === 0 || (await readEnd(sql)).cutN === before.cutN) return state
  }
}

async function verifyUpTo(sql: Sql, end: ChainEnd, noted: NotedHead | undefined): Promise<ChainState> {
  const faults: ChainFault[] = []
  const report = (n: bigint, fault: string) => {
    if (faults.length < FAULTS_MAX) faults.push({ n: String(n), fault })
  }
  // What was cut off is known by its last hash alone, which an event signs.
  const { head, cutN, cutHash } = end
  let previous = cutHash
  let expected = cutN + 1n
  let isSigned = cutN === 0n
  let isNotedFound = noted === undefined
  let events = 0
  let first: string | null = null

  for (;;) {
    const rows = await sql.query<EventRow>(EVENTS, [String(expected - 1n), String(end.last), EVENTS_AT_ONCE])
    for (const row of rows) {
      const event = eventOf(row)
      first ??= row.n
      events += 1
      if (event.n !== expected) report(expected, `the events up to ${event.n - 1n} are missing`)
      if (event.format !== 1)
        report(event.n, `has the format ${event.format}, which this version does not know`)
      else if (event.n === expected && !hashOf(previous, event).equals(row.hash))
        report(event.n, 'does not have the hash of its content after the event before')
      if (event.operation === 'audit.cut' && event.targetId === String(cutN))
        isSigned ||= event.after?.includes(cutHash.toString('hex')) === true
      if (noted?.n === event.n) {
        isNotedFound = true
        if (row.hash.toString('hex') !== noted.hash)
          report(event.n, 'does not have the noted hash: the end was rewritten')
      }
      previous = row.hash
      expected = event.n + 1n
    }
    if (rows.length < EVENTS_AT_ONCE) break
  }
  const last = expected - 1n
  if (!isSigned) report(cutN, 'the events up to this one were deleted, and no event signs that')
  if (head !== undefined && (head.n !== last || !head.hash.equals(previous)))
    report(last + 1n, `the head of the chain is the event ${head.n}: its end was changed`)
  if (head === undefined && events > 0) report(last, 'the head of the chain is missing')
  if (noted !== undefined && !isNotedFound && noted.n > cutN)
    report(noted.n, 'the noted head is missing: the end was cut off')
  return {
    events,
    first,
    last: events === 0 ? null : String(last),
    head: events === 0 ? null : `${last}:${previous.toString('hex')}`,
    faults,
    isComparedWithHead: noted !== undefined,
  }
}

interface ChainEnd {
  readonly head: { readonly n: bigint; readonly hash: Buffer } | undefined
  /** The greatest number of an event. */
  readonly last: bigint
  readonly cutN: bigint
  readonly cutHash: Buffer
}

/** Head and events as of one moment. */
async function readEnd(sql: Sql): Promise<ChainEnd> {
  const [row] = await sql.query<EndRow>(END)
  return {
    head: row?.n && row.hash ? { n: BigInt(row.n), hash: row.hash } : undefined,
    last: BigInt(row?.last ?? 0),
    cutN: BigInt(row?.cut_n ?? 0),
    cutHash: row?.cut_hash ?? FIRST_HASH,
  }
}

const END = `
SELECT h.n::text, h.hash, h.cut_n::text, h.cut_hash, (SELECT max(n)::text FROM audit_events) AS last
FROM (SELECT) one LEFT JOIN audit_head h ON h.id = 1`

/** Undefined for a text that is not a number, a colon and a hash in hex. */
export function notedHead(text: string): NotedHead | undefined {
  const [, n, hash] = /^(\d{1,18}):([0-9a-f]{64})$/i.exec(text.trim()) ?? []
  return n === undefined || hash === undefined ? undefined : { n: BigInt(n), hash: hash.toLowerCase() }
}

interface EndRow {
  readonly n: string | null
  readonly hash: Buffer | null
  readonly cut_n: string | null
  readonly cut_hash: Buffer | null
  readonly last: string | null
}

interface EventRow {
  readonly n: string
  readonly format: number
  readonly at_micros: string
  readonly operation: string
  readonly result: string
  readonly actor: string
  readonly user_id: string | null
  readonly key_id: string | null
  readonly token_id: string | null
  readonly name: string | null
  readonly address: string | null
  readonly request_id: string | null
  readonly target: string | null
  readonly target_id: string | null
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
  readonly count: number
  readonly hash: Buffer
}

const EVENTS = `
SELECT n::text, format, (extract(epoch FROM at) * 1000000)::bigint::text AS at_micros, operation, result, actor, user_id, key_id,
  token_id, name, address, request_id, target, target_id, before, after, reason, count, hash
FROM audit_events WHERE n > $1::bigint AND n <= $2::bigint ORDER BY audit_events.n LIMIT $3`

function eventOf(row: EventRow): StoredEvent {
  return {
    format: row.format,
    n: BigInt(row.n),
    atMicros: BigInt(row.at_micros),
    operation: row.operation,
    result: row.result,
    actor: row.actor,
    userId: row.user_id,
    keyId: row.key_id,
    tokenId: row.token_id,
    name: row.name,
    address: row.address,
    requestId: row.request_id,
    target: row.target,
    targetId: row.target_id,
    before: row.before,
    after: row.after,
    reason: row.reason,
    count: row.count,
  }
}
