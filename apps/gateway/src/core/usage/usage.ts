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
 * Reports and the ledger, for every face. A user reads the calls of its own keys, an administrator all calls, and a key
 * without `admin` only its own. Each report, page and export takes a point of the caller's rate limit after its query has
 * been validated.
 */
export interface UsageService {
  report(caller: Principal, input: ReportInput, onLimit?: OnLimit): Promise<Report>
  /** A page of the ledger, newest first. There is no total count, because that would read every row that matches the filter. */
  calls(
    caller: Principal,
    filter: CallsInput,
    query: ListQuery & CallQuery,
    onLimit?: OnLimit,
  ): Promise<Call[]>
  /** All calls that match the filter, newest first. The whole export takes one point. */
  exportCalls(caller: Principal, filter: CallsInput, onLimit?: OnLimit): Promise<AsyncIterable<Call>>
  /** Returns null for a call that does not exist and for one that the caller may not see. */
  findCall(caller: Principal, id: string, query?: CallQuery): Promise<Call | null>
}

/** Periodic work on the ledger and its rollups. */
export interface UsageMaintenance {
  /** Returns the differences between counters, rollups and ledger, of all time or of the last days. */
  verify(extent: 'all' | 'recent'): Promise<Drift[]>
  /** Deletes a bounded number of ledger rows that are past their retention; returns how many. Rollups are kept. */
  prune(): Promise<number>
  /** Deletes a bounded number of the names that bound the rollups of a day, once that day is past; returns how many. */
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
/** Names are needed until all calls of their day have been settled; even calls left open by an outage end sooner than this. */
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
 * Deletes in the order of the ids, which begin with the time: the oldest rows are adjacent, so whole pages become free for
 * reuse. The rows are deleted by `ctid`, because with old statistics the planner would join by reading the whole ledger.
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
