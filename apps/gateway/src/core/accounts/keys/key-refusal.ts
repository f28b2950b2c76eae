/**
 * Why the key `k` of the user `u` is refused now, whichever secret was presented; null if it is valid. The reasons are checked in
 * the same order and by the same clock as in `ADMIT` of core/ledger/admission-sql.ts.
 */
export const KEY_REFUSAL = `
  CASE
    WHEN k.revoked_at IS NOT NULL THEN 'key_revoked'
    WHEN k.expires_at <= clock_timestamp() THEN 'key_expired'
    WHEN u.status <> 'active' THEN 'owner_suspended'
    WHEN k.paused_at IS NOT NULL THEN 'key_paused'
  END`

/** The same for the secret by which {@link KEYS_OF_SECRETS} has found the key. */
export const SECRET_REFUSAL = `
  CASE WHEN k.revoked_at IS NULL AND k.is_previous AND k.previous_ends_at <= clock_timestamp() THEN 'key_rotated'
    ELSE ${KEY_REFUSAL} END`

/**
 * The keys `k` with their users `u` for the secrets `s`, whose hashes are the JSON array `$1`. Lateral selects of one row leave the
 * planner no choice but the indexes, and the second one is read only where the first has no row.
 */
export const KEYS_OF_SECRETS = `
FROM (SELECT value AS hash, decode(value, 'hex') AS secret FROM json_array_elements_text($1::json)) AS s
CROSS JOIN LATERAL (
  SELECT *, false AS is_previous FROM api_keys WHERE hash = s.secret
  UNION ALL
  SELECT *, true FROM api_keys WHERE previous_hash = s.secret
  LIMIT 1) AS k
CROSS JOIN LATERAL (SELECT status, role FROM users WHERE id = k.owner_id LIMIT 1) AS u`
