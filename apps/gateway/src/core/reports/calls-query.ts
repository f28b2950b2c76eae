import { type CallOutcome, OUTCOMES } from '#core/ledger/ledger.ts'
import {
  AGENT_LENGTH_MAX,
  CONVERSATION_LENGTH_MAX,
  oneOf,
  REQUEST_ID_LENGTH_MAX,
  requireOrder,
  textOf,
  timeOf,
} from './query-fields.ts'
import type { ScopeFilter } from './scope.ts'

/** A query for rows of the ledger as the faces receive it, before any check. */
export interface CallsInput extends ScopeFilter {
  readonly agent?: string | undefined
  /** An outcome, or `running` for calls that have not ended. */
  readonly outcome?: string | undefined
  readonly requestId?: string | undefined
  /** The id by which the client names the conversation. */
  readonly conversation?: string | undefined
  /** ISO 8601 with a zone, or a date, which begins at midnight UTC. */
  readonly from?: string | Date | undefined
  /** The end of the range, exclusive. */
  readonly to?: string | Date | undefined
}

export interface CallsQuery extends ScopeFilter {
  readonly agent?: string | undefined
  readonly outcome?: CallOutcome | 'running' | undefined
  readonly requestId?: string | undefined
  readonly conversation?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

export const OUTCOMES_OR_RUNNING = [...OUTCOMES, 'running' as const]

/** @throws Problem `invalid_request` */
export function parseCallsQuery(input: CallsInput): CallsQuery {
  const { agent, outcome, requestId, conversation, keyId, userId } = input
  const from = input.from === undefined ? undefined : timeOf('from', input.from)
  const to = input.to === undefined ? undefined : timeOf('to', input.to)
  requireOrder(from, to)
  return {
    keyId,
    userId,
    agent: agent === undefined ? undefined : textOf('agent', agent, AGENT_LENGTH_MAX),
    outcome: outcome === undefined ? undefined : oneOf('outcome', OUTCOMES_OR_RUNNING, outcome),
    requestId: requestId === undefined ? undefined : textOf('requestId', requestId, REQUEST_ID_LENGTH_MAX),
    conversation:
      conversation === undefined ? undefined : textOf('conversation', conversation, CONVERSATION_LENGTH_MAX),
    from,
    to,
  }
}
