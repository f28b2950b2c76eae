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
