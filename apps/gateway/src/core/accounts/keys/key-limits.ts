import { createBatcher } from '#core/base/async/batcher.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import type { Sql } from '#core/database/database.ts'
import { isAllowedAddress } from '#core/requests/allowed-addresses.ts'
import { KEYS_OF_SECRETS, SECRET_REFUSAL } from './key-refusal.ts'

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
  readonly invalid: 'key_revoked' | 'key_rotated' | 'key_expired' | 'owner_suspended' | 'key_paused' | null
  readonly permissions: readonly string[]
  /** Of `agent` and `agent/app`; empty if the key may use every agent. */
  readonly allowedAgents: readonly string[]
  /** Empty if the key may be used from every address. */
  readonly allowedAddresses: readonly string[]
}

/**
 * Returns the limits of the key with a secret of this hash, which the rate limiter needs before admission checks the key; undefined
 * if there is no such key. Cached limits are returned without a promise, which saves most calls a turn of the microtask queue. What
 * would refuse a call from this address is read again, so that no call is refused by what was true a second ago.
 */
export type KeyLimitsReader = (keyHash: string, address: string) => KeyLimits | Promise<KeyLimits | undefined>

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
    read(hash: string, address: string) {
      const { limits, expiresAtMs = 0 } = cache.get(hash) ?? {}
      if (limits?.invalid === null && expiresAtMs > runtime.elapsedMs()) {
        const { allowedAddresses } = limits
        // Most keys have none, and cost nothing.
        if (allowedAddresses.length === 0 || isAllowedAddress(allowedAddresses, address)) return limits
      }
      return withDeadline(LOOK_UP_TIMEOUT_MS, lookUp(hash))
    },
    /** The key with this hash, as far as this process has read it lately; for requests that are refused before it is looked up. */
    // An entry that is too old for its limits still names the key.
    identityOf: (hash: string): KeyIdentity | undefined => cache.get(hash)?.limits,
  }
}

type LimitsRow = KeyLimits & { readonly hash: string }

const FIND_LIMITS = `
SELECT s.hash, k.id AS "keyId", k.owner_id AS "ownerId", k.chat_per_minute AS "chatPerMinute",
  k.upload_per_minute AS "uploadPerMinute", k.permissions, k.allowed_agents AS "allowedAgents",
  k.allowed_addresses AS "allowedAddresses", ${SECRET_REFUSAL} AS invalid
${KEYS_OF_SECRETS}`
