import type { Sql } from '#core/database/database.ts'
import { validIds } from '#core/database/valid-ids.ts'

/** The process that served a call. All but the id is null once its row is past `instance.retentionDays`. */
export interface CallInstance {
  readonly id: string
  readonly host: string | null
  readonly pid: number | null
  readonly version: string | null
}

/** The processes with these ids, in one statement. */
export async function findInstances(sql: Sql, ids: readonly string[]): Promise<CallInstance[]> {
  const distinct = [...new Set(validIds(ids))]
  if (distinct.length === 0) return []
  const rows = await sql.query<CallInstance>(
    'SELECT id, host, pid, version FROM instances WHERE id = ANY ($1::uuid[])',
    [distinct],
  )
  const known = new Map(rows.map((row) => [row.id, row]))
  return distinct.map((id) => known.get(id) ?? { id, host: null, pid: null, version: null })
}
