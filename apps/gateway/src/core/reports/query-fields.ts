import { ERRORS, refuseField } from '#core/base/errors/errors.ts'
import { type CallOutcome, FAILED_OUTCOMES, OUTCOMES } from '#core/ledger/call-kinds.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import { requireShort } from '#core/requests/input/input-rules.ts'
import type { ScopeFilter } from './scope.ts'

/*
 * Fields that the queries for usage share. They are checked here because not every face has a schema in front of the
 * services, and invalid input must be rejected before it causes an error in the database.
 */

/** Which calls a report counts or a list has, as the faces receive it. All conditions must hold. */
export interface ConditionsInput extends ScopeFilter {
  readonly agent?: string | undefined
  /** Empty for calls without an app; likewise `model` and `endUser`. */
  readonly app?: string | undefined
  readonly model?: string | undefined
  readonly endUser?: string | undefined
  /** Outcomes of which one must be that of the call; `failed` stands for all failures. */
  readonly outcome?: readonly string[] | undefined
}

export interface Conditions extends Omit<ConditionsInput, 'outcome'> {}

/** @throws Problem `invalid_request` with all mistakes */
export function parseConditions({ agent, app, model, endUser, keyId, ownerId }: ConditionsInput): Conditions {
  const texts = allOf({
    agent: () => textOf('agent', agent, AGENT_LENGTH_MAX),
    app: () => textOf('app', app, NAME_LENGTH_MAX),
    model: () => textOf('model', model, NAME_LENGTH_MAX),
    endUser: () => textOf('endUser', endUser, NAME_LENGTH_MAX),
  })
  return { keyId, ownerId, ...texts }
}

/** What the words for outcomes stand for in a report. */
export const OUTCOME_WORDS: Readonly<Record<string, readonly CallOutcome[]>> = {
  ...Object.fromEntries(OUTCOMES.map((outcome) => [outcome, [outcome]])),
  failed: FAILED_OUTCOMES,
}

/** The states that any of the words stands for. */
export function statesOf<State extends string>(
  words: readonly string[],
  known: Readonly<Record<string, readonly State[]>>,
): readonly State[] {
  const expected = `expected a list of ${Object.keys(known).join(', ')}.`
  if (words.length === 0) refuseField(['outcome'], expected)
  const states = words.flatMap((word) => {
    const name = word.trim()
    return (Object.hasOwn(known, name) ? known[name] : undefined) ?? refuseField(['outcome'], expected)
  })
  return [...new Set(states)]
}

export function oneOf<Word extends string>(field: string, words: readonly Word[], text: string): Word {
  return words.find((word) => word === text) ?? refuseField([field], `expected one of ${words.join(', ')}.`)
}

/** A mistyped word would otherwise find nothing. */
export function knownReason(word: string): string {
  if (!Object.hasOwn(ERRORS, word)) {
    refuseField(['reason'], 'expected a reason of the table of errors, such as rate_limited.')
  }
  return word
}

/** PostgreSQL texts cannot contain NUL, and no name that is searched for contains control characters or lone surrogates. */
const CONTROL_OR_SURROGATE = /[\p{Cc}\p{Cs}]/u

export function textOf(field: string, text: string | undefined, lengthMax: number): string | undefined {
  if (text === undefined) return undefined
  requireShort([field], text, lengthMax)
  if (CONTROL_OR_SURROGATE.test(text)) {
    refuseField([field], `must not contain control characters.`)
  }
  return text
}

export const AGENT_LENGTH_MAX = 32
/** Ids of apps, end users and conversations, and names of models. */
export const NAME_LENGTH_MAX = 256
export const REQUEST_ID_LENGTH_MAX = 128
