import { type Quota, quotaOf } from '#core/accounts/users/user.ts'
import type { AgentCatalog } from '#core/agents/catalog.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database, Sql } from '#core/database/database.ts'
import { type Drift, verifyUsage } from '#core/ledger/verify.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import type { WaitingPlaces } from '#core/limits/sharing/owner-turns.ts'
import { createReads } from '#core/limits/sharing/reads.ts'
import { credentialId, type Principal } from '#core/requests/principal.ts'
import { createCalls } from './calls.ts'
import { requireRead } from './record-list.ts'
import { parseReportQuery, type ReportInput } from './report-query.ts'
import { queryBefore, type Report, readReport, readReportsOfKeys } from './reports.ts'
import { createRequireKnownAgent } from './require-known-agent.ts'
import type { ScopeFilter } from './scope.ts'
import { createUsageFeed, type UsageFeedDeps } from './usage-feed.ts'
import type { UsageUpdate } from './usage-today.ts'

/**
 * Reports, for every face. A user reads the calls of its own keys, an administrator all calls, and a key without `admin` only
 * its own. Each report takes a point of the caller's rate limit after its query has been validated, and waits for the turn of
 * its user. `signal` aborts when the client is gone, which frees its place; reads with the same signal take one place.
 */
export type Usage = ReturnType<typeof createUsage>['usage']

/** Work on the ledger and its rollups that needs no caller. */
export type UsageUpkeep = ReturnType<typeof createUsage>['upkeep']

export interface UsageDeps {
  readonly database: Pick<Database, 'kind' | 'sql' | 'prisma'>
  /** Checks and deletes; defaults to that of the database. */
  readonly upkeep?: Sql
  readonly runtime: Pick<Runtime, 'now' | 'elapsedMs'>
  readonly limits: Pick<Limits, 'reports' | 'calls'>
  readonly config: { readonly retentionDays: number; readonly places?: WaitingPlaces | undefined }
  /** Whose agents reports may name before they have been called. */
  readonly catalog: Pick<AgentCatalog, 'knownIds'>
  /** Called when the usage of today cannot be read for its subscribers, and when it can again. */
  readonly onFeedAnswer?: UsageFeedDeps['onAnswer']
}

const QUOTA_COLUMNS = { apiCallsCount: true, maxApiCalls: true, quotaPeriod: true, quotaStart: true } as const
const PRUNED_AT_ONCE = 1_000
/** Names are needed until all calls of their day have been settled; even calls left open by an outage end sooner than this. */
const NAMES_KEPT_DAYS = 7

