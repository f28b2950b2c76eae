import { tookAtLeast } from '../../charts/calls-link.ts'
import type { RecordFilter } from '../../charts/chart-data.ts'
import type { NumbersFragment } from '../../generated/graphql.ts'
import { judgeFailures, judgeTime, type Verdict } from '../../report/verdict.ts'
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
  read(numbers: NumbersFragment): number | null
  /** The calls that it counts or, for a time, those that took at least as long. */
  filter(value: number): RecordFilter
  /** What a change of it means; more calls are neither good nor bad. */
  judge?(now: NumbersFragment, before: NumbersFragment): Verdict
}

const COUNTS: readonly GroupColumn[] = [
  { name: 'calls', kind: 'count', filter: () => ({}), read: ({ calls }) => calls },
  {
    name: 'failures',
    kind: 'count',
    filter: () => ({ outcome: 'FAILED' }),
    judge: judgeFailures,
    read: ({ failedCalls }) => failedCalls,
  },
  { name: 'tokens', kind: 'count', filter: () => ({}), read: ({ totalTokens }) => totalTokens },
]

const FIRST_CHUNK: readonly GroupColumn[] = [
  time('firstChunkP50', 'firstChunkMs', 'p50'),
  time('firstChunkP95', 'firstChunkMs', 'p95'),
]
const DURATION: readonly GroupColumn[] = [
  time('durationP50', 'durationMs', 'p50'),
  time('durationP95', 'durationMs', 'p95'),
  time('durationP99', 'durationMs', 'p99'),
]

function time(
  name: GroupColumn['name'],
  field: 'firstChunkMs' | 'durationMs',
  quantile: 'p50' | 'p95' | 'p99',
): GroupColumn {
  const read = (numbers: NumbersFragment) => numbers[field]?.[quantile]
  return {
    name,
    kind: 'percentile',
    filter: tookAtLeast(field),
    read: (numbers) => read(numbers) ?? null,
    judge: (now, before) => judgeTime(read(now), read(before)),
  }
}

/** The columns of the totals. A comparison takes more room for each number, so only those of the metric that is shown are there. */
export function columnsOf(show: Metric, isCompared: boolean): readonly GroupColumn[] {
  if (!isCompared) return [...COUNTS, ...FIRST_CHUNK, ...DURATION]
  if (show === 'firstChunk') return [...COUNTS.slice(0, 1), ...FIRST_CHUNK]
  if (show === 'duration') return [...COUNTS.slice(0, 1), ...DURATION]
  return COUNTS
}
