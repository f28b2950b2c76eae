import {
  AGENT_LENGTH_MAX,
  knownReason,
  NAME_LENGTH_MAX,
  REQUEST_ID_LENGTH_MAX,
  textOf,
} from '#core/reports/query-fields.ts'
import { orderedRangeOf, type RangeInput } from '#core/reports/range/range-input.ts'
import type { ScopeFilter } from '#core/reports/scope.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'

/** The conditions that single refusals and their counts share, as the faces receive them. */
export interface RefusalConditionsInput extends ScopeFilter {
  /** Empty for requests that named none, `other` for those that named one outside the configuration. */
  readonly agent?: string | undefined
  readonly reason?: string | undefined
  /** The limit or the part of the gateway that refused; lists have `limit` for the size of a page. */
  readonly limitName?: string | undefined
}

/** A query for single refusals as the faces receive it, before any check. */
export interface RefusalsInput extends RefusalConditionsInput, RangeInput {
  readonly requestId?: string | undefined
}

export type RefusalsQuery = Partial<ReturnType<typeof parseRefusalsQuery>>

/** @throws Problem `invalid_request` with all mistakes */
export function parseRefusalsQuery(input: RefusalsInput) {
  const { conditions, range, requestId } = allOf({
    conditions: () => parseRefusalConditions(input),
    range: () => orderedRangeOf(input),
    requestId: () => parseRequestId(input.requestId),
  })
  return { ...conditions, ...range, requestId }
}

/** @throws Problem `invalid_request` */
export function parseRequestId(text: string | undefined): string | undefined {
  return textOf('requestId', text, REQUEST_ID_LENGTH_MAX)
}

/** @throws Problem `invalid_request` with all mistakes */
export function parseRefusalConditions({
  keyId,
  ownerId,
  agent,
  reason,
  limitName,
}: RefusalConditionsInput): RefusalConditionsInput {
  const words = allOf({
    agent: () => textOf('agent', agent, AGENT_LENGTH_MAX),
    reason: () => ifGiven(reason, knownReason),
    limitName: () => textOf('limitName', limitName, NAME_LENGTH_MAX),
  })
  return { keyId, ownerId, ...words }
}
