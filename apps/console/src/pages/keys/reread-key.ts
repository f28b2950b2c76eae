import {
  AuditEventsDocument,
  KeyChoicesDocument,
  KeyDocument,
  KeysDocument,
} from '../../generated/graphql.ts'
import { invalidate } from '../../session/queries.ts'

/** Reads again what shows a key, after it was changed. */
export function rereadKey(): Promise<unknown> {
  return invalidate(KeyDocument, AuditEventsDocument, KeysDocument, KeyChoicesDocument)
}
