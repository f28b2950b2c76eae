import { conditionsIn } from '../../filters/conditions.ts'
import { rangeOf } from '../../filters/range.ts'
import { AUDIT } from '../../generated/conditions.ts'

/** By default all: events are few, and what is looked for may be old. */
export const AUDIT_RANGE = rangeOf(['24h', '7d', '30d', 'all'], 'all')

/** Which events are listed, as the address says it. */
export function auditSearch(search: Record<string, unknown>) {
  return { ...AUDIT_RANGE.in(search), ...conditionsIn(AUDIT, search) }
}
