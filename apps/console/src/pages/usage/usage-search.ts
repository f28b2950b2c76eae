import { PERCENTILES, type Percentile } from '../../charts/chart-data.ts'
import { isReportable, reportZone, startOfDay, startOfMonth, startOfWeek } from '../../report/zone.ts'

/** Ranges that end now, and those of the calendar, of which the last ones are over. */
export const LENGTHS = ['today', '7d', '30d', '90d', '12m'] as const
export const CALENDAR = ['this_week', 'last_week', 'this_month', 'last_month'] as const
export const PRESETS = [...LENGTHS, ...CALENDAR] as const
export type Preset = (typeof PRESETS)[number]

export const GRANULARITIES = ['hour', 'day', 'month'] as const
export type GranularityName = (typeof GRANULARITIES)[number]

export const GROUPS = ['agent', 'app', 'model', 'key', 'user', 'end_user', 'outcome'] as const
export type GroupName = (typeof GROUPS)[number]

export const METRICS = ['calls', 'failures', 'tokens', 'firstChunk', 'duration'] as const
export type Metric = (typeof METRICS)[number]

export const TABLES = ['groups', 'time'] as const

/** What the page shows. All of it stands in the address, so that everyone who opens the address sees the same. */
export interface UsageSearch {
  /** Absent where `from` and `to` are given. */
  readonly range?: Preset
  readonly from?: string
  readonly to?: string
  readonly zone: string
  readonly by: GranularityName
  /** Names of {@link GROUPS}, separated by commas. */
  readonly group: string
  readonly show: Metric
  /** Of the times in the chart. */
  readonly percentile: Percentile
  readonly table: (typeof TABLES)[number]
  readonly agent?: string
  readonly key?: string
  readonly user?: string
  /** Whether the report stands beside that of the period before. */
  readonly compare?: true
}

type Unchecked = { readonly [Name in keyof UsageSearch]?: unknown }

/** Reads the address; what is missing or not valid there becomes a default. */
export function usageSearch(input: Unchecked, now = new Date()): UsageSearch {
  const zone =
    typeof input.zone === 'string' && isReportable(input.zone, now) ? input.zone : reportZone(now).zone
  const span = spanOf(input)
  const [from, to] = rangeOf(span, zone, now)
  const allowed = granularitiesOf(from, to)
  return {
    ...span,
    zone,
    by: allowed.find((name) => name === input.by) ?? granularityOf(from, to, span.range),
    group: groupsOf(input.group).join(','),
    show: METRICS.find((name) => name === input.show) ?? 'calls',
    percentile: PERCENTILES.find((name) => name === input.percentile) ?? 'p50',
    table: TABLES.find((name) => name === input.table) ?? 'groups',
    ...text('agent', input.agent),
    ...text('key', input.key),
    ...text('user', input.user),
    ...((input.compare === true || input.compare === 'true') && { compare: true }),
  }
}

type Span = Pick<UsageSearch, 'range' | 'from' | 'to'>

function spanOf({ range, from, to }: Unchecked): Span {
  const [start, end] = [from, to].map((time) => (typeof time === 'string' ? Date.parse(time) : Number.NaN))
  if (start !== undefined && end !== undefined && start < end) return { from: String(from), to: String(to) }
  return { range: PRESETS.find((preset) => preset === range) ?? '30d' }
}

/** The range of an address; that of a preset ends now, unless it is over. */
export function rangeOf({ range, from, to }: Span, zone: string, now: Date): [from: Date, to: Date] {
  if (from !== undefined && to !== undefined) return [new Date(from), new Date(to)]
  if (range === '12m') return [startOfMonth(now, zone, -11), now]
  if (range === 'this_week') return [startOfWeek(now, zone), now]
  if (range === 'last_week') return [startOfWeek(now, zone, -1), startOfWeek(now, zone)]
  if (range === 'this_month') return [startOfMonth(now, zone), now]
  if (range === 'last_month') return [startOfMonth(now, zone, -1), startOfMonth(now, zone)]
  const days = { today: 1, '7d': 7, '30d': 30, '90d': 90 }[range ?? '30d']
  return [startOfDay(now, zone, 1 - days), now]
}

/** The properties by which to group. Ids of apps belong to an agent, so apps are grouped by their agents as well. */
export function groupsOf(group: unknown): readonly GroupName[] {
  const names = typeof group === 'string' ? group.split(',') : []
  if (names.includes('app')) names.push('agent')
  return GROUPS.filter((name) => names.includes(name))
}

const DAY_MS = 86_400_000

/** A response has at most 10,000 points; the chart asks for those of seven groups, of their sum and of the period before. */
const BUCKETS_MAX = 1_100

/** The granularities with which a range is not too long for one report. */
export function granularitiesOf(from: Date, to: Date): readonly GranularityName[] {
  const days = (to.getTime() - from.getTime()) / DAY_MS
  return GRANULARITIES.filter((name) => days * { hour: 24, day: 1, month: 1 / 31 }[name] < BUCKETS_MAX - 1)
}

/** The granularity that a range is first shown with. */
export function granularityOf(from: Date, to: Date, preset?: Preset): GranularityName {
  // Also a week or a month that has only begun, so that its days stand beside those of the one before.
  if (CALENDAR.some((name) => name === preset)) return 'day'
  const days = (to.getTime() - from.getTime()) / DAY_MS
  if (days <= 3) return 'hour'
  return days <= 100 ? 'day' : 'month'
}

function text<Name extends string>(name: Name, value: unknown): { [Key in Name]?: string } {
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { [Key in Name]: string }) : {}
}
