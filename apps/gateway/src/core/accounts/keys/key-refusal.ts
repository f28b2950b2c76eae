/**
 * Why the key `k` of the user `u` is refused now; null if it is valid. The reasons are checked in the same order and by the
 * same clock as in `ADMIT` of core/ledger/admission-sql.ts.
 */
export const KEY_REFUSAL = `
  CASE
    WHEN k.revoked_at IS NOT NULL THEN 'key_revoked'
    WHEN k.expires_at <= clock_timestamp() THEN 'key_expired'
    WHEN u.status <> 'active' THEN 'owner_suspended'
  END`
