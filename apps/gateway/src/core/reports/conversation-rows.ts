import { refuseField } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import { FAILED_OUTCOMES } from '#core/ledger/call-kinds.ts'
import { GROWTH } from '#core/ledger/histogram.ts'
import { CALL_OF_CONVERSATION } from '#core/ledger/listed-conversations-sql.ts'
import type { ReportRange } from './range/report-range.ts'
import type { ReportQuery } from './report-query.ts'
import { isOneOf, type ReportRow } from './report-rows.ts'
import type { Scope } from './scope.ts'

/** A report has the conversations that were used last. */
export const CONVERSATIONS_MAX = 100
/** So few that even an embedded database reads them in a fraction of a second. */
const CALLS_MAX = 20_000

/**
 * The sums of each conversation with an agent in each bucket. They come from the ledger, since rollups know no conversations: those
 * used last are looked up in their list, and the calls of each through an index, so that no report reads the whole ledger.
 *
 * @throws Problem `invalid_request` if they have too many calls
 */
export async function readConversationRows(
  sql: Sql,
  scope: Scope,
  { from, to, starts }: ReportRange,
  query: ReportQuery,
): Promise<ReportRow[]> {
  const values: unknown[] = [JSON.stringify(starts), from, to]
  const given = (value: unknown) => `$${values.push(value)}`
  const listed = [
    "l.last_activity_at >= $2::timestamptz - interval '1 minute'",
    'l.created_at < $3::timestamptz',
  ]
  const called = [
    'c.outcome IS NOT NULL AND c.admitted_at >= $2::timestamptz AND c.admitted_at < $3::timestamptz',
  ]
  if (scope.kind !== 'all') listed.push(`l.owner_id = ${given(scope.ownerId)}::uuid`)
  for (const [column, text] of [
    ['agent', query.agent],
    ['app', query.app],
    ['end_user', query.endUser],
    ['end_user', scope.endUser],
  ]) {
    if (text !== undefined) listed.push(`l.${column} = ${given(text)}`)
  }
  if (scope.kind === 'key') called.push(`c.key_id = ${given(scope.keyId)}::uuid`)
  if (query.model !== undefined) called.push(`coalesce(c.model, '') = ${given(query.model)}`)
  if (query.outcome !== undefined) called.push(isOneOf(query.outcome, 'c'))
  const rows = await sql.query<ReportRow & { readonly read: number }>(statementOf(listed, called), values)
  if ((rows[0]?.read ?? 0) > CALLS_MAX) {
    refuseField(['groupBy'], `gives more than ${CALLS_MAX} calls by conversation; expected a shorter range.`)
  }
  return rows
}

/** The histogram of one call, as the rollups have those of many. */
const histogramOf = (column: string) =>
  `string_agg('{"' || ceil(ln(greatest(${column}, 1)::float8) / ln(${GROWTH}::float8))::int || '": 1}', '')`

/** `$1` the starts of the buckets, as a JSON array, `$2` and `$3` the range. */
function statementOf(listed: readonly string[], called: readonly string[]): string {
  return `
WITH buckets AS MATERIALIZED (
  SELECT ARRAY(SELECT value::timestamptz FROM json_array_elements_text($1::json) ORDER BY 1) AS starts
), chosen AS MATERIALIZED (
  SELECT l.*, g.deleted_at AS since
  FROM listed_conversations l LEFT JOIN conversation_generations g ON g.identity = l.identity
  WHERE ${listed.join(' AND ')}
  ORDER BY l.last_activity_at DESC, l.id DESC
  LIMIT ${CONVERSATIONS_MAX}
), called AS MATERIALIZED (
  SELECT l.id AS listed_id, starts[width_bucket(c.admitted_at, starts)] AS start, c.*
  FROM chosen l
  CROSS JOIN buckets
  CROSS JOIN LATERAL (SELECT * FROM calls c WHERE ${CALL_OF_CONVERSATION} AND ${called.join(' AND ')}) AS c
  LIMIT ${CALLS_MAX + 1}
)
SELECT listed_id::text AS conversation, start, 1 AS sign, count(*)::int8 AS calls,
  (count(*) FILTER (WHERE ${isOneOf(FAILED_OUTCOMES, 'c')}))::int8 AS failed,
  count(total_tokens)::int8 AS token_calls, coalesce(sum(prompt_tokens), 0)::int8 AS prompt_tokens,
  coalesce(sum(completion_tokens), 0)::int8 AS completion_tokens, coalesce(sum(total_tokens), 0)::int8 AS total_tokens,
  (count(*) FILTER (WHERE rating = 'up'))::int8 AS rated_up, (count(*) FILTER (WHERE rating = 'down'))::int8 AS rated_down,
  ${histogramOf('first_chunk_ms')} AS first_chunk, ${histogramOf('duration_ms')} AS duration,
  (SELECT count(*) FROM called)::int4 AS read
FROM called c
GROUP BY listed_id, start`
}
