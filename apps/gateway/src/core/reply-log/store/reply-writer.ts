import { createBatcher } from '#core/base/async/batcher.ts'
import { concernsDatabase, isStatementTimeout } from '#core/base/errors/connection-error.ts'
import type { Database } from '#core/database/database.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import type { KeptProblem } from '../kept-call.ts'
import { byteaArray, int4Array, uuidArray } from './binary-arrays.ts'
import type { PartCodec } from './part-codec.ts'

/** Consecutive events of one reply, as they are sent: each ends with an empty line. */
export interface StoredPart {
  readonly callId: string
  /** The number of the first event; the first one of a reply is 1. */
  readonly first: number
  readonly count: number
  readonly text: string
}

/** The end of a reply, to be written by the process that ran the call. */
export interface EndOfReply {
  readonly callId: string
  readonly outcome: CallOutcome
  /** The number of the last event; 0 if the log has none, as that of a JSON call. */
  readonly events: number
  readonly status: number
  readonly problem?: KeptProblem | undefined
  /** The JSON reply of the face as text; absent for a call that failed. */
  readonly reply?: string | undefined
  /** Whether the log was lost, so that nothing of it can be read. */
  readonly isLost: boolean
  /** Whether the `Idempotency-Key` is free again. Requests that have waited for this call still read its end. */
  readonly freesKey: boolean
}

/** The log of running calls up to their end, and the deletion of one by its owner. */
export type ReplyWriter = ReturnType<typeof createReplyWriter>

/** What one statement writes at most, unless a single call has more. */
const PARTS_AT_ONCE = 2_000
const CHARACTERS_AT_ONCE = 8 * 1024 * 1024
const ENDS_AT_ONCE = 64

interface PendingEnd {
  readonly end: EndOfReply
  readonly parts: readonly StoredPart[]
}

/**
 * An embedded engine writes what was committed asynchronously only with the next commit that waits, since nothing else runs in it:
 * a kill of the process would take everything since then.
 */
const COMMIT_OF_APPENDS = { server: 'off', embedded: 'on' } as const

export function createReplyWriter({ sql, kind }: Pick<Database, 'sql' | 'kind'>, codec: PartCodec) {
  /** Returns those that count. Of several ends of one call all but the first are written by a later statement. */
  async function endSome(batch: readonly PendingEnd[]): Promise<PendingEnd[]> {
    const ofCall = Map.groupBy(batch, ({ end }) => end.callId)
    const firsts = [...ofCall.values()].flatMap(([first]) => first ?? [])
    const rows = await sql.query<CallRow>(END, await endValues(firsts, codec))
    const ids = new Set(rows.map(({ call_id }) => call_id))
    const counting = firsts.filter(({ end }) => ids.has(end.callId))
    const others = [...ofCall.values()].flatMap(([, ...later]) => later)
    return others.length === 0 ? counting : [...counting, ...(await endSome(others))]
  }

  const endAll = createBatcher<PendingEnd, boolean>(
    async (batch) => {
      const counting = new Set<PendingEnd>()
      for (const some of portions(batch, { countMax: ENDS_AT_ONCE, charactersOf: charactersOfEnd }))
        for (const each of await endSome(some)) counting.add(each)
      return batch.map((each) => counting.has(each))
    },
    {
      sizeMax: ENDS_AT_ONCE,
      isShared: concernsDatabase,
      isTooSlow: isStatementTimeout,
    },
  )

  return {
    /**
     * Appends parts of any number of calls in one statement, or in as few as their size allows, which commits asynchronously. Parts
     * of calls that have ended are left out. What failed may be repeated, part by part as it was: a longer part with the same
     * first event would be taken for one that is stored already.
     *
     * @returns the ids of those calls, whose owner must stop them: another process has taken it for dead
     */
    async append(parts: readonly StoredPart[]): Promise<readonly string[]> {
      const ended = new Set<string>()
      for (const some of portions(parts, { countMax: PARTS_AT_ONCE, charactersOf })) {
        const bytes = await codec.seal(some.map(({ text }) => text))
        const rows = await sql.query<CallRow>(APPEND, [...partValues(some, bytes), COMMIT_OF_APPENDS[kind]])
        for (const { call_id } of rows) ended.add(call_id)
      }
      return [...ended]
    },
    /**
     * Ends the reply, together with its last parts, unless it has ended already. Durable when it resolves. The log is lost if an
     * event is missing then, so every {@link ReplyWriter.append} of the call must have resolved or failed before, and the parts of
     * those that failed belong to the last ones. It may be repeated after a failure.
     *
     * @returns whether the end that counts is this one, or one that says the same
     */
    end: (end: EndOfReply, parts: readonly StoredPart[]): Promise<boolean> => endAll({ end, parts }),
    /** Marks the log of a running call as lost, and deletes what is stored of it. */
    async lose(callId: string): Promise<void> {
      await sql.query(LOSE, [callId])
    },
    /** Deletes what is stored of an ended reply; its `Idempotency-Key` stays in use. Does nothing for a running call. */
    async remove(callId: string): Promise<void> {
      await sql.query(REMOVE, [callId])
    },
  }
}

