import { ERRORS, type ErrorReason as Reason } from '#core/base/errors/errors.ts'
import { builder } from '../builder.ts'

/** The reasons that GraphQL never gives, neither as a code nor for a call of the ledger. */
export const REASONS_OF_OTHER_FACES = [
  // Models are how the OpenAI-compatible routes name agents.
  'model_not_found',
  // A response is continued on the Responses route alone, and refused before it is a call.
  'previous_response_not_found',
  // Found by the HTTP parser, which knows no path and so no form of GraphQL.
  'headers_too_large',
] as const satisfies readonly Reason[]

const OTHERS: ReadonlySet<string> = new Set(REASONS_OF_OTHER_FACES)

export type GraphqlReason = Exclude<Reason, (typeof REASONS_OF_OTHER_FACES)[number]>

export function isGraphqlReason(word: string | null): word is GraphqlReason {
  return word !== null && Object.hasOwn(ERRORS, word) && !OTHERS.has(word)
}

const REASONS = Object.keys(ERRORS).filter(isGraphqlReason)

/** The names are the values of `extensions.code`, letter by letter, so that clients compare them with the generated type. */
export const ErrorReason = builder.enumType('ErrorReason', {
  description:
    'Why something was refused or failed: the values of `extensions.code` of errors, and of the reasons of calls.',
  values: Object.fromEntries(
    REASONS.map((value) => [value, { value, description: ERRORS[value].text }]),
  ) as Record<GraphqlReason, { value: GraphqlReason; description: string }>,
})
