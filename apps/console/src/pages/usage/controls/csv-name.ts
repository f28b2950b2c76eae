import { toWallTime } from '../../../report/zone.ts'
import { groupsOf, rangeOf, type UsageSearch } from '../usage-search.ts'

/** What the file has and when that was, such as `trunkline-usage-by-agent-2026-10-01-to-2026-10-31.csv`. */
export function csvName(search: UsageSearch, now: Date): string {
  const { zone, group, by, table, compare } = search
  const [from, to] = rangeOf(search, zone, now)
  const dayOf = (at: Date) => toWallTime(at, zone).slice(0, 10)
  const groups = groupsOf(group).map((name) => name.replace('_', '-'))
  const parts = [
    'trunkline-usage',
    ...(groups.length === 0 ? [] : ['by', ...groups]),
    ...(table === 'time' ? [{ hour: 'hourly', day: 'daily', month: 'monthly' }[by]] : []),
    dayOf(from),
    'to',
    // The end does not belong to the range.
    dayOf(new Date(to.getTime() - 1)),
    ...(compare === true ? ['compared'] : []),
  ]
  return `${parts.join('-')}.csv`
}
