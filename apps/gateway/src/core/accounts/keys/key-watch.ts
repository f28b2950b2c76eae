import { setImmediate as turnOver } from 'node:timers/promises'
import { InFlight } from '#core/base/async/in-flight.ts'
import { PeriodicRead } from '#core/base/async/periodic-read.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import { isAllowedAddress } from '#core/requests/allowed-addresses.ts'
import { KEY_REFUSAL } from './key-refusal.ts'

/**
 * Notices when keys of running calls stop being valid, and when somebody stops a call. One statement in each period serves the
 * whole process, however many calls run, and none is sent while there are none. It reads the database, so that it does not matter
 * which process revoked a key, and the database's clock decides what has expired. While the database does not answer, every key is
 * taken for valid, and no call for stopped.
 */
export interface KeyWatch {
  /**
   * Calls `onRefused` when the key has been revoked or paused or has expired, or does not allow the client's address any more, or its
   * owner is suspended, or the call is to be stopped, and again with each look until the watch ends. The call must have been admitted within the last seconds: what happened to its key
   * before is not looked for. A stop is never missed, whenever it was requested.
   *
   * @returns the function that ends the watch; to be called once, also after `onRefused`
   */
  watch(key: KeyInUse, onRefused: (reason: ErrorReason) => void): () => void
}

/** The key of an admitted call. */
export interface KeyInUse {
  readonly keyId: string
  readonly ownerId: string
  /** The call, which ends with the reason `stopped` when its stop is requested; absent for readers of a kept reply. */
  readonly callId?: string | undefined
  /** The client's network address, which the key may have to allow. */
  readonly address: string | undefined
}

export interface KeyWatchDeps {
  readonly sql: Sql
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** This process, whose calls may be stopped. */
  readonly instanceId: string
  /** Called when the keys can no longer be read, and when they can again. */
  readonly onAnswer: (answers: boolean, error?: unknown) => void
  readonly everyMs?: number
  /** Up to this many keys are read by their ids; of more, only the changes since the last look are read. */
  readonly askedMax?: number
}

const EVERY_MS = 500
const ASKED_MAX = 500

/**
 * How long before the last look a change may lie that it did not see. A revocation and a suspension have the database's time
 * before their statement, and are seen when it has committed: it waits at most 2 s for a connection and runs at most 10 s
 * (`open-server.ts`). A call waits at most 2 s for its admission before its key is watched.
 */
const OVERLAP_MS = 30_000

/** Ending calls blocks the event loop, so other work gets its turn after this many. */
const ENDS_AT_ONCE = 100

interface WatchedCall extends KeyInUse {
  readonly onRefused: (reason: ErrorReason) => void
  /** The number of looks that had begun before the call. */
  readonly looks: number
}

export function createKeyWatch(deps: KeyWatchDeps): KeyWatch {
  const { sql, runtime, instanceId, onAnswer, everyMs = EVERY_MS, askedMax = ASKED_MAX } = deps
  const calls = new InFlight<WatchedCall>()
  /** Whether there have been calls since the period before the last look. */
  let isWatching = false
  /** The database's time at the last look; undefined if nothing is known of the keys in use. */
  let lookedAtMs: number | undefined
  let looks = 0
  const reads = new PeriodicRead({ everyMs, paced: 'by begins', runtime, onAnswer, isNeeded, read })

  function isNeeded(): boolean {
    if (calls.size > 0) return true
    isWatching = false
    lookedAtMs = undefined
    return false
  }

  async function read(): Promise<void> {
    looks += 1
    const look = looks
    const keyIds = new Set<string>()
    for (const { keyId } of calls.all()) keyIds.add(keyId)
    const since = lookedAtMs === undefined ? null : lookedAtMs - OVERLAP_MS
    const [found] = await (since === null || keyIds.size <= askedMax
      ? sql.query<Found>(FIND_REFUSED, [JSON.stringify([...keyIds]), instanceId, since])
      : sql.query<Found>(FIND_CHANGED, [since, instanceId]))
    if (found === undefined) throw new Error('the database returned no keys')
    const { nowMs, refused, bound, stopped } = found
    // A clock that was set back makes the times of later changes lie before the last look.
    lookedAtMs = lookedAtMs !== undefined && nowMs < lookedAtMs ? undefined : nowMs
    if (refused.length > 0) await endRefused(refused, look)
    if (bound.length > 0) await endElsewhere(new Map(bound), look)
    if (stopped.length > 0) await endStopped(stopped)
  }

  async function endRefused(refused: Found['refused'], look: number): Promise<void> {
    const ofKeys = new Map(refused.map(([keyId, , reason]) => [keyId, reason]))
    const ofOwners = new Map(refused.map(([, ownerId, reason]) => [ownerId, reason]))
    await endAll((call) =>
      // A later call was admitted after what this look has seen, so its owner is active again.
      call.looks < look ? (ofKeys.get(call.keyId) ?? ofOwners.get(call.ownerId)) : undefined,
    )
  }

  function endElsewhere(bound: ReadonlyMap<string, readonly string[]>, look: number): Promise<void> {
    return endAll(({ keyId, address, looks }) =>
      looks < look && !isAllowedAddress(bound.get(keyId) ?? [], address ?? '') ? 'address_denied' : undefined,
    )
  }

  function endStopped(stopped: readonly string[]): Promise<void> {
    const callIds = new Set<string | undefined>(stopped)
    return endAll(({ callId }) => (callIds.has(callId) ? 'stopped' : undefined))
  }

  /** Ends calls, with turns for all others between them. */
  async function endAll(reasonFor: (call: WatchedCall) => ErrorReason | undefined): Promise<void> {
    let ended = 0
    for (const call of calls.all()) {
      const reason = reasonFor(call)
      if (reason === undefined) continue
      if (ended > 0 && ended % ENDS_AT_ONCE === 0) await turnOver()
      ended += 1
      call.onRefused(reason)
    }
  }

  return {
    watch({ keyId, ownerId, callId, address }, onRefused) {
      if (!isWatching) {
        isWatching = true
        // The call has just been admitted, so the first look is a period away, and a short call alone costs none.
        reads.start(everyMs)
      }
      return calls.add({ keyId, ownerId, callId, address, onRefused, looks })
    },
  }
}

