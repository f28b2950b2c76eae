import { client } from '../../session/gateway.ts'
import { SaveCsv } from '../../ui/save-csv.tsx'
import { type AuditSearch, rangeOf } from './audit-search.ts'

interface AuditCsvProps {
  readonly search: AuditSearch
  readonly now: Date
}

/** Saves every event that matches, with its states as they are hashed. */
export function AuditCsv({ search, now }: AuditCsvProps) {
  const { user, key, operation, result, target, targetId, requestId } = search
  const read = () =>
    client.audit.csv({
      ...rangeOf(search, now),
      ...(user && { user_id: user }),
      ...(key && { key_id: key }),
      ...(operation && { operation }),
      ...(result && { result: lowerCase(result) }),
      ...(target && { target }),
      ...(targetId && { target_id: targetId }),
      ...(requestId && { request_id: requestId }),
    })
  return <SaveCsv name="audit.csv" read={read} />
}

function lowerCase<Word extends string>(word: Word): Lowercase<Word> {
  return word.toLowerCase() as Lowercase<Word>
}
