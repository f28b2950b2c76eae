import type { RecordFilter } from '../../charts/chart-data.ts'
import type { GroupNumbersFragment } from '../../generated/graphql.ts'
import type { Metric } from './usage-search.ts'

export interface GroupColumn {
  readonly name:
    | 'calls'
    | 'failures'
    | 'tokens'
    | 'firstChunkP50'
    | 'firstChunkP95'
    | 'durationP50'
    | 'durationP95'
    | 'durationP99'
  readonly kind: 'count' | 'percentile'
  read(numbers: GroupNumbersFragment): number | null
  /** The calls that it counts or, for a duration, those that took as long; undefined where no list has these. */
  filter?(value: number): RecordFilter
  readonly isBadWhenUp?: boolean
  /** Whether it stands beside the number of the period before. */
  readonly isCompared?: boolean
}

const COUNTS: readonly GroupColumn[] = [
  { name: 'calls', kind: 'count', filter: () => ({}), read: ({ calls }) => calls },
  {
    name: 'failures',
    kind: 'count',
    filter: () => ({ outcome: 'FAILED' }),
    isBadWhenUp: true,
    read: ({ failedCalls }) => failedCalls,
  },
  { name: 'tokens', kind: 'count', filter: () => ({}), read: ({ totalTokens }) => totalTokens },
]

const slow = { kind: 'percentile', isBadWhenUp: true } as const
const FIRST_CHUNK: readonly GroupColumn[] = [
  { ...slow, name: 'firstChunkP50', read: ({ firstChunkMs }) => firstChunkMs?.p50 ?? null },
  { ...slow, name: 'firstChunkP95', read: ({ firstChunkMs }) => firstChunkMs?.p95 ?? null },
]
const slower = { ...slow, filter: (value: number) => ({ ms: Math.floor(value) }) }
const DURATION: readonly GroupColumn[] = [
  { ...slower, name: 'durationP50', read: ({ durationMs }) => durationMs?.p50 ?? null },
  { ...slower, name: 'durationP95', read: ({ durationMs }) => durationMs?.p95 ?? null },
  { ...slower, name: 'durationP99', read: ({ durationMs }) => durationMs?.p99 ?? null },
]

/** The columns of the totals. A comparison takes three for each number, so only those of the metric that is shown are there. */
export function columnsOf(show: Metric, isCompared: boolean): readonly GroupColumn[] {
  if (!isCompared) return [...COUNTS, ...FIRST_CHUNK, ...DURATION]
  const compared = (columns: readonly GroupColumn[]) =>
    columns.map((column) => ({ ...column, isCompared: true }))
  if (show === 'firstChunk') return [...COUNTS.slice(0, 1), ...compared(FIRST_CHUNK)]
  if (show === 'duration') return [...COUNTS.slice(0, 1), ...compared(DURATION)]
  return compared(COUNTS)
}
