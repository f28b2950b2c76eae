import type { Database } from '#core/database/database.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import type { ListQuery } from '#core/pagination.ts'
import { credentialId, type Principal } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Call } from '#generated/prisma/client.ts'
import { type CallQuery, exportCalls, findCall, readCalls } from './calls.ts'
import { type CallsInput, parseCallsQuery } from './calls-query.ts'
import { createRequireKnownAgent } from './known-agents.ts'
import { createReads } from './reads.ts'
import { parseReportQuery, type ReportInput } from './report-query.ts'
import { type Report, readReport } from './reports.ts'
import { type Drift, verifyUsage } from './verify.ts'

/**
 * What was used, for every face. A user reads its own, an administrator all, a key without `admin` its own calls. Each
 * report, page and export takes a point of the caller's limit once the question is known to be valid.
 */
export interface UsageService {
  report(caller: Principal, input: ReportInput, onLimit?: OnLimit): Promise<Report>
  /** A page of the ledger, newest first. There is no count of them: it would read every row that the filter lets pass. */
  calls(
    caller: Principal,
    filter: CallsInput,
    query: ListQuery & CallQuery,
    onLimit?: OnLimit,
  ): Promise<Call[]>
  /** All calls, newest first, for one point. */
  exportCalls(caller: Principal, filter: CallsInput, onLimit?: OnLimit): Promise<AsyncIterable<Call>>
  /** Null for a call that the caller may not see as for one that does not exist. */
  findCall(caller: Principal, id: string, query?: CallQuery): Promise<Call | null>
}

/** Work on the ledger that no caller asks for. */
export interface UsageMaintenance {
  /** The equations between counters, rollups and ledger that do not hold, of all time or of the last days. */
  verify(extent: 'all' | 'recent'): Promise<Drift[]>
  /** Deletes a bounded number of ledger rows that are past their retention; returns how many. Rollups stay. */
  prune(): Promise<number>
  /** The same for the names of rollups, which serve the calls of their own day alone. */
  pruneNames(): Promise<number>
}

export interface UsageDeps {
  readonly database: Pick<Database, 'kind' | 'sql' | 'prisma'>
  readonly runtime: Pick<Runtime, 'now'>
  readonly limits: Pick<Limits, 'reports' | 'calls'>
  readonly config: { readonly retentionDays: number }
  /** Ids of the configured agents. */
  readonly agentIds: ReadonlySet<string>
}

const PRUNED_AT_ONCE = 5_000
/** They serve the calls that were admitted on their day; even those that an outage kept open end sooner than this. */
const NAMES_KEPT_DAYS = 7

export function createUsageService({
  database,
  runtime,
  limits,
  config,
  agentIds,
}: UsageDeps): UsageService & UsageMaintenance {
  const { sql, prisma } = database
  const reads = createReads(database.kind)
  const requireKnownAgent = createRequireKnownAgent(agentIds, { sql, reads })
  const deps = { sql, prisma, reads, requireKnownAgent }
  return {
    async report(caller, input, onLimit) {
      const query = parseReportQuery(input, runtime.now())
      await requirePoint(limits.reports, credentialId(caller), onLimit)
      return readReport(deps, caller, query)
    },
    async calls(caller, filter, page, onLimit) {
      const query = parseCallsQuery(filter)
      await requirePoint(limits.calls, credentialId(caller), onLimit)
      return readCalls(deps, caller, query, page)
    },
    async exportCalls(caller, filter, onLimit) {
      const query = parseCallsQuery(filter)
      await requirePoint(limits.calls, credentialId(caller), onLimit)
      return exportCalls(deps, caller, query)
    },
    findCall: (caller, id, query) => findCall(deps, caller, id, query),
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