interface CallRow {
  readonly call_id: string
}

const charactersOf = ({ text }: StoredPart) => text.length

const charactersOfEnd = ({ end, parts }: PendingEnd) =>
  parts.reduce((sum, part) => sum + part.text.length, end.reply?.length ?? 0)

/** Divides what is to be written into what one statement takes. */
function* portions<Item>(
  items: readonly Item[],
  { countMax, charactersOf }: { countMax: number; charactersOf: (item: Item) => number },
): Generator<readonly Item[]> {
  let portion: Item[] = []
  let characters = 0
  for (const item of items) {
    const more = charactersOf(item)
    if (portion.length === countMax || (portion.length > 0 && characters + more > CHARACTERS_AT_ONCE)) {
      yield portion
      portion = []
      characters = 0
    }
    portion.push(item)
    characters += more
  }
  if (portion.length > 0) yield portion
}

function partValues(parts: readonly StoredPart[], bytes: readonly Buffer[]): Buffer[] {
  return [
    uuidArray(parts.map(({ callId }) => callId)),
    int4Array(parts.map(({ first }) => first)),
    int4Array(parts.map(({ count }) => count)),
    byteaArray(bytes),
  ]
}

async function endValues(batch: readonly PendingEnd[], codec: PartCodec): Promise<unknown[]> {
  const ends = batch.map(({ end }) => end)
  const parts = batch.flatMap((each) => (each.end.isLost ? [] : each.parts))
  const replies = ends.filter(({ reply, isLost }) => reply !== undefined && !isLost)
  const sealed = await codec.seal([
    ...parts.map(({ text }) => text),
    ...replies.map(({ reply }) => reply ?? ''),
  ])
  const replyOf = new Map(replies.map((end, index) => [end, sealed[parts.length + index]]))
  return [
    uuidArray(ends.map(({ callId }) => callId)),
    ends.map(({ outcome }) => outcome),
    int4Array(ends.map(({ events }) => events)),
    int4Array(ends.map(({ status }) => status)),
    ends.map(({ problem }) => (problem === undefined ? null : JSON.stringify(problem))),
    byteaArray(ends.map((end) => replyOf.get(end) ?? null)),
    ends.map(({ isLost }) => isLost),
    ends.map(({ freesKey }) => freesKey),
    ...partValues(parts, sealed.slice(0, parts.length)),
  ]
}

/**
 * `$1` to `$4`: the calls, first numbers, counts and bytes of parts, `$5`: whether the commit waits for the disk. Returns the calls
 * that have ended.
 *
 * - On a server the commit does not wait for the disk. The end of a call does, and writes what was committed before it as well; after a crash
 *   of the database server a log may lack its last moments, which {@link END} notices.
 * - The rows of calls are not locked, so a part may be stored although its call ends, or its log is lost, at the same moment. It
 *   is then beyond the last event or belongs to a log that is not read any more, and is deleted with the call. No part can outlive
 *   its call: only the sweep deletes calls, and this statement would have to last as long as their retention.
 * - The limit in the lateral join makes the planner look up each call by its index, whatever the statistics say.
 */
const APPEND = `
WITH quick AS MATERIALIZED (
  SELECT set_config('synchronous_commit', $5, true) AS mode
), known AS MATERIALIZED (
  SELECT k.call_id, k.ended_at IS NOT NULL AS is_ended, k.gone_at IS NOT NULL AS is_gone
  FROM (SELECT DISTINCT id FROM unnest($1::uuid[]) AS id) AS given
  CROSS JOIN LATERAL (SELECT * FROM kept_calls WHERE call_id = given.id LIMIT 1) AS k
), written AS (
  INSERT INTO reply_parts (call_id, first, count, bytes)
  SELECT p.call_id, p.first, p.count, p.bytes
  FROM unnest($1::uuid[], $2::int4[], $3::int4[], $4::bytea[]) AS p(call_id, first, count, bytes)
  JOIN known k USING (call_id)
  WHERE NOT k.is_ended AND NOT k.is_gone AND (SELECT count(mode) FROM quick) > 0
  ON CONFLICT DO NOTHING
)
SELECT DISTINCT call_id FROM unnest($1::uuid[]) AS given(call_id) LEFT JOIN known k USING (call_id)
WHERE k.is_ended IS NOT FALSE`

/**
 * `$1` to `$8`: the ends, `$9` to `$12`: their last parts. Returns the calls whose stored end is the given one: also where it was
 * stored before, so that it can be repeated after a lost answer.
 *
 * - A log that lacks an event is lost, whatever its owner thinks of it.
 * - Rows of calls are locked in the order of their ids, and then those of keys in the order of admissions.
 * - The planner takes `open` for one row, because it assumes that few columns are null, and looks up what belongs to it by
 *   indexes, whatever the statistics say.
 */
