import type { Database } from '#core/database/database.ts'
import type { Page, PageRequest } from '#core/pagination.ts'
import type { Principal } from '#core/principal.ts'
import { type CallRecord, type CallsQuery, readCalls } from './calls.ts'
import { createRequireKnownAgent } from './known-agents.ts'
import { createReads } from './reads.ts'
import { type Report, type ReportQuery, readReport } from './reports.ts'
import { type Drift, verifyUsage } from './verify.ts'

/** What was used, for every face. A user reads its own, an administrator all, a key without `admin` its own calls. */
export interface Usage {
  report(caller: Principal, query: ReportQuery): Promise<Report>
  calls(caller: Principal, query: CallsQuery, page: PageRequest): Promise<Page<CallRecord>>
  /** The equations between counters, rollups and ledger that do not hold, of all time or of the last days. */
  verify(extent: 'all' | 'recent'): Promise<Drift[]>
  /** Deletes a bounded number of ledger rows that are past their retention; returns how many. Rollups stay. */
  prune(): Promise<number>
  /** The same for the names of rollups, which serve the calls of their own day alone. */
  pruneNames(): Promise<number>
}

export interface UsageDeps {
  readonly database: Pick<Database, 'kind' | 'sql' | 'prisma'>
  readonly config: { readonly retentionDays: number }
  /** Ids of the configured agents. */
  readonly agentIds: ReadonlySet<string>
}

const PRUNED_AT_ONCE = 5_000
/** They serve the calls that were admitted on their day; even those that an outage kept open end sooner than this. */
const NAMES_KEPT_DAYS = 7

export function createUsage({ database, config, agentIds }: UsageDeps): Usage {
  const { sql, prisma } = database
  const reads = createReads(database.kind)
  const deps = { sql, reads, requireKnownAgent: createRequireKnownAgent(agentIds, { sql, reads }) }
  return {
    report: (caller, query) => readReport(deps, caller, query),
    calls: (caller, query, page) => readCalls({ ...deps, prisma }, caller, query, page),
    verify: (extent) => verifyUsage(sql, { ...config, extent }),
    async prune() {
      const rows = await sql.query(PRUNE, [config.retentionDays, PRUNED_AT_ONCE])
      return rows.length
    },
    async pruneNames() {
      const names = await sql.query(PRUNE_NAMES, [NAMES_KEPT_DAYS, PRUNED_AT_ONCE])
      const counts = await sql.query(PRUNE_NAME_COUNTS, [NAMES_KEPT_DAYS, PRUNED_AT_ONCE])
      return names.length + counts.length
    },
  }
}

/**
 * By id, in which the time comes first: the oldest rows stand together on their pages, which are filled anew. Deleted by
 * `ctid`, because a planner with old statistics joins by reading the ledger whole.
 */
const PRUNE = `
DELETE FROM calls
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM calls
  WHERE admitted_at < date_trunc('day', now(), 'UTC') - $1::int8 * interval '1 day' AND outcome IS NOT NULL
    AND id < (lpad(to_hex((extract(epoch FROM now()) * 1000)::int8 - ($1::int8 - 1) * 86400000), 12, '0') || repeat('0', 20))::uuid
  ORDER BY id
  LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id`

const pruneByDay = (table: string) => `
DELETE FROM ${table}
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM ${table} WHERE day < now() - $1 * interval '1 day'
  ORDER BY day LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING day`

const PRUNE_NAMES = pruneByDay('rollup_names')
const PRUNE_NAME_COUNTS = pruneByDay('rollup_name_counts')
