import { client } from '../../session/gateway.ts'
import { SaveCsv } from '../../ui/save-csv.tsx'
import { type RefusalsSearch, rangeOf } from './refusals-search.ts'

interface RefusalsCsvProps {
  readonly search: RefusalsSearch
  readonly now: Date
}

/** Saves every single refusal that matches. */
export function RefusalsCsv({ search, now }: RefusalsCsvProps) {
  const { agent, key, user, reason, limit, requestId } = search
  const read = () =>
    client.refusals.csv({
      ...rangeOf(search, now),
      ...(agent && { agent }),
      ...(key && { key_id: key }),
      ...(user && { owner_id: user }),
      ...(reason && { reason }),
      ...(limit && { limit_name: limit }),
      ...(requestId && { request_id: requestId }),
    })
  return <SaveCsv name="refusals.csv" read={read} />
}
