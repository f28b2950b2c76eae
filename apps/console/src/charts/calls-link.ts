import type { RecordFilter, RecordsLink } from './chart-data.ts'

/** The calls behind a percentile are those that took at least as long. */
export function tookAtLeast(time: 'firstChunkMs' | 'durationMs'): (ms: number) => RecordFilter {
  return (ms) => ({ [time === 'firstChunkMs' ? 'firstMs' : 'ms']: Math.floor(ms) })
}

/** Makes the ways to the calls of a chart, of which all have something in common. */
export function callsLink(common: RecordFilter = {}) {
  return (from: string, to: string, filter: RecordFilter = {}): RecordsLink => ({
    to: '/calls',
    // The page of the calls reads what it knows of it.
    search: { ...common, ...filter, from, to } as RecordsLink['search'],
  })
}
