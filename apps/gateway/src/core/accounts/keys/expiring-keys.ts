import type { Sql } from '#core/database/database.ts'

export type ExpiringKeySearch = ReturnType<typeof createExpiringKeySearch>

/** The keys that expire within so many days. */
export interface ExpiringKeys {
  readonly days: number
  /** No more than {@link COUNTED_MAX} are counted. */
  readonly count: number
  /** The first ones to expire. */
  readonly first: readonly { readonly id: string; readonly name: string; readonly prefix: string }[]
}

const COUNTED_MAX = 10_000
const NAMED_MAX = 10

/** Finds the active keys that expire soon, as the condition `expires_within` of lists does. */
export function createExpiringKeySearch(sql: Sql) {
  return {
    /** Those of each threshold, the longest first; a key that expires within a day also does within 30. */
    expiring: () => sql.query<ExpiringKeys>(EXPIRING, [COUNTED_MAX, NAMED_MAX]),
    /** Whether this process logs them on this day (UTC); of all processes one does. */
    mayTell: async () => (await sql.query(TELL)).length > 0,
  }
}

/** `$1`: how many keys are counted, `$2`: how many are named. The index on the expiry is read once, up to the longest threshold. */
const EXPIRING = `
WITH soon AS MATERIALIZED (
  SELECT id, name, prefix, expires_at FROM api_keys
  WHERE expires_at > now() AND expires_at < now() + interval '30 days' AND revoked_at IS NULL AND paused_at IS NULL
  ORDER BY expires_at LIMIT $1
)
SELECT days, (SELECT count(*)::int4 FROM soon WHERE expires_at < now() + days * interval '1 day') AS count,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'prefix', prefix)), '[]') FROM (
    SELECT * FROM soon WHERE expires_at < now() + days * interval '1 day' ORDER BY expires_at LIMIT $2) AS named) AS first
FROM (VALUES (30), (7), (1)) AS thresholds (days)`

/** The day of the last log lines is a row of the settings, so that one process writes them on each day, also after a restart. */
const TELL = `
INSERT INTO settings AS s (name, value) VALUES ('expiring_keys_told', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE s.value < excluded.value
RETURNING 1`
