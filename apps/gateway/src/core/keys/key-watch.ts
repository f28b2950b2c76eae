import type { Sql } from '#core/database/database.ts'
import type { ErrorReason } from '#core/errors.ts'
import { PeriodicRead } from '#core/periodic-read.ts'
import type { Runtime } from '#core/runtime.ts'
import { KEY_REFUSAL } from './key-refusal.ts'

/**
 * Notices when keys that are in use stop being valid. One statement in each period serves the whole process, however many
 * keys are watched, and none is sent while there are none. It reads the database, so that it does not matter which process
 * revoked a key. While the database does not answer, every key is taken for valid.
 */
export interface KeyWatch {
  /**
   * Calls `onRefused` when the key has been revoked or has expired, or its owner is suspended.
   *
   * @returns the function that ends the watch; to be called once, also after `onRefused`
   */
  watch(keyId: string, onRefused: (reason: ErrorReason) => void): () => void
}

export interface KeyWatchDeps {
  readonly sql: Sql
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** Called when the keys can no longer be read, and when they can again. */
  readonly onAnswer: (answers: boolean, error?: unknown) => void
  readonly everyMs?: number
}

const EVERY_MS = 1_000

export function createKeyWatch({ sql, runtime, onAnswer, everyMs = EVERY_MS }: KeyWatchDeps): KeyWatch {
  const watched = new Map<string, Set<(reason: ErrorReason) => void>>()
  const isNeeded = () => watched.size > 0
  const reads = new PeriodicRead({ everyMs, runtime, onAnswer, isNeeded, read })

  async function read(): Promise<void> {
    const rows = await sql.query<RefusedKey>(FIND_REFUSED, [JSON.stringify([...watched.keys()])])
    for (const { id, refusal } of rows) {
      for (const onRefused of [...(watched.get(id) ?? [])]) onRefused(refusal)
    }
  }

  return {
    watch(keyId, onRefused) {
      // The call of the key has just been admitted, so the first look is a period away, and a short call costs none.
      if (!isNeeded()) reads.start(everyMs)
      const listeners = watched.get(keyId) ?? new Set()
      watched.set(keyId, listeners)
      listeners.add(onRefused)
      return () => {
        listeners.delete(onRefused)
        if (listeners.size > 0) return
        watched.delete(keyId)
        if (!isNeeded()) reads.stop()
      }
    },
  }
}

interface RefusedKey {
  readonly id: string
  readonly refusal: ErrorReason
}

/** `$1`: a JSON array of the ids of keys. */
const FIND_REFUSED = `
SELECT * FROM (
  SELECT k.id, ${KEY_REFUSAL} AS refusal
  FROM api_keys k JOIN users u ON u.id = k.owner_id
  WHERE k.id IN (SELECT value::uuid FROM json_array_elements_text($1::json))
) AS judged
WHERE refusal IS NOT NULL`
