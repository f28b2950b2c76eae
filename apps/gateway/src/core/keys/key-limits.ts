import { coalesce } from '#core/batcher.ts'
import type { Sql } from '#core/database/database.ts'
import { withDeadline } from '#core/deadline.ts'
import type { Runtime } from '#core/runtime.ts'

export interface KeyLimits {
  readonly chatPerMinute: number | undefined
  readonly uploadPerMinute: number | undefined
}

/**
 * What the rate limiter must know of a key before the key is judged: that it exists, and its own limits. Undefined for a
 * hash that no key has. No promise where it is remembered.
 */
export type KeyLimitsReader = (keyHash: string) => KeyLimits | Promise<KeyLimits | undefined>

const REMEMBERED_MS = 1_000
/** Before the admission's own deadline: a database that hangs is told in time. */
const LOOK_UP_WITHIN_MS = 1_500
const REMEMBERED_MAX = 10_000

/**
 * Only limits are remembered, for a second; whether a key is good is asked at every call.
 * Unknown hashes are not remembered: nobody can fill the memory, or a limiter's, with keys that do not exist.
 */
export function createKeyLimitsReader({ sql, runtime }: { sql: Sql; runtime: Runtime }): KeyLimitsReader {
  const remembered = new Map<string, { limits: KeyLimits; untilMs: number }>()

  const lookUp = coalesce<string, KeyLimits | undefined>(
    async (hashes) => {
      const rows = await sql.query<{ hash: string; chat: number | null; upload: number | null }>(
        `SELECT encode(hash, 'hex') AS hash, chat_per_minute AS chat, upload_per_minute AS upload
         FROM api_keys WHERE hash IN (SELECT decode(value, 'hex') FROM json_array_elements_text($1::json))`,
        [JSON.stringify(hashes)],
      )
      const found = new Map(rows.map((row) => [row.hash, row]))
      return hashes.map((hash) => {
        const row = found.get(hash)
        return row && { chatPerMinute: row.chat ?? undefined, uploadPerMinute: row.upload ?? undefined }
      })
    },
    { sizeMax: 256, isShared: () => true },
  )

  async function read(hash: string, nowMs: number): Promise<KeyLimits | undefined> {
    const limits = await withDeadline(LOOK_UP_WITHIN_MS, lookUp(hash))
    if (limits === undefined) remembered.delete(hash)
    else {
      if (remembered.size >= REMEMBERED_MAX) remembered.clear()
      remembered.set(hash, { limits, untilMs: nowMs + REMEMBERED_MS })
    }
    return limits
  }

  return (hash) => {
    const nowMs = runtime.elapsedMs()
    const known = remembered.get(hash)
    return known !== undefined && known.untilMs > nowMs ? known.limits : read(hash, nowMs)
  }
}
