/** Root fields that take the API key, as their REST twins do; all others take the access token. */
const KEY_FIELDS: readonly string[] = ['chat', 'chatResumed', 'currentApiKey']

/** A string without an end is one too, or each quote in it would be taken for the beginning of another. */
const TEXT_OR_COMMENT = /"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"?|#[^\n\r]*/g

/** What the SDK must know of a document before it is sent. */
export interface GraphqlOperation {
  readonly credential: 'key' | 'token'
  readonly isMutation: boolean
}

/**
 * Reads the operations and root fields of a document. Braces and parentheses are counted instead of parsing, so that queries do
 * not need the `graphql` package.
 */
export function readOperation(document: string): GraphqlOperation {
  const tokens = document.replace(TEXT_OR_COMMENT, ' ').matchAll(/[{}()]|\$?[A-Za-z_]\w*/g)
  let depth = 0
  let parentheses = 0
  let isMutation = false
  let takesKey = false
  for (const [token] of tokens) {
    if (token === '(') parentheses++
    else if (token === ')') parentheses--
    else if (parentheses > 0) continue
    else if (token === '{') depth++
    else if (token === '}') depth--
    else if (depth === 0) isMutation ||= token === 'mutation'
    else if (depth === 1) takesKey ||= KEY_FIELDS.includes(token)
  }
  return { credential: takesKey ? 'key' : 'token', isMutation }
}
