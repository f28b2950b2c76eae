import { validate } from 'uuid'
import { createEventLoopYield } from '#core/base/async/event-loop-yield.ts'
import { ERRORS } from '#core/base/errors/errors.ts'
import { isObject, parseJson } from '#core/base/values/json.ts'
import type { Sql } from '#core/database/database.ts'
import type { CallFace, CallOutcome } from '#core/ledger/call-kinds.ts'
import { claimHash, type KeptCall, type KeptCallRef, type KeptEnd, type KeptProblem } from '../kept-call.ts'
import { int4Array, uuidArray } from './binary-arrays.ts'
import { inPortions } from './given-calls.ts'
import type { PartCodec } from './part-codec.ts'
import type { StoredPart } from './reply-writer.ts'

/** The request of a reader: the events of a call after that number. */
export interface ReadRequest {
  readonly callId: string
  readonly after: number
}

/** What is stored of a call. */
export interface ReadResult {
  /**
   * In their order and without a gap, at most some 256 KiB; none if nothing more is stored yet. The first one has the event after
   * the requested number, and may begin before it.
   */
  readonly parts: readonly StoredPart[]
  /** It is gone as well if what comes next is missing, or was encrypted with a key that is not known any more. */
  readonly call: KeptCall
}

/** What is stored of calls and their replies. */
export type ReplyReader = ReturnType<typeof createReplyReader>

/** The texts that are returned for one request, and for all requests together while there are many. */
const CHARACTERS_MAX = 256 * 1024
const CHARACTERS_MIN = 32 * 1024
const CHARACTERS_IN_ALL = 32 * 1024 * 1024
/** How many times smaller the stored bytes of events usually are. More of them may be read than there is room for as text. */
const COMPRESSION = 4
/** Numbers of events are int4 in the database, and one is added to this. */
const EVENT_MAX = 2 ** 31 - 2

export function createReplyReader(sql: Sql, codec: PartCodec) {
  /** What is read for one request of the rows that were found for it. */
  async function resultOf(
    rows: readonly ReadRow[],
    { after }: ReadRequest,
    charactersMax: number,
  ): Promise<ReadResult | undefined> {
    const [row] = rows
    if (row === undefined) return undefined
    const call = keptCallOf(row)
    const gone = { parts: [], call: { ...call, isGone: true } }
    const parts: StoredPart[] = []
    let next = after + 1
    let characters = 0
    for (const { first, count, bytes } of rows) {
      if (first === null || characters >= charactersMax) break
      // The first part may begin before the requested events.
      if (parts.length === 0 ? first > next : first !== next) break
      const text = await codec.open(bytes)
      if (text === undefined) return gone
      parts.push({ callId: call.callId, first, count, text })
      characters += text.length
      next = first + count
    }
    // An end is stored after everything before it, so what is missing now will never come.
    const isIncomplete = parts.length === 0 && call.end !== undefined && after < call.end.events
    return isIncomplete ? gone : { parts, call }
  }

  async function readSome(requests: readonly ReadRequest[]): Promise<(ReadResult | undefined)[]> {
    const share = Math.floor(CHARACTERS_IN_ALL / requests.length)
    const charactersMax = Math.min(CHARACTERS_MAX, Math.max(CHARACTERS_MIN, share))
    const rows = await sql.query<ReadRow>(READ, [
      uuidArray(requests.map(({ callId }) => callId)),
      int4Array(requests.map(({ after }) => Math.min(after, EVENT_MAX))),
      Math.floor(charactersMax / COMPRESSION),
    ])
    const rowsOf = Map.groupBy(rows, ({ n }) => n - 1)
    const pause = createEventLoopYield()
    const results: (ReadResult | undefined)[] = []
    for (const [index, request] of requests.entries()) {
      results.push(await resultOf(rowsOf.get(index) ?? [], request, charactersMax))
      await pause()
    }
    return results
  }

  return {
    /**
     * The kept call of this API key, and of this end user if one is given; undefined if there is none, or only that of another key or
     * end user.
     */
    async find(keyId: string, ref: KeptCallRef, endUser?: string): Promise<KeptCall | undefined> {
      if (ref.kind === 'call' && !validate(ref.callId)) return undefined
      const of = endUser ?? null
      const [row] =
        ref.kind === 'call'
          ? await sql.query<CallRow>(FIND_BY_ID, [keyId, ref.callId, of])
          : await sql.query<CallRow>(FIND_BY_KEY, [
              keyId,
              Buffer.from(claimHash(ref.hash, endUser), 'hex'),
              of,
            ])
      return row === undefined ? undefined : keptCallOf(row)
    },
    /** Reads for up to a thousand readers in one statement. The results are in the order of the requests, undefined without a call. */
    read: (requests: readonly ReadRequest[]): Promise<readonly (ReadResult | undefined)[]> =>
      inPortions(requests, readSome),
    /** The JSON reply of a call that has ended; undefined if it has none or is gone. */
    async reply(callId: string): Promise<string | undefined> {
      const [row] = await sql.query<{ readonly reply: Buffer | null }>(REPLY, [callId])
      return row?.reply ? codec.open(row.reply) : undefined
    },
  }
}

