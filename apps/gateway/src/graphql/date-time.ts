import { GraphQLError, GraphQLScalarType, Kind } from 'graphql'

/**
 * Times. A time that a client sends stays text: the services parse it by `parseTimestamp` of core, so that every face refuses
 * the same times in the same words.
 */
export const DateTimeScalar = new GraphQLScalarType<string | Date, string>({
  name: 'DateTime',
  description: 'A time in ISO 8601 with a zone, such as `2027-01-31T00:00:00.000Z`. Results are in UTC.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  coerceOutputValue: (value) => (value as Date).toISOString(),
  coerceInputValue: textOf,
  coerceInputLiteral: (node) => textOf(node.kind === Kind.STRING ? node.value : undefined),
})

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new GraphQLError('expected an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z.')
}
