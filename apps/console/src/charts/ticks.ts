import { offsetMs } from '../report/zone.ts'
import type { ChartData } from './chart-data.ts'

const HOUR_MS = 3_600_000
const HOUR_STEPS = [1, 2, 3, 6, 12]

/**
 * The indices of the buckets that are named on the time axis, at most `max` of them. Hours are named at even times of the
 * day, and by days alone where there are too many of them; days and months so that the last one has a name.
 */
export function ticks(
  { starts, granularity, zone }: Pick<ChartData, 'starts' | 'granularity' | 'zone'>,
  max: number,
): number[] {
  const all = [...starts.keys()]
  if (granularity !== 'HOUR') return thinned(all, max)
  const hours = starts.map((start) => {
    const at = new Date(start)
    return new Date(at.getTime() + offsetMs(at, zone)).getTime() / HOUR_MS
  })
  for (const step of HOUR_STEPS) {
    const named = all.filter((index) => ((hours[index] ?? 0) % 24) % step === 0)
    if (named.length <= max) return named
  }
  return thinned(
    all.filter((index) => (hours[index] ?? 0) % 24 === 0),
    max,
  )
}

function thinned(indices: readonly number[], max: number): number[] {
  const step = Math.ceil(indices.length / Math.max(max, 1))
  return indices.filter((_, place) => (indices.length - 1 - place) % step === 0)
}

/** Counts and milliseconds are whole numbers, so there are no lines between them. */
const COUNT_STEPS = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat()
/** Times are round by the second, the minute and the hour. */
const TIME_STEPS = [
  ...COUNT_STEPS.slice(0, 9),
  ...[1_000, 60_000].flatMap((unit) => [1, 2, 5, 10, 20, 30].map((step) => step * unit)),
  ...COUNT_STEPS.map((step) => step * HOUR_MS),
]

/** The grid lines above zero, three to five of them at round values. The last one is the top of the chart. */
export function valueTicks(max: number, kind: ChartData['kind']): number[] {
  const step = (kind === 'lines' ? TIME_STEPS : COUNT_STEPS).find((each) => max <= 5 * each) ?? max / 5
  return Array.from({ length: Math.max(3, Math.ceil(max / step)) }, (_, line) => (line + 1) * step)
}