interface CallRow {
  readonly call_id: string
  readonly key_id: string
  readonly owner_id: string
  readonly face: string
  readonly conversation: string
  readonly stream: boolean
  readonly is_stop_requested: boolean
  readonly is_gone: boolean
  readonly is_ended: boolean
  readonly outcome: string | null
  readonly events: number | null
  readonly status: number | null
  readonly problem: string | null
}

/** A part of a call, or the call alone if there is no part to read. */
type ReadRow = CallRow & { readonly n: number } & (
    | { readonly first: number; readonly count: number; readonly bytes: Buffer }
    | { readonly first: null; readonly count: null; readonly bytes: null }
  )

function keptCallOf(row: CallRow): KeptCall {
  return {
    callId: row.call_id,
    keyId: row.key_id,
    ownerId: row.owner_id,
    face: row.face as CallFace,
    conversation: row.conversation,
    stream: row.stream,
    isStopRequested: row.is_stop_requested,
    isGone: row.is_gone,
    ...(row.is_ended && { end: endOf(row) }),
  }
}

function endOf({ outcome, events, status, problem }: CallRow): KeptEnd {
  return {
    outcome: outcome as CallOutcome,
    events: events ?? 0,
    ...(status !== null && { status }),
    ...(problem !== null && { problem: problemOf(problem) }),
  }
}

/** A newer version of the gateway may have written a reason that this one does not know. */
function problemOf(written: string): KeptProblem {
  const problem = parseJson(written)
  const isKnown =
    isObject(problem) && typeof problem.reason === 'string' && Object.hasOwn(ERRORS, problem.reason)
  return isKnown ? (problem as unknown as KeptProblem) : { reason: 'internal_error' }
}

const CALL_COLUMNS = `k.call_id, k.key_id, k.owner_id, k.face, k.conversation, k.stream,
  k.stop_requested_at IS NOT NULL AS is_stop_requested, k.gone_at IS NOT NULL AS is_gone, k.ended_at IS NOT NULL AS is_ended,
  k.outcome, k.events, k.status, k.problem`

/** `$3` the end user, which the ledger knows, or null for any. */
const IS_OF_END_USER =
  '($3::text IS NULL OR EXISTS (SELECT FROM calls c WHERE c.id = k.call_id AND c.end_user = $3))'

/** `$1` key, `$2` call. */
const FIND_BY_ID = `
SELECT ${CALL_COLUMNS} FROM kept_calls k
WHERE k.key_id = $1::uuid AND k.call_id = $2::uuid AND ${IS_OF_END_USER}`

/** `$1` key, `$2` the hash under which the `Idempotency-Key` is claimed. */
const FIND_BY_KEY = `
SELECT ${CALL_COLUMNS}
FROM idempotency_keys i JOIN kept_calls k USING (call_id)
WHERE i.key_id = $1::uuid AND i.hash = $2 AND k.key_id = $1::uuid AND ${IS_OF_END_USER}`

/** `$1` call. */
const REPLY =
  'SELECT reply FROM kept_calls WHERE call_id = $1::uuid AND ended_at IS NOT NULL AND gone_at IS NULL'

/** More parts than these are read by further requests. */
const PARTS_AT_ONCE = 256

/**
 * `$1` calls, `$2` the events after which to read, `$3` how many bytes after which no further part is read.
 *
 * - The part that has the first event is found by one look into the index, since a reader of a running call asks several times
 *   a second.
 * - The limits make the planner look up each call and each part by its index, whatever the statistics say.
 */
const READ = `
SELECT r.n, ${CALL_COLUMNS}, p.first, p.count, p.bytes
FROM unnest($1::uuid[], $2::int4[]) WITH ORDINALITY AS r(call_id, after, n)
CROSS JOIN LATERAL (SELECT * FROM kept_calls WHERE call_id = r.call_id LIMIT 1) AS k
LEFT JOIN LATERAL (
  SELECT first, count, bytes
  FROM (
    SELECT first, count, bytes, sum(octet_length(bytes)) OVER (ORDER BY first) - octet_length(bytes) AS bytes_before
    FROM (
      SELECT first, count, bytes FROM reply_parts
      WHERE call_id = r.call_id AND first <= coalesce(k.events, ${EVENT_MAX})
        AND first >= coalesce((
          SELECT s.first FROM reply_parts s
          WHERE s.call_id = r.call_id AND s.first <= r.after + 1 ORDER BY s.first DESC LIMIT 1), 1)
      ORDER BY first LIMIT ${PARTS_AT_ONCE}) AS stored
    WHERE first + count > r.after + 1) AS wanted
  WHERE bytes_before < $3::int4) AS p ON k.gone_at IS NULL
ORDER BY r.n, p.first`
