import type { ChartData, Granularity } from '../../charts/chart-data.ts'
import type { CountRow } from './group-names.ts'
import type { Group } from './refusals-search.ts'

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

/** As many colours as there are beside that of the others. */
const DRAWN_MAX = 7

interface Charted {
  readonly groups: readonly CountGroup[]
  readonly starts: readonly string[]
  readonly granularity: Granularity
  readonly zone: string
  readonly nameOf: (group: CountGroup) => string
  readonly others: string
}

/** A chart of the groups with the most, and of all others together. */
export function chartOf({ groups, starts, granularity, zone, nameOf, others }: Charted): ChartData {
  const drawn = groups.slice(0, DRAWN_MAX).map((group, place) => ({
    name: nameOf(group),
    values: starts.map((start) => group.byStart.get(start) ?? 0),
    colour: `--series-${place + 1}` as const,
  }))
  const rest = groups.slice(DRAWN_MAX)
  const values = starts.map((start) => rest.reduce((sum, { byStart }) => sum + (byStart.get(start) ?? 0), 0))
  return {
    starts,
    granularity,
    zone,
    kind: 'bars',
    series: rest.length === 0 ? drawn : [...drawn, { name: others, values, colour: '--series-8' }],
  }
}
