import { client } from '../../session/gateway.ts'
import { SaveCsv } from '../../ui/save-csv.tsx'
import { groupsOf, rangeOf } from './usage-search.ts'
import { useUsageSearch } from './use-usage-search.ts'

/** Saves the report as the gateway writes it: every bucket of every group, and all of its numbers. */
export function CsvButton() {
  const { search } = useUsageSearch()
  async function read(): Promise<Response> {
    const { to, zone, by, group, agent, key, user } = search
    const [from] = rangeOf(search, zone, new Date())
    return await client.usage.csv({
      from: from.toISOString(),
      timezone: zone,
      granularity: by,
      group_by: groupsOf(group),
      ...(to !== undefined && { to }),
      ...(agent !== undefined && { agent }),
      ...(key !== undefined && { key_id: key }),
      ...(user !== undefined && { user_id: user }),
    })
  }
  return <SaveCsv name="usage.csv" read={read} />
}
