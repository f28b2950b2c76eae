import type { ChartData, Granularity, RecordFilter, RecordsLink } from '../../charts/chart-data.ts'
import type { CountRow } from './group-names.ts'
import type { Group, RefusalsSearch } from './refusals-search.ts'

/** The refusals that are equal in some of their properties. */
export interface CountGroup {
  /** The first of its rows, which has the properties of all. */
  readonly row: CountRow
  readonly count: number
  /** The start of the last bucket with any. */
  readonly last: string
  readonly byStart: ReadonlyMap<string, number>
}

const READ: Record<Group, (row: CountRow) => string | null> = {
  key: ({ keyId, ownerId }) => keyId ?? `of ${ownerId}`,
  user: ({ ownerId }) => ownerId,
  agent: ({ agentId }) => agentId,
  reason: ({ reason }) => reason,
  limit: ({ limit }) => limit,
}

/** Adds up what is equal in these properties, those with the most first. */
export function groupCounts(rows: readonly CountRow[], groups: readonly Group[]): readonly CountGroup[] {
  const found = new Map<string, CountRow[]>()
  for (const row of rows) {
    const name = JSON.stringify(groups.map((group) => READ[group](row)))
    const same = found.get(name)
    if (same === undefined) found.set(name, [row])
    else same.push(row)
  }
  return [...found.values()]
    .flatMap((same) => groupOf(same) ?? [])
    .sort((one, other) => other.count - one.count || (one.last < other.last ? 1 : -1))
}

function groupOf(rows: readonly CountRow[]): CountGroup | undefined {
  const [row] = rows
  if (row === undefined) return undefined
  const byStart = new Map<string, number>()
  for (const { start, count } of rows) byStart.set(start, (byStart.get(start) ?? 0) + count)
  const last = [...byStart.keys()].sort().at(-1) ?? row.start
  return { row, count: rows.reduce((sum, { count }) => sum + count, 0), last, byStart }
}

/** The number of colours, without the one for all other groups. */
const DRAWN_MAX = 7

interface Charted extends Pick<ChartData, 'linkTo'> {
  readonly groups: readonly CountGroup[]
  readonly starts: readonly string[]
  readonly end: string
  readonly granularity: Granularity
  readonly zone: string
  /** By what they are grouped. */
  readonly by: readonly Group[]
  readonly nameOf: (group: CountGroup) => string
  readonly others: string
}

/** A chart of the groups with the most, and of all others together. */
export function chartOf({ groups, by, starts, nameOf, others, ...shared }: Charted): ChartData {
  const drawn = groups.slice(0, DRAWN_MAX).map((group, place) => ({
    name: nameOf(group),
    values: starts.map((start) => group.byStart.get(start) ?? 0),
    colour: `--series-${place + 1}` as const,
    filterOf: () => filterOf(group, by),
  }))
  const rest = groups.slice(DRAWN_MAX)
  const values = starts.map((start) => rest.reduce((sum, { byStart }) => sum + (byStart.get(start) ?? 0), 0))
  return {
    ...shared,
    starts,
    kind: 'bars',
    series: rest.length === 0 ? drawn : [...drawn, { name: others, values, colour: '--series-8' }],
  }
}

/** What the refusals of a group have in common, for the address of their list; undefined where it has no filter for that. */
export function filterOf({ row }: CountGroup, by: readonly Group[]): RecordFilter | undefined {
  const given = by.map((name) => [name, FILTERED[name](row)] as const)
  return given.some(([, value]) => !value) ? undefined : (Object.fromEntries(given) as RecordFilter)
}

const FILTERED: Record<Group, (row: CountRow) => string | null> = { ...READ, key: ({ keyId }) => keyId }

/** Single refusals are kept for this long. */
const KEPT_MS = 86_400_000

/** Makes the ways to the refusals that were counted: to the single ones while they are kept, else to the counts of that time. */
export function refusalsLink(search: RefusalsSearch, now: Date): ChartData['linkTo'] {
  const { agent, key, user, reason, limit, by } = search
  const earliest = new Date(now.getTime() - KEPT_MS).toISOString()
  return (from, to, filter) => ({
    to: '/refusals',
    search: {
      ...{ agent, key, user, reason, limit, ...filter },
      ...(to > earliest ? { from, to } : { from, to, by, show: 'counts' }),
    } as RecordsLink['search'],
  })
}
