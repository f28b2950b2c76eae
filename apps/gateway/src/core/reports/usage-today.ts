import { KEY_OWNERS } from '#core/accounts/keys/key-owners.ts'
import { type Quota, quotaOf } from '#core/accounts/users/user.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import { ADDRESS_DENIED, canonicalAddress } from '#core/requests/allowed-addresses.ts'
import { isManager, type Principal } from '#core/requests/principal.ts'
import { SUMS } from './report-rows.ts'
import { keyOf } from './report-slices.ts'
import { type RollupSums, UsageAccumulator, type UsageMetrics } from './usage-accumulator.ts'

/** What has been used today (UTC), and what is left of the caller's quota. */
export interface UsageUpdate {
  /** The start of the day. */
  readonly day: Date
  /** Of the calls that have ended and that the caller may read. */
  readonly totals: UsageMetrics
  readonly quota: Quota
}

/**
 * Reads in one statement, for each of the callers, its usage of today, or the reason for which its credential is no longer
 * valid.
 */
export async function readTodayUsage(
  sql: Sql,
  callers: readonly Principal[],
): Promise<(UsageUpdate | ErrorReason)[]> {
  const [row] = await sql.query<TodayRow>(READ_TODAY, [JSON.stringify(callers.map(toInput))])
  if (row === undefined) throw new Error('the usage of today could not be read')
  const { clock, day, callers: states } = row
  const totals = new Map(row.sums.map((sums) => [nameOf(sums), metricsOf(sums)]))
  return states.map((state) => {
    if (state.refusal !== null) return state.refusal
    return {
      day,
      totals: totals.get(nameOf(state)) ?? NOTHING,
      quota: quotaOf(
        {
          apiCallsCount: BigInt(state.api_calls_count),
          maxApiCalls: BigInt(state.max_api_calls),
          quotaPeriod: state.quota_period,
          quotaStart: new Date(state.quota_start),
        },
        clock,
      ),
    }
  })
}

interface TodayRow {
  readonly clock: Date
  readonly day: Date
  /** In the order of the callers. */
  readonly callers: readonly CallerState[]
  readonly sums: readonly (Omit<RollupSums, 'sign'> & Seen)[]
}

/** What a caller sees: all callers that see the same share its sums. */
interface Seen {
  readonly grain: string
  readonly subject: string
  /** Null for all end users. */
  readonly end_user: string | null
}

interface CallerState extends Seen {
  readonly refusal: ErrorReason | null
  readonly api_calls_count: number
  readonly max_api_calls: number
  readonly quota_period: string
  readonly quota_start: string
}

const NOTHING = new UsageAccumulator().metrics()

function nameOf({ grain, subject, end_user }: Seen): string {
  return JSON.stringify([grain, subject, end_user])
}

function metricsOf(sums: Omit<RollupSums, 'sign'>): UsageMetrics {
  const accumulator = new UsageAccumulator()
  accumulator.addRow({ ...sums, sign: 1 })
  return accumulator.metrics()
}

function toInput(caller: Principal, n: number) {
  const { userId, via, endUser, origin } = caller
  return {
    n,
    owner_id: userId,
    end_user: endUser,
    is_manager: isManager(caller),
    address: canonicalAddress(origin?.address ?? ''),
    ...(via.kind === 'key' ? { key_id: via.keyId } : { token_id: via.tokenId, epoch: via.epoch }),
  }
}

/** The bucket alone decides; the other columns of the key only need valid values. */
const OTHERS = "'', 'chat', '', '', '', 'done'"

/** The rollups of an end user in one day, of the key `of.subject`. No kind of calls comes before the empty text, or after `~`. */
const OF_KEY = `
      SELECT * FROM rollups r
      WHERE r.span = 'day' AND r.grain = 'end_user' AND r.subject = of.subject
        AND (${keyOf('r')}) > (now.day, seen.end_user, '', '', '', '', '') AND (${keyOf('r')}) < (now.day, seen.end_user, '~', '', '', '', '')
      ORDER BY ${keyOf('r')}`

/**
 * The rollups of bound callers, by the grain of what each would see unbound: a few looks at the primary key for each, however many
 * end users there are today. Only for a bound administrator all of today's are read.
 */
