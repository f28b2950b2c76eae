import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'

/** What the maintenance does for the audit log. Each method works on a bounded number of rows and returns how many it removed. */
export interface ChainSweep {
  /** Adds one event for all those of past hours that were only counted. */
  addOmitted(): Promise<number>
  /** Cuts off and deletes the events that are older than the retention. */
  cut(): Promise<number>
  /** The end of the chain as `trunkline audit verify --head` takes it; undefined while there is no event. */
  head(): Promise<string | undefined>
}

const ROWS_AT_ONCE = 1_000
const DAY_MS = 86_400_000

export function createChainSweep({
  sql,
  config: { retentionDays },
  runtime,
}: {
  readonly sql: Sql
  readonly config: { readonly retentionDays: number }
  readonly runtime: Pick<Runtime, 'now'>
}): ChainSweep {
  const count = async (statement: string, values: readonly unknown[]) => {
    const [row] = await sql.query<{ removed: number }>(statement, values)
    return row?.removed ?? 0
  }
  return {
    addOmitted: () => count('SELECT audit_omitted($1::int) AS removed', [ROWS_AT_ONCE]),
    cut() {
      const until = new Date(runtime.now().getTime() - retentionDays * DAY_MS)
      return count('SELECT audit_cut($1::timestamptz, $2::int) AS removed', [until, ROWS_AT_ONCE])
    },
    async head() {
      const [row] = await sql.query<{ head: string }>(HEAD)
      return row?.head
    },
  }
}

const HEAD = "SELECT n || ':' || encode(hash, 'hex') AS head FROM audit_head WHERE n > 0"
