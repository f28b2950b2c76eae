import type { Trunkline } from './client.ts'
import { StatusError } from './errors.ts'
import { type AnyDocument, documentText, type NoDocumentNode } from './graphql/document-text.ts'
import { type GraphqlOperation, readOperation } from './graphql/graphql-operation.ts'
import type { GraphqlResult, GraphqlResultError } from './graphql/graphql-result.ts'
import { readSubscription } from './graphql/read-subscription.ts'
import type { CallOptions, ChatStreamOptions } from './options.ts'
import { dropped, onAbort } from './transport/on-abort.ts'
import type { Repeatable } from './transport/retries.ts'
import { statusError } from './transport/status-error.ts'
import { LONG_TIMEOUT_MS, type RequestSpec } from './transport/transport.ts'

/**
 * A document with the types of its result and its variables: a `TypedDocumentString` of GraphQL Codegen
 * (`documentMode: 'string'`), or a plain string, whose result is unknown.
 */
export interface GraphqlDocument<Data, Variables> {
  /** Returns the text of the document. */
  toString(): string
  /** Refuses a `DocumentNode`, as Apollo Client and urql take it: `print` of the package `graphql` gives its text. */
  readonly kind?: NoDocumentNode
  /** Carries the types, and does not exist at run time. */
  __apiType?: (variables: Variables) => Data
}

/** Variables and options; variables may be left out where the document requires none. */
export type GraphqlArguments<Variables, Options = CallOptions> =
  Record<string, never> extends Variables
    ? [variables?: Variables, options?: Options]
    : [variables: Variables, options?: Options]

/** GraphQL for a client; see {@link withGraphQL}. */
export interface GraphqlClient {
  /**
   * Executes a query or a mutation. An error of any field throws a `TrunklineError` whose `reason` is `extensions.code`; the whole
   * result, with the data of the other fields, is its `cause`.
   *
   * @example
   * ```ts
   * const { agents } = await gql.query<{ agents: { id: string }[] }>('{ agents { id } }')
   * console.log(agents.map(({ id }) => id))
   * ```
   */
  query<Data = unknown, Variables = Record<string, unknown>>(
    document: GraphqlDocument<Data, Variables>,
    ...rest: GraphqlArguments<Variables>
  ): Promise<Data>
  /**
   * Runs a subscription over server-sent events. Leaving the loop ends it, and stops the agent where it is a chat. Before
   * the first item it is retried as other requests are; after it, never. A server that falls silent for `idleTimeoutMs`, or that ends
   * the stream early, throws. Items are read from the connection only as the loop requests them.
   *
   * @example
   * ```ts
   * const document = 'subscription ($input: ChatInput!) { chat(input: $input) { ... on ChatText { text } } }'
   * const input = { agentId: 'dify', query: 'Hello' }
   * for await (const { chat } of gql.subscribe<{ chat: { text?: string } }>(document, { input })) {
   *   console.log(chat.text ?? '')
   * }
   * ```
   */
  subscribe<Data = unknown, Variables = Record<string, unknown>>(
    document: GraphqlDocument<Data, Variables>,
    ...rest: GraphqlArguments<Variables, ChatStreamOptions>
  ): AsyncGenerator<Data, void, undefined>
}

/**
 * Adds GraphQL to a client. It has the credentials, timeouts and retries of the client: `chat` and `currentApiKey` take the API
 * key and all other fields the access token.
 *
 * @example
 * ```ts
 * import { Trunkline } from '@trunkline/sdk'
 * import { withGraphQL } from '@trunkline/sdk/graphql'
 *
 * const client = new Trunkline({
 *   baseURL: process.env.TRUNKLINE_URL ?? '',
 *   apiKey: process.env.TRUNKLINE_API_KEY,
 * })
 * const gql = withGraphQL(client)
 * const { agents } = await gql.query<{ agents: { id: string }[] }>('{ agents { id } }')
 * console.log(agents.map(({ id }) => id))
 * ```
 */
