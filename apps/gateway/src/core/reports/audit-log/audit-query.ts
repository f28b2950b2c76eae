import { validate } from 'uuid'
import { refuseField } from '#core/base/errors/errors.ts'
import { NAME_LENGTH_MAX, oneOf, REQUEST_ID_LENGTH_MAX, textOf } from '#core/reports/query-fields.ts'
import { orderedRangeOf, type RangeInput } from '#core/reports/range/range-input.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'

/** What came of the operation that an event records. */
export const AUDIT_RESULTS = ['done', 'refused', 'failed'] as const

/** A query for events of the audit log as the faces receive it, before any check. All conditions must hold. */
export interface AuditInput extends RangeInput {
  /** Who did it: the user, or the key. */
  readonly userId?: string | undefined
  readonly keyId?: string | undefined
  readonly operation?: string | undefined
  readonly result?: string | undefined
  /** What it was done to, and its id. */
  readonly target?: string | undefined
  readonly targetId?: string | undefined
  readonly requestId?: string | undefined
}

export type AuditQuery = Partial<ReturnType<typeof parseAuditQuery>>

/** @throws Problem `invalid_request` with all mistakes */
export function parseAuditQuery(input: AuditInput) {
  const { userId, keyId, operation, result, target, targetId, requestId } = input
  const { range, ...conditions } = allOf({
    range: () => orderedRangeOf(input),
    userId: () => ifGiven(userId, (id) => uuidOf('userId', id)),
    keyId: () => ifGiven(keyId, (id) => uuidOf('keyId', id)),
    operation: () => textOf('operation', operation, NAME_LENGTH_MAX),
    result: () => ifGiven(result, (word) => oneOf('result', AUDIT_RESULTS, word)),
    target: () => textOf('target', target, NAME_LENGTH_MAX),
    targetId: () => textOf('targetId', targetId, NAME_LENGTH_MAX),
    requestId: () => textOf('requestId', requestId, REQUEST_ID_LENGTH_MAX),
  })
  return { ...conditions, ...range }
}

/** @throws Problem `invalid_request` */
export function requireEventNumber(n: number): void {
  if (!Number.isSafeInteger(n) || n < 1) refuseField(['n'], 'expected an integer of at least 1.')
}

/** Events name users and keys that may be gone, so that only the form of an id can be checked. */
function uuidOf(field: string, id: string): string {
  return validate(id) ? id : refuseField([field], 'expected a UUID.')
}