/** Reports and the ledger, whose reads take the same turns. */
export function createUsage({
  database,
  upkeep = database.sql,
  runtime,
  limits,
  config,
  catalog,
  onFeedAnswer = () => undefined,
}: UsageDeps) {
  const { sql, prisma } = database
  const reads = createReads(database.kind, { places: config.places })
  const requireKnownAgent = createRequireKnownAgent(catalog, sql)
  const deps = { sql, prisma, reads, requireKnownAgent }
  const feed = createUsageFeed({ sql, runtime, onAnswer: onFeedAnswer })
  return {
    usage: {
      async report(
        caller: Principal,
        input: ReportInput,
        onLimit?: OnLimit,
        signal?: AbortSignal,
      ): Promise<Report> {
        const query = parseReportQuery(input, runtime.now())
        await requireRead(reads, limits.reports, caller, onLimit, signal)
        return readReport(deps, caller, query, signal)
      },
      /** The report with which this one is compared. It takes no point of its own. */
      async reportBefore(caller: Principal, report: Report, signal?: AbortSignal): Promise<Report> {
        reads.requirePlace({ owner: caller.userId, signal })
        return readReport(deps, caller, queryBefore(report), signal)
      },
      /** The same for the reports of several keys, of which any one is given: they differ only in the key. */
      async reportsBeforeOfKeys(
        caller: Principal,
        keyIds: readonly string[],
        report: Report,
        signal?: AbortSignal,
      ): Promise<ReadonlyMap<string, Report>> {
        reads.requirePlace({ owner: caller.userId, signal })
        const query = { ...queryBefore(report), keyId: undefined, ownerId: undefined }
        return readReportsOfKeys(deps, caller, keyIds, query, signal)
      },
      /**
       * Applies the rules that need no database to the query for a report.
       *
       * @throws Problem `invalid_request` with all mistakes
       */
      checkReport(input: ReportInput): void {
        parseReportQuery(input, runtime.now())
      },
      /**
       * A report of each of these keys, by its id, for the price of one: they are read in one statement and take one point.
       * Keys whose calls the caller may not read are left out.
       */
      async reportsOfKeys(
        caller: Principal,
        keyIds: readonly string[],
        input: Omit<ReportInput, keyof ScopeFilter>,
        onLimit?: OnLimit,
        signal?: AbortSignal,
      ): Promise<ReadonlyMap<string, Report>> {
        const query = parseReportQuery({ ...input, keyId: undefined, ownerId: undefined }, runtime.now())
        await requireRead(reads, limits.reports, caller, onLimit, signal)
        return readReportsOfKeys(deps, caller, keyIds, query, signal)
      },
      /** The quota of the caller's user, which all of its keys share. */
      async quota({ userId }: Principal): Promise<Quota> {
        const user = await prisma.user.findUniqueOrThrow({ where: { id: userId }, select: QUOTA_COLUMNS })
        return quotaOf(user, runtime.now())
      },
      /**
       * The usage of today and the caller's quota, now and whenever they change; see {@link UsageFeed}. A subscription takes a
       * point like a report.
       *
       * @throws Problem `rate_limited`, `draining`, `unavailable`
       */
      async updates(
        caller: Principal,
        onLimit?: OnLimit,
      ): Promise<AsyncIterableIterator<UsageUpdate, undefined>> {
        await requirePoint(limits.reports, credentialId(caller), onLimit)
        return feed.subscribe(caller)
      },
    },
    calls: createCalls({ ...deps, limits }),
    requireKnownAgent,
    upkeep: {
      /** Ends the subscriptions to updates with `draining` and refuses new ones. */
      endUpdates: (): void => feed.close(),
      /** Returns the differences between counters, rollups and ledger, of all time or of the last days. */
      verify: (extent: 'all' | 'recent'): Promise<Drift[]> => verifyUsage(upkeep, { ...config, extent }),
      /** Deletes a bounded number of ledger rows that are past their retention; returns how many. Rollups are kept. */
      async prune(): Promise<number> {
        const rows = await upkeep.query(PRUNE, [config.retentionDays, PRUNED_AT_ONCE])
        return rows.length
      },
      /** Deletes a bounded number of the names that bound the rollups of a day, once that day is past; returns how many. */
      async pruneNames(): Promise<number> {
        const names = await upkeep.query(PRUNE_NAMES, [NAMES_KEPT_DAYS, PRUNED_AT_ONCE])
        const counts = await upkeep.query(PRUNE_NAME_COUNTS, [NAMES_KEPT_DAYS, PRUNED_AT_ONCE])
        return names.length + counts.length
      },
    },
  }
}

/**
 * Deletes in the order of the ids, which begin with the time: the oldest rows are adjacent, so whole pages become free for
 * reuse. The rows are deleted by `ctid`, because with old statistics the planner would join by reading the whole ledger. The ids
 * alone select the rows to look at, or without statistics it would expect so few that it reads the whole ledger as well.
 */
const PRUNE = `
DELETE FROM calls
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM (
    SELECT ctid, admitted_at, outcome FROM calls
    WHERE id < (lpad(to_hex((extract(epoch FROM now()) * 1000)::int8 - ($1::int8 - 1) * 86400000), 12, '0') || repeat('0', 20))::uuid
    ORDER BY id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
  ) oldest
  WHERE admitted_at < date_trunc('day', now(), 'UTC') - $1::int8 * interval '1 day' AND outcome IS NOT NULL))
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