export function withGraphQL(client: Trunkline): GraphqlClient {
  const { transport } = client

  async function query(given: AnyDocument, variables?: object, options?: CallOptions): Promise<unknown> {
    const document = documentText(given)
    const operation = readOperation(document)
    for (let isRenewed = false; ; isRenewed = true) {
      const bearer = await transport.bearerFor(operation.credential, options ?? {})
      const sent = transport.json<GraphqlResult>(specOf(document, variables, operation), options)
      const { data: result, response } = await sent.withResponse()
      const [error] = result.errors ?? []
      if (error === undefined) return result.data
      const failure = failureOf(error, response.headers, result)
      // An operation that is executed is a 200 for the transport, whatever its fields say of the token.
      const isRenewable = transport.credentials.refuse(failure, bearer)
      if (isRenewed || !isRenewable) throw failure
    }
  }

  async function* subscribe(
    given: AnyDocument,
    leave: () => void,
    variables: object | undefined,
    options: ChatStreamOptions,
  ) {
    try {
      const document = documentText(given)
      const operation = readOperation(document)
      for (let isRenewed = false; ; isRenewed = true) {
        const bearer = await transport.bearerFor(operation.credential, options)
        let hasBegun = false
        try {
          for await (const data of subscribeOnce(document, variables, operation, options)) {
            hasBegun = true
            yield data
          }
          return
        } catch (error) {
          // As in `query`, an event may say that the token has expired.
          const isRenewable = error instanceof StatusError && transport.credentials.refuse(error, bearer)
          if (hasBegun || isRenewed || !isRenewable) throw error
        }
      }
    } finally {
      leave()
    }
  }

  async function* subscribeOnce(
    document: string,
    variables: object | undefined,
    operation: GraphqlOperation,
    { idleTimeoutMs = transport.idleTimeoutMs, ...options }: ChatStreamOptions,
  ) {
    // Of the subscriptions, a chat alone would be done twice.
    const repeatable = operation.credential === 'key' ? 'advised' : undefined
    const spec: RequestSpec = { ...specOf(document, variables, operation), repeatable }
    const headers = { ...options.headers, accept: 'text/event-stream' }
    const response = await transport.open(spec, { ...options, headers })
    // From here on the transport leaves the body to its reader.
    const { signal } = options
    for await (const item of readSubscription(response, { signal, idleTimeoutMs })) {
      const [error] = item.errors ?? []
      if (error !== undefined) throw failureOf(error, response.headers, item)
      yield item.data
    }
  }

  return {
    query: (document, ...rest) => query(document, ...(rest as Rest)) as Promise<never>,
    subscribe(document, ...rest) {
      const [variables, { signal, ...options } = {}] = rest as Rest
      const leaving = new AbortController()
      const endWaiting = onAbort(signal, () => leaving.abort(signal?.reason))
      const leave = () => {
        endWaiting()
        leaving.abort()
      }
      const items = subscribe(document, leave, variables, { ...options, signal: leaving.signal })
      // Between two items nothing else would end the request of a subscription whose iterator is unreachable.
      dropped?.register(items, leave)
      return items as AsyncGenerator<never, void, undefined>
    },
  }
}

type Rest = [variables?: object, options?: ChatStreamOptions]

function specOf(query: string, variables: object | undefined, operation: GraphqlOperation): RequestSpec {
  return {
    method: 'POST',
    root: '',
    path: '/graphql',
    headers: { accept: 'application/json' },
    json: { query, variables },
    credential: operation.credential,
    repeatable: repeatableOf(operation),
    errorFieldsOf,
    ...(operation.credential === 'key' && { timeoutMs: LONG_TIMEOUT_MS }),
  }
}

/** As the REST twins of the mutations, of which the strictest stands for all but the chat. */
function repeatableOf({ isMutation, credential }: GraphqlOperation): Repeatable | undefined {
  if (!isMutation) return undefined
  return credential === 'key' ? 'advised' : 'unreached'
}

/** An operation that is refused as a whole has no error body, but a list of errors. */
function errorFieldsOf(body: unknown): unknown {
  const errors: unknown = Object(body).errors
  const first: Partial<GraphqlResultError> | undefined = Array.isArray(errors) ? errors[0] : undefined
  return first == null ? body : { detail: first.message, reason: first.extensions?.code }
}

/** The error that the REST twin of the operation would give. */
function failureOf(
  { message, extensions = {} }: GraphqlResultError,
  given: Headers,
  cause: GraphqlResult,
): StatusError {
  const { code, status, fields, requestId, retryAfterSeconds } = extensions
  const headers = new Headers(given)
  if (typeof retryAfterSeconds === 'number') headers.set('retry-after', String(retryAfterSeconds))
  const head = { status: typeof status === 'number' ? status : 400, headers }
  const error = statusError(head, { detail: message, reason: code, fields, request_id: requestId })
  error.cause = new PartialResult(cause)
  return error
}

/** A result with errors. A log of its error shows these, and not the data, which may hold a new key or a token. */
class PartialResult {
  readonly errors: unknown
  readonly #data: unknown

  constructor({ data, errors }: GraphqlResult) {
    this.#data = data
    this.errors = errors
  }

  get data(): unknown {
    return this.#data
  }
}
