import type { RecordFilter, RecordsLink } from './chart-data.ts'

/** Makes the ways to the calls of a chart, of which all have something in common. */
export function callsLink(common: RecordFilter = {}) {
  return (from: string, to: string, filter: RecordFilter = {}): RecordsLink => ({
    to: '/calls',
    // The page of the calls reads what it knows of it.
    search: { ...common, ...filter, from, to } as RecordsLink['search'],
  })
}
