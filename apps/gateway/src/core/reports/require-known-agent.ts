import type { AgentCatalog } from '#core/agents/catalog.ts'
import { refuseField } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import type { Slices } from '#core/limits/sharing/reads.ts'
import { readInSlices } from './report-slices.ts'

/**
 * Rejects an agent that is neither configured nor found in the rollups of earlier calls, because a mistyped name would
 * otherwise return an empty report. It may read the database, so it is called in the turn of a read, with its slices.
 *
 * @throws Problem `invalid_request`
 */
export type RequireKnownAgent = (agent: string | undefined, slices: Slices | undefined) => Promise<void>

export function createRequireKnownAgent(
  catalog: Pick<AgentCatalog, 'knownIds'>,
  sql: Sql,
): RequireKnownAgent {
  return async (agent, slices) => {
    if (agent === undefined || catalog.knownIds().has(agent)) return
    const wasCalled = await (slices === undefined ? isInRollups(sql, agent) : isInSlices(sql, slices, agent))
    if (wasCalled) return
    refuseField(['agent'], 'expected an agent that is configured or has been called.')
  }
}

async function isInRollups(sql: Sql, agent: string): Promise<boolean> {
  const rows = await sql.query(
    "SELECT FROM rollups WHERE span = 'month' AND grain = 'all' AND subject = '' AND agent = $1 LIMIT 1",
    [agent],
  )
  return rows.length > 0
}

async function isInSlices(sql: Sql, slices: Slices, agent: string): Promise<boolean> {
  const start = new Date(0)
  const ever = { start, sign: 1, span: 'month', from: start, to: new Date('9999-12-01') } as const
  const rows = await readInSlices(sql, slices, {
    grain: 'all',
    subjects: [''],
    segments: [ever],
    filter: { agent },
    groupBy: [],
    columns: 'sum(r.calls)::int8 AS calls',
    groupsMax: 0,
  })
  return rows.length > 0
}
