import { type Granularity, timeZone } from '#core/reports/range/calendar.ts'
import type { Group } from '#core/reports/report-rows.ts'
import type { Report, ReportGroup } from '#core/reports/reports.ts'
import type { UsageMetrics } from '#core/reports/usage-accumulator.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import type { Cell } from '#http/response/csv.ts'
import { snake } from '#resources/define/resource.ts'
import { METRICS } from '#resources/usage-report.ts'

/** What the rows of the CSV are: each bucket of each group, or each group over the whole range. */
export const CSV_ROWS = ['points', 'totals'] as const

export interface ReportCsvOptions {
  readonly rows: (typeof CSV_ROWS)[number]
  /** Adds what people read: times as the clocks of the time zone show them, and names beside ids. */
  readonly labels: boolean
  /** The report that this one is compared with. */
  readonly compared: Report | undefined
}

/** The names of what a report is grouped by, by property and id. */
export type Names = Readonly<Partial<Record<Group, ReadonlyMap<string, readonly string[]>>>>

const NAME_COLUMNS: Readonly<Partial<Record<Group, readonly string[]>>> = {
  agent: ['agent_name'],
  key: ['key_name', 'key_prefix'],
  user: ['user_name'],
}

export function reportHeader({ groupBy }: Report, { rows, labels, compared }: ReportCsvOptions): string[] {
  const times = rows === 'totals' ? [] : labels ? ['start', 'time'] : ['start']
  const timesBefore = rows === 'points' && compared !== undefined ? ['before_start'] : []
  return [
    ...times,
    ...groupBy.flatMap((name) => [name, ...(labels ? (NAME_COLUMNS[name] ?? []) : [])]),
    ...METRIC_COLUMNS,
    ...timesBefore,
    ...(compared === undefined ? [] : METRIC_COLUMNS.map((name) => `before_${name}`)),
  ]
}

export function* reportRows(
  report: Report,
  { rows, labels, compared }: ReportCsvOptions,
  names: Names,
): Generator<Cell[]> {
  const { groupBy, granularity, timezone } = report
  const wallTime = wallTimeIn(timezone, granularity)
  const before = new Map(compared?.groups.map((one) => [JSON.stringify(one.group), one]))
  for (const one of report.groups) {
    const group = groupBy.flatMap((name) => groupCells(one, name, labels ? names : undefined))
    const other = before.get(JSON.stringify(one.group))
    if (rows === 'totals') {
      const totalsBefore = compared === undefined ? [] : metricCells(other?.totals)
      yield [...group, ...metricCells(one.totals), ...totalsBefore]
      continue
    }
    for (const [index, { start, ...metrics }] of one.points.entries()) {
      const time = labels ? [start, wallTime(start)] : [start]
      // Periods of different lengths, such as two months, are compared day by day from their starts.
      const startBefore = compared?.points[index]?.start
      const pointBefore =
        compared === undefined
          ? []
          : [
              startBefore ?? null,
              ...(startBefore === undefined ? NO_METRICS : metricCells(other?.points[index])),
            ]
      yield [...time, ...group, ...metricCells(metrics), ...pointBefore]
    }
  }
}

function groupCells({ group }: ReportGroup, name: Group, names: Names | undefined): Cell[] {
  const id = group[name] ?? ''
  const columns = names === undefined ? undefined : NAME_COLUMNS[name]
  if (columns === undefined) return [id]
  const found = names?.[name]?.get(id)
  return [id, ...columns.map((_, place) => found?.[place] ?? null)]
}

/** Each quantile is a column of its own. */
const METRIC_COLUMNS = Object.entries(METRICS.fields).flatMap(([name, { of }]) =>
  of === undefined ? [snake(name)] : of.columns.map((point) => `${snake(name)}_${point}`),
)

const NO_METRICS: readonly Cell[] = METRIC_COLUMNS.map(() => null)

/** A group that the other period does not have had no calls then. */
const NO_CALLS: readonly Cell[] = Object.values(METRICS.fields).flatMap(({ isNullable, of }) =>
  of === undefined ? [isNullable ? null : 0] : of.columns.map(() => null),
)

function metricCells(metrics: UsageMetrics | undefined): readonly Cell[] {
  if (metrics === undefined) return NO_CALLS
  const record: Readonly<Record<string, unknown>> = METRICS.record(metrics)
  return Object.entries(METRICS.fields).flatMap(([name, { of }]) => {
    const value = record[snake(name)] as Record<string, Cell> | null
    return of === undefined ? [value as Cell] : of.columns.map((point) => value?.[point] ?? null)
  })
}

const WRITTEN: Record<Granularity, number> = { hour: 16, day: 10, month: 7 }

/** `2026-11-22 15:00`, `2026-11-22` or `2026-11`, which spreadsheets take for times. */
function wallTimeIn(timezone: string, granularity: Granularity): (at: Date) => string {
  const zone = timeZone(timezone)
  return (at) =>
    new Date(at.getTime() + zone(at)).toISOString().replace('T', ' ').slice(0, WRITTEN[granularity])
}

const READ_AT_ONCE = 1_000

/** Reads the names of everything that a report is grouped by and that the caller may see. */
export async function namesIn(
  {
    keys,
    users,
    agents,
  }: Pick<Services, 'keys' | 'users'> & { readonly agents: Pick<Services['agents'], 'findMany'> },
  caller: Principal,
  { groupBy, groups }: Report,
): Promise<Names> {
  const idsOf = (name: Group) =>
    groupBy.includes(name) ? [...new Set(groups.map(({ group }) => group[name] ?? ''))] : []
  const names = { agent: new Map(), key: new Map(), user: new Map() } satisfies Names
  for (const { id, name } of agents.findMany(caller, idsOf('agent'))) names.agent.set(id, [name])
  for (const ids of chunked(idsOf('key'))) {
    const found = await keys.findMany(caller, ids)
    for (const { id, name, prefix } of found) names.key.set(id, [name, prefix])
  }
  for (const ids of chunked(idsOf('user'))) {
    for (const { id, username } of await users.findMany(caller, ids)) names.user.set(id, [username])
  }
  return names
}

function chunked(ids: readonly string[]): string[][] {
  const count = Math.ceil(ids.length / READ_AT_ONCE)
  return Array.from({ length: count }, (_, place) =>
    ids.slice(place * READ_AT_ONCE, (place + 1) * READ_AT_ONCE),
  )
}
