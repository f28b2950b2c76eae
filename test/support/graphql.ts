import type { TestGateway } from './gateway.ts'

export interface GraphqlError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions: {
    readonly code: string
    readonly status: number
    readonly field?: string
    readonly retryAfterSeconds?: number
  }
}

export interface GraphqlResult {
  // biome-ignore lint/suspicious/noExplicitAny: results have the shape of their documents
  readonly data?: any
  readonly errors?: readonly GraphqlError[]
}

export interface GraphqlRequest {
  readonly variables?: object
  /** A token or an API key. */
  readonly as?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

type Url = Pick<TestGateway, 'url'>

/** Sends an operation and returns the response unread. */
export function sendGraphql(
  { url }: Url,
  query: string,
  { variables, as, headers, signal }: GraphqlRequest = {},
): Promise<Response> {
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(as !== undefined && { authorization: `Bearer ${as}` }),
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
    ...(signal !== undefined && { signal }),
  })
}

export async function graphql(gateway: Url, query: string, request?: GraphqlRequest): Promise<GraphqlResult> {
  return (await sendGraphql(gateway, query, request)).json() as Promise<GraphqlResult>
}

export const EVENT_STREAM = { accept: 'text/event-stream' } as const

/** The results of an event stream, and whether it says that they are complete. */
export function resultsOf(text: string): { results: readonly GraphqlResult[]; isComplete: boolean } {
  const events = text.split('\n\n')
  return {
    results: events.flatMap((event) =>
      event.startsWith('event: next\ndata: ') ? [JSON.parse(event.slice('event: next\ndata: '.length))] : [],
    ),
    isComplete: events.some((event) => event.startsWith('event: complete')),
  }
}

/** Follows a subscription to its end. */
export async function follow(gateway: Url, query: string, request: GraphqlRequest = {}) {
  const response = await sendGraphql(gateway, query, {
    ...request,
    headers: { ...request.headers, ...EVENT_STREAM },
  })
  return resultsOf(await response.text())
}
