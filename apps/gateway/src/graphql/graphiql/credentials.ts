import type { GraphQLField, GraphQLSchema } from 'graphql'

/** The fields of Query, Mutation and Subscription that take an API key rather than an access token. */
export function keyFieldsOf(schema: GraphQLSchema): string[] {
  const takesKey = ({ description }: GraphQLField<unknown, unknown>) =>
    /^Takes (?:an|any) API key/.test(credentialIn(description ?? '') ?? '')
  return [
    ...new Set(
      rootFieldsOf(schema)
        .filter(takesKey)
        .map(({ name }) => name),
    ),
  ]
}

/** The fields of Query, Mutation and Subscription. */
export function rootFieldsOf(schema: GraphQLSchema): GraphQLField<unknown, unknown>[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  return roots.flatMap((root) => Object.values(root?.getFields() ?? {}))
}

/** The sentence of a description that says which credential is taken. Every field of Query, Mutation and Subscription has one. */
export function credentialIn(description: string): string | undefined {
  // Linear time: not needed for our own descriptions.
  return /\b(?:Takes|Needs no) [^.]*\./.exec(description)?.[0]
}
