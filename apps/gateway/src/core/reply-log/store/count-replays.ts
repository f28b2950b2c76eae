import type { Sql } from '#core/database/database.ts'
import { inPortions } from './given-calls.ts'

export interface ReplayCount {
  /** Counts in the ledger how often the replies of ended calls were sent again. What failed may have been counted. */
  countReplays(counts: ReadonlyMap<string, number>): Promise<void>
}

export function createReplayCount(sql: Sql): ReplayCount {
  return {
    async countReplays(counts) {
      await inPortions([...counts], (some) =>
        sql.query(COUNT_REPLAYS, [some.map(([id]) => id), some.map(([, count]) => count)]),
      )
    },
  }
}

/** `$1` calls, `$2` how many replays of each. Rows of the ledger are locked in the order of their ids. */
const COUNT_REPLAYS = `
WITH replayed AS MATERIALIZED (
  SELECT id FROM calls WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
)
UPDATE calls c SET replays = c.replays + g.replays
FROM unnest($1::uuid[], $2::int4[]) AS g(id, replays)
WHERE c.id = ANY (ARRAY(SELECT id FROM replayed)) AND c.id = g.id`
