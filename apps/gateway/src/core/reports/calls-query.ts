import { refuseField } from '#core/base/errors/errors.ts'
import { CALL_FACES, CALL_KINDS, type CallOutcome } from '#core/ledger/call-kinds.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import {
  type ConditionsInput,
  knownReason,
  NAME_LENGTH_MAX,
  OUTCOME_WORDS,
  oneOf,
  parseConditions,
  REQUEST_ID_LENGTH_MAX,
  statesOf,
  textOf,
} from './query-fields.ts'
import { orderedRangeOf, type RangeInput } from './range/range-input.ts'

/** A query for rows of the ledger as the faces receive it, before any check. `outcome` may also have `running`. */
export interface CallsInput extends ConditionsInput, RangeInput {
  readonly kind?: string | undefined
  readonly face?: string | undefined
  /** Empty for calls whose deployment is not known. */
  readonly deployment?: string | undefined
  readonly requestId?: string | undefined
  /** The id by which the client names the conversation. */
  readonly conversation?: string | undefined
  /** Why the call failed. */
  readonly reason?: string | undefined
  /** Whether the reply ended with a question to the user. */
  readonly paused?: boolean | undefined
  readonly firstChunkMsMin?: number | undefined
  readonly durationMsMin?: number | undefined
  readonly totalTokensMin?: number | undefined
}

/** How a call ended, or that it has not. */
export type CallState = CallOutcome | 'running'

export type CallsQuery = Partial<ReturnType<typeof parseCallsQuery>>

const STATE_WORDS: Readonly<Record<string, readonly CallState[]>> = {
  ...OUTCOME_WORDS,
  running: ['running'],
}

/** @throws Problem `invalid_request` with all mistakes */
export function parseCallsQuery(input: CallsInput) {
  const { kind, face, deployment, outcome, requestId, conversation } = input
  const { reason, paused, firstChunkMsMin, durationMsMin, totalTokensMin } = input
  const { range, conditions, ...own } = allOf({
    conditions: () => parseConditions(input),
    range: () => orderedRangeOf(input),
    kind: () => ifGiven(kind, (word) => oneOf('kind', CALL_KINDS, word)),
    face: () => ifGiven(face, (word) => oneOf('face', CALL_FACES, word)),
    deployment: () => textOf('deployment', deployment, NAME_LENGTH_MAX),
    outcome: () => ifGiven(outcome, (words) => statesOf(words, STATE_WORDS)),
    requestId: () => textOf('requestId', requestId, REQUEST_ID_LENGTH_MAX),
    conversation: () => textOf('conversation', conversation, NAME_LENGTH_MAX),
    reason: () => ifGiven(reason, knownReason),
    firstChunkMsMin: () => ifGiven(firstChunkMsMin, (number) => wholeNumber('firstChunkMsMin', number)),
    durationMsMin: () => ifGiven(durationMsMin, (number) => wholeNumber('durationMsMin', number)),
    totalTokensMin: () => ifGiven(totalTokensMin, (number) => wholeNumber('totalTokensMin', number)),
  })
  return { ...conditions, ...own, paused, ...range }
}

/** The largest number that the columns hold. */
export const AMOUNT_MAX = 2_147_483_647

function wholeNumber(field: string, number: number): number {
  return Number.isInteger(number) && number >= 0 && number <= AMOUNT_MAX
    ? number
    : refuseField([field], `expected a whole number from 0 to ${AMOUNT_MAX}.`)
}
