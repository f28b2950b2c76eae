import type { Sql } from '#core/database/database.ts'
import { GIVEN, inPortions } from './given-calls.ts'

/** How the process of a kept call learns that its stop was requested. */
export type KeptCallStops = ReturnType<typeof createKeptCallStops>

export function createKeptCallStops(sql: Sql) {
  return {
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

/** `$1` calls. */
const STOPPED = `
SELECT k.call_id, k.ended_at IS NOT NULL AS is_ended ${GIVEN}
WHERE k.ended_at IS NOT NULL OR k.stop_requested_at IS NOT NULL`
