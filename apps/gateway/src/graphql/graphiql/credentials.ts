import type { GraphQLField, GraphQLSchema } from 'graphql'

/** Which credential an operation takes, in the words of its description. */
export interface Credential {
  readonly words: string
  /** The fields of Query, Mutation and Subscription that take it. */
  readonly fields: readonly string[]
  /** Whether an API key is the first that the words name. */
  readonly isKey: boolean
}

/**
 * Which credentials the operations of a schema take. The description of every field of Query, Mutation and Subscription says
 * it in a sentence that begins with "Takes" or "Needs no", so that it stands in the documentation as well.
 */
export function credentialsOf(schema: GraphQLSchema): Credential[] {
  const byWords = Map.groupBy(rootFieldsOf(schema), ({ description }) => credentialIn(description ?? ''))
  return [...byWords].flatMap(([words, takers]) =>
    words === undefined
      ? []
      : [
          {
            words,
            fields: [...new Set(takers.map(({ name }) => name))],
            isKey: /^Takes (?:an|any) API key/.test(words),
          },
        ],
  )
}

/** The fields of Query, Mutation and Subscription. */
export function rootFieldsOf(schema: GraphQLSchema): GraphQLField<unknown, unknown>[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  return roots.flatMap((root) => Object.values(root?.getFields() ?? {}))
}

/** The sentence of a description that says which credential is taken. */
export function credentialIn(description: string): string | undefined {
  return /\b(?:Takes|Needs no) [^.]*\./.exec(description)?.[0]
}