const OF_END_USERS = Object.entries({
  key: `(SELECT seen.subject) AS of CROSS JOIN LATERAL (${OF_KEY}) AS r`,
  owner: `(SELECT k.id::text AS subject FROM ${KEY_OWNERS} AS k WHERE k.owner_id = seen.subject::uuid) AS of
      CROSS JOIN LATERAL (${OF_KEY}) AS r`,
  all: `(
      SELECT * FROM rollups r
      WHERE r.span = 'day' AND r.grain = 'end_user' AND r.bucket = now.day AND r.end_user = seen.end_user
    ) AS r`,
}).map(
  ([grain, rollups]) => `
  SELECT seen.grain, seen.subject, seen.end_user, each.*
  FROM seen
  CROSS JOIN now
  CROSS JOIN LATERAL (
    SELECT ${SUMS}
    FROM ${rollups}
    WHERE r.calls > 0
    HAVING count(*) > 0
  ) AS each
  WHERE seen.grain = '${grain}' AND seen.end_user IS NOT NULL`,
)

/**
 * `$1`: a JSON array of the callers. A credential is checked for the same reasons, in the same order, as by `FIND_KEYS` of
 * core/accounts/auth/authenticate.ts and `verify` of core/accounts/auth/tokens.ts. The role decides what the caller sees, as in `scopeOf`, and
 * is read anew, so that a demotion takes effect at once. Callers that see the same share its sums.
 *
 * The rollups are read in the order of the primary key, for the reason that `keyOf` gives: with the index of buckets, which
 * looks as good to a planner without statistics, each of them would cost those of all subjects. The look-up of a revoked
 * token has a LIMIT to keep the planner from reading that whole table.
 */
const READ_TODAY = `
WITH now AS MATERIALIZED (
  SELECT clock, date_trunc('day', clock, 'UTC') AS day FROM (SELECT clock_timestamp() AS clock) AS reading
), caller AS MATERIALIZED (
  SELECT i.n, i.end_user, u.api_calls_count, u.max_api_calls, u.quota_period, u.quota_start,
    CASE WHEN NOT i.is_manager THEN 'key' WHEN u.role = 'admin' THEN 'all' ELSE 'owner' END::rollup_grain AS grain,
    CASE WHEN NOT i.is_manager THEN i.key_id::text WHEN u.role = 'admin' THEN '' ELSE i.owner_id::text END AS subject,
    CASE
      WHEN i.key_id IS NOT NULL AND k.id IS NULL THEN 'key_unknown'
      WHEN k.revoked_at IS NOT NULL THEN 'key_revoked'
      WHEN k.expires_at <= now.clock THEN 'key_expired'
      WHEN u.id IS NULL THEN 'token_invalid'
      WHEN u.status <> 'active' THEN 'owner_suspended'
      WHEN u.token_epoch <> i.epoch
        OR (SELECT true FROM revoked_tokens r WHERE r.id = i.token_id LIMIT 1) THEN 'token_revoked'
      WHEN k.paused_at IS NOT NULL THEN 'key_paused'
      WHEN ${ADDRESS_DENIED} THEN 'address_denied'
    END AS refusal
  FROM json_to_recordset($1::json) AS i(n int, owner_id uuid, key_id uuid, token_id uuid, epoch int, is_manager boolean,
    end_user text, address text)
  CROSS JOIN now
  LEFT JOIN users u ON u.id = i.owner_id
  LEFT JOIN api_keys k ON k.id = i.key_id
), seen AS MATERIALIZED (
  SELECT DISTINCT grain, subject, end_user FROM caller WHERE refusal IS NULL
), sums AS MATERIALIZED (
  SELECT seen.grain, seen.subject, seen.end_user, each.*
  FROM seen
  CROSS JOIN now
  CROSS JOIN LATERAL (
    SELECT ${SUMS}
    FROM (
      SELECT * FROM rollups r
      WHERE r.span = 'day' AND r.grain = seen.grain AND r.subject = seen.subject
        AND (${keyOf('r')}) > (now.day - interval '1 ms', ${OTHERS}) AND (${keyOf('r')}) < (now.day + interval '1 ms', ${OTHERS})
      ORDER BY ${keyOf('r')}
    ) AS r
    WHERE r.calls > 0
    HAVING count(*) > 0
  ) AS each
  WHERE seen.end_user IS NULL
  ${OF_END_USERS.map((select) => `UNION ALL ${select}`).join('\n  ')}
)
SELECT now.clock, now.day,
  (SELECT coalesce(json_agg(caller ORDER BY caller.n), '[]') FROM caller) AS callers,
  (SELECT coalesce(json_agg(sums), '[]') FROM sums) AS sums
FROM now`