const END = `
WITH given AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::int4[], $4::int4[], $5::text[], $6::bytea[], $7::boolean[], $8::boolean[])
    AS g(call_id, outcome, events, status, problem, reply, is_lost, frees_key)
), known AS MATERIALIZED (
  SELECT k.*
  FROM (SELECT id FROM unnest($1::uuid[]) AS id ORDER BY id) AS ordered
  CROSS JOIN LATERAL (
    SELECT call_id, key_id, key_hash, ended_at, gone_at, outcome, events, status, problem
    FROM kept_calls WHERE call_id = ordered.id LIMIT 1
    FOR NO KEY UPDATE) AS k
), repeated AS MATERIALIZED (
  SELECT k.call_id FROM given g JOIN known k USING (call_id)
  WHERE k.ended_at IS NOT NULL AND k.outcome = g.outcome AND k.events = g.events AND k.status = g.status
    AND k.problem IS NOT DISTINCT FROM g.problem
), open AS MATERIALIZED (
  SELECT g.*, k.key_id, k.key_hash, g.is_lost OR k.gone_at IS NOT NULL AS is_gone
  FROM given g JOIN known k USING (call_id) WHERE k.ended_at IS NULL
), added AS MATERIALIZED (
  SELECT p.call_id, p.first, p.count, p.bytes
  FROM unnest($9::uuid[], $10::int4[], $11::int4[], $12::bytea[]) AS p(call_id, first, count, bytes)
  JOIN open o USING (call_id) WHERE NOT o.is_gone
), summed AS MATERIALIZED (
  SELECT o.call_id, o.outcome, o.events, o.status, o.problem, o.reply, s.bytes + coalesce(octet_length(o.reply), 0) AS bytes,
    o.is_gone OR s.counted <> o.events OR s.last <> o.events AS is_gone
  FROM open o CROSS JOIN LATERAL (
    SELECT coalesce(sum(count), 0) AS counted, coalesce(max(first + count - 1), 0) AS last,
      coalesce(sum(octet_length(bytes)), 0) AS bytes
    FROM (
      SELECT first, count, bytes FROM reply_parts p
      WHERE p.call_id = o.call_id AND p.first <> ALL (ARRAY(SELECT a.first FROM added a WHERE a.call_id = o.call_id))
      UNION ALL
      SELECT first, count, bytes FROM added a WHERE a.call_id = o.call_id) AS each_part) AS s
), written AS (
  INSERT INTO reply_parts (call_id, first, count, bytes)
  SELECT a.call_id, a.first, a.count, a.bytes FROM added a JOIN summed s USING (call_id) WHERE NOT s.is_gone
  ON CONFLICT (call_id, first) DO UPDATE SET count = excluded.count, bytes = excluded.bytes
), dropped AS (
  DELETE FROM reply_parts p USING summed s WHERE s.is_gone AND p.call_id = s.call_id
), freed AS MATERIALIZED (
  SELECT i.key_id, i.hash, i.call_id
  FROM (SELECT key_id, key_hash, call_id FROM open WHERE frees_key ORDER BY key_id, key_hash) AS o
  CROSS JOIN LATERAL (
    SELECT key_id, hash, call_id FROM idempotency_keys
    WHERE key_id = o.key_id AND hash = o.key_hash AND call_id = o.call_id LIMIT 1
    FOR UPDATE) AS i
), deleted AS (
  DELETE FROM idempotency_keys i USING freed f
  WHERE i.key_id = f.key_id AND i.hash = f.hash AND i.call_id = f.call_id
), ended AS (
  UPDATE kept_calls k
  SET ended_at = now(), outcome = s.outcome, events = s.events, status = s.status, problem = s.problem,
    reply = CASE WHEN NOT s.is_gone THEN s.reply END,
    bytes = CASE WHEN s.is_gone THEN 0 ELSE s.bytes END,
    gone_at = CASE WHEN s.is_gone THEN coalesce(k.gone_at, now()) END
  FROM summed s
  WHERE k.call_id = s.call_id
  RETURNING k.call_id
)
SELECT call_id FROM ended UNION ALL SELECT call_id FROM repeated`

/** `$1`: a call. A part that is being appended meanwhile is deleted by the end of the call. */
const LOSE = `
WITH lost AS (
  UPDATE kept_calls SET gone_at = coalesce(gone_at, now()) WHERE call_id = $1::uuid AND ended_at IS NULL
  RETURNING call_id
)
DELETE FROM reply_parts WHERE call_id IN (SELECT call_id FROM lost)`

/** `$1` call. */
const REMOVE = `
WITH removed AS (
  UPDATE kept_calls SET gone_at = coalesce(gone_at, now()), reply = NULL, bytes = 0
  WHERE call_id = $1::uuid AND ended_at IS NOT NULL
  RETURNING call_id
)
DELETE FROM reply_parts WHERE call_id IN (SELECT call_id FROM removed)`
