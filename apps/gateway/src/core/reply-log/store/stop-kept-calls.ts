import type { Sql } from '#core/database/database.ts'
import { GIVEN, inPortions } from './given-calls.ts'

/** How any process asks the one that runs a kept call to stop it, and how that one learns of it. */
export type KeptCallStops = ReturnType<typeof createKeptCallStops>

export function createKeptCallStops(sql: Sql) {
  return {
    /** Asks the process of a running call to stop it. Does nothing for one that has ended. */
    async requestStop(callId: string): Promise<void> {
      await sql.query(REQUEST_STOP, [callId])
    },
    /** Those of these running calls whose stop was requested, and those that another process has ended. */
    async stopped(
      callIds: readonly string[],
    ): Promise<readonly { readonly callId: string; readonly isEnded: boolean }[]> {
      const rows = await inPortions(callIds, (ids) => sql.query<StoppedRow>(STOPPED, [ids]))
      return rows.map(({ call_id, is_ended }) => ({ callId: call_id, isEnded: is_ended }))
    },
  }
}

interface StoppedRow {
  readonly call_id: string
  readonly is_ended: boolean
}

/** `$1` call. */
const REQUEST_STOP = `
UPDATE kept_calls SET stop_requested_at = now()
WHERE call_id = $1::uuid AND ended_at IS NULL AND stop_requested_at IS NULL`

/** `$1` calls. */
const STOPPED = `
SELECT k.call_id, k.ended_at IS NOT NULL AS is_ended ${GIVEN}
WHERE k.ended_at IS NOT NULL OR k.stop_requested_at IS NOT NULL`
