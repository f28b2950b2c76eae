import { client } from '../../../session/gateway.ts'
import { SaveCsv } from '../../../ui/save-csv.tsx'
import { periodBefore } from '../period-before.ts'
import { groupsOf, rangeOf } from '../usage-search.ts'
import { useUsageSearch } from '../use-usage-search.ts'
import { csvName } from './csv-name.ts'

/** Saves the table that is shown, of all groups: totals or buckets, with names and the times of the zone. */
export function CsvButton() {
  const { search } = useUsageSearch()
  async function read(): Promise<Response> {
    const { zone, by, group, agent, key, user, compare, table } = search
    const now = new Date()
    const [from, to] = rangeOf(search, zone, now)
    const [compareFrom, compareTo] = periodBefore(search, now)
    return await client.usage.csv({
      from,
      to,
      timezone: zone,
      granularity: by,
      group_by: groupsOf(group),
      rows: table === 'groups' ? 'totals' : 'points',
      labels: true,
      ...(compare === true && { compare_from: compareFrom, compare_to: compareTo }),
      ...(agent !== undefined && { agent }),
      ...(key !== undefined && { key_id: key }),
      ...(user !== undefined && { owner_id: user }),
    })
  }
  return <SaveCsv name={csvName(search, new Date())} read={read} />
}