interface Found {
  /** The database's time at the beginning of the statement, so that it cannot have seen what is later. */
  readonly nowMs: number
  /** Each entry refuses one key, or all keys of an owner. */
  readonly refused: readonly (readonly [keyId: string | null, ownerId: string | null, reason: ErrorReason])[]
  /** The keys whose allowed addresses have changed lately, unless all are allowed. */
  readonly bound: readonly (readonly [keyId: string, allowed: readonly string[]])[]
  /** The calls of this process whose stop was requested, until they have ended. */
  readonly stopped: readonly string[]
}

/**
 * `$2`: this instance. The index of its calls that are to be stopped is nearly always empty, and that of restricted keys short.
 *
 * @param since - where the changes begin that the last look did not see
 */
const found = (rows: string, since: string) => `
SELECT (extract(epoch FROM now()) * 1000)::float8 AS "nowMs",
  (SELECT coalesce(json_agg(json_build_array(key_id, owner_id, refusal)), '[]') FROM (${rows}) AS each) AS refused,
  (SELECT coalesce(json_agg(json_build_array(id, allowed_addresses)), '[]') FROM api_keys
    WHERE restricted_at > ${since} AND restricted_at <= 'infinity' AND cardinality(allowed_addresses) > 0) AS bound,
  (SELECT coalesce(json_agg(id), '[]') FROM calls
    WHERE instance = $2::uuid AND outcome IS NULL AND stop_requested_at IS NOT NULL) AS stopped`

/**
 * `$1`: a JSON array of the ids of keys. They are passed through an array, of which the planner expects few rows. `$3`: the time since
 * which changes of addresses are read, in milliseconds; null for the last ones, at the first look at calls that were just admitted.
 */
const FIND_REFUSED = found(
  `
  SELECT * FROM (
    SELECT k.id AS key_id, NULL::uuid AS owner_id, ${KEY_REFUSAL} AS refusal
    FROM api_keys k JOIN users u ON u.id = k.owner_id
    WHERE k.id = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text($1::json)))
  ) AS judged
  WHERE refusal IS NOT NULL`,
  `coalesce(to_timestamp($3::float8 / 1000), now() - ${OVERLAP_MS} * interval '1 millisecond')`,
)

/**
 * `$1`: the time, in milliseconds, since which changes are read. It is followed by the keys and owners of the whole
 * installation that changed since then, each by an index. Without statistics the planner takes a range with two ends for
 * small and one with a single end for a third of the table, which it would rather scan. The upper ends have to be constant
 * within the statement, so `clock_timestamp()` cannot be one. That a key is not revoked is no condition either: the planner
 * could look it up in the index of revocations, in which nearly all keys have none.
 */
const FIND_CHANGED = found(
  `
  SELECT id AS key_id, NULL::uuid AS owner_id, 'key_revoked' AS refusal FROM api_keys
  WHERE revoked_at > to_timestamp($1::float8 / 1000) AND revoked_at <= 'infinity'
  UNION ALL
  SELECT id, NULL, CASE WHEN revoked_at IS NULL THEN 'key_expired' ELSE 'key_revoked' END FROM api_keys
  WHERE expires_at > to_timestamp($1::float8 / 1000) AND expires_at <= now()
  UNION ALL
  SELECT id, NULL, CASE
    WHEN revoked_at IS NOT NULL THEN 'key_revoked'
    WHEN expires_at <= now() THEN 'key_expired'
    WHEN (SELECT u.status FROM users u WHERE u.id = owner_id) <> 'active' THEN 'owner_suspended'
    ELSE 'key_paused' END FROM api_keys
  WHERE restricted_at > to_timestamp($1::float8 / 1000) AND restricted_at <= 'infinity' AND paused_at IS NOT NULL
  UNION ALL
  SELECT NULL, id, 'owner_suspended' FROM users
  WHERE status = 'suspended' AND updated_at > to_timestamp($1::float8 / 1000) AND updated_at <= 'infinity'`,
  'to_timestamp($1::float8 / 1000)',
)
