import { type DocumentNode, GraphQLError, Kind, parse } from 'graphql'
import { Problem } from '#core/base/errors/errors.ts'
import { graphqlErrorOf } from '../errors.ts'

/**
 * Parses a document. One with more tokens than these is returned without its definitions, and as if it had one token more.
 *
 * @throws GraphQLError `document_malformed`, which says where the document is wrong and nothing of what is there
 */
export function parseDocument(text: string, tokensMax = Number.POSITIVE_INFINITY): DocumentNode {
  try {
    return parse(text, { maxLexicalTokens: tokensMax })
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    if (error.message.startsWith(`Syntax Error: Document contains more than ${tokensMax} tokens.`)) {
      return { kind: Kind.DOCUMENT, definitions: [], tokenCount: tokensMax + 1 }
    }
    const { source, positions } = error
    const [place] = error.locations ?? []
    const where = place === undefined ? '' : ` at line ${place.line}, column ${place.column}`
    const detail = `The GraphQL document cannot be parsed${where}.`
    throw graphqlErrorOf(new Problem('document_malformed', { detail }), { at: { source, positions } })
  }
}
