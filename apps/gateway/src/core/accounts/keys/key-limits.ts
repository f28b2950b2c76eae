import { createBatcher } from '#core/base/async/batcher.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import type { Sql } from '#core/database/database.ts'

/** A key, and the user whom it belongs to, which never changes. */
export interface KeyIdentity {
  readonly keyId: string
  readonly ownerId: string
}

export interface KeyLimits extends KeyIdentity {
  /** The key's own limits; null where it has none. */
  readonly chatPerMinute: number | null
  readonly uploadPerMinute: number | null
  /** Why the key was not valid when it was looked up; null if it was. The ledger decides at every call, also about what follows. */
  readonly invalid: 'key_revoked' | 'key_expired' | 'owner_suspended' | null
  readonly permissions: readonly string[]
  /** Of `agent` and `agent/app`; empty if the key may use every agent. */
  readonly allowedAgents: readonly string[]
}

/**
 * Returns the limits of the key with this hash, which the rate limiter needs before admission checks the key; undefined if
 * there is no such key. Cached limits are returned without a promise, which saves most calls a turn of the microtask queue.
 */
export type KeyLimitsReader = (keyHash: string) => KeyLimits | Promise<KeyLimits | undefined>

export type RememberedKeys = ReturnType<typeof createRememberedKeys>

const CACHE_TTL_MS = 1_000
/** Shorter than the deadline of admission, so that a call does not wait twice for a database that hangs. */
const LOOK_UP_TIMEOUT_MS = 1_500
const CACHED_KEYS_MAX = 10_000

/**
 * Caches the limits of keys for a second; whether a key is valid is still checked at every call. Unknown hashes are not
 * cached, so that invented keys cannot fill the cache or the memory of a limiter.
 */
export function createRememberedKeys({ sql, runtime }: { sql: Sql; runtime: Runtime }) {
  const cache = new BoundedMap<string, { limits: KeyLimits; expiresAtMs: number }>(CACHED_KEYS_MAX)

  async function lookUpAll(hashes: readonly string[]): Promise<readonly (KeyLimits | undefined)[]> {
    const expiresAtMs = runtime.elapsedMs() + CACHE_TTL_MS
    const found = new Map<string, KeyLimits>()
    for (const limits of await sql.query<LimitsRow>(FIND_LIMITS, [JSON.stringify(hashes)])) {
      found.set(limits.hash, limits)
      cache.set(limits.hash, { limits, expiresAtMs })
    }
    for (const hash of hashes) if (!found.has(hash)) cache.delete(hash)
    return hashes.map((hash) => found.get(hash))
  }

  const lookUp = createBatcher(lookUpAll, { sizeMax: 256, isShared: () => true })

  return {
    read(hash: string) {
      const cached = cache.get(hash)
      return cached !== undefined && cached.expiresAtMs > runtime.elapsedMs()
        ? cached.limits
        : withDeadline(LOOK_UP_TIMEOUT_MS, lookUp(hash))
    },
    /** The key with this hash, as far as this process has read it lately; for requests that are refused before it is looked up. */
    // An entry that is too old for its limits still names the key.
    identityOf: (hash: string): KeyIdentity | undefined => cache.get(hash)?.limits,
  }
}

type LimitsRow = KeyLimits & { readonly hash: string }

const FIND_LIMITS = `
SELECT encode(k.hash, 'hex') AS hash, k.id AS "keyId", k.owner_id AS "ownerId", k.chat_per_minute AS "chatPerMinute",
  k.upload_per_minute AS "uploadPerMinute", k.permissions, k.allowed_agents AS "allowedAgents",
  CASE
    WHEN k.revoked_at IS NOT NULL THEN 'key_revoked'
    WHEN k.expires_at <= now() THEN 'key_expired'
    WHEN u.status <> 'active' THEN 'owner_suspended'
  END AS invalid
FROM api_keys k CROSS JOIN LATERAL (SELECT status FROM users WHERE id = k.owner_id LIMIT 1) u
WHERE k.hash = ANY (ARRAY(SELECT decode(value, 'hex') FROM json_array_elements_text($1::json)))`
