import { type DocumentNode, GraphQLError, parse } from 'graphql'
import { Problem } from '#core/errors/errors.ts'
import { graphqlErrorOf } from '../errors.ts'

/** @throws GraphQLError `document_malformed`, which says where the document is wrong and nothing of what is there */
export function parseDocument(text: string): DocumentNode {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const { source, positions } = error
    const [place] = error.locations ?? []
    const where = place === undefined ? '' : ` at line ${place.line}, column ${place.column}`
    const problem = new Problem('document_malformed', {
      detail: `The GraphQL document cannot be parsed${where}.`,
    })
    throw graphqlErrorOf(problem, { at: { source, positions } })
  }
}
