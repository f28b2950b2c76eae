import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'

/** What the maintenance does for the audit log. Each method works on a bounded number of rows and returns how many it removed. */
export type ChainSweep = ReturnType<typeof createChainSweep>

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
}) {
  const count = async (statement: string, values: readonly unknown[]) => {
    const [row] = await sql.query<{ removed: number }>(statement, values)
    return row?.removed ?? 0
  }
  return {
    /** Adds one event for all those of past hours that were only counted. */
    addOmitted: (): Promise<number> => count('SELECT audit_omitted($1::int) AS removed', [ROWS_AT_ONCE]),
    /** Cuts off and deletes the events that are older than the retention. */
    cut(): Promise<number> {
      const until = new Date(runtime.now().getTime() - retentionDays * DAY_MS)
      return count('SELECT audit_cut($1::timestamptz, $2::int) AS removed', [until, ROWS_AT_ONCE])
    },
    /** The end of the chain as `trunkline audit verify --head` takes it; undefined while there is no event. */
    async head(): Promise<string | undefined> {
      const [row] = await sql.query<{ head: string }>(HEAD)
      return row?.head
    },
  }
}

const HEAD = "SELECT n || ':' || encode(hash, 'hex') AS head FROM audit_head WHERE n > 0"
