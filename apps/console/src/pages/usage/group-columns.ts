import type { RecordFilter } from '../../charts/chart-data.ts'
import type { GroupNumbersFragment } from '../../generated/graphql.ts'
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
  read(numbers: GroupNumbersFragment): number | null
  /** The calls that it counts or, for a duration, those that took as long; undefined where no list has these. */
  filter?(value: number): RecordFilter
  /** What a change of it means; more calls are neither good nor bad. */
  judge?(now: GroupNumbersFragment, before: GroupNumbersFragment): Verdict
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
  time('firstChunkP50', ({ firstChunkMs }) => firstChunkMs?.p50),
  time('firstChunkP95', ({ firstChunkMs }) => firstChunkMs?.p95),
]
const slower = { filter: (value: number) => ({ ms: Math.floor(value) }) }
const DURATION: readonly GroupColumn[] = [
  { ...time('durationP50', ({ durationMs }) => durationMs?.p50), ...slower },
  { ...time('durationP95', ({ durationMs }) => durationMs?.p95), ...slower },
  { ...time('durationP99', ({ durationMs }) => durationMs?.p99), ...slower },
]

function time(
  name: GroupColumn['name'],
  read: (numbers: GroupNumbersFragment) => number | null | undefined,
): GroupColumn {
  return {
    name,
    kind: 'percentile',
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
