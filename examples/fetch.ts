import { CallsByAgent, Chat, Login } from './documents.ts'
import type { ChatInput, TypedDocumentString } from './generated/graphql.ts'
import { addItem, NO_REPLY, type Reply } from './reply.ts'

const ENDPOINT = 'http://127.0.0.1:8080/graphql'

export async function logIn(username: string, password: string, url = ENDPOINT) {
  const { login } = await request(url, Login, { input: { username, password } })
  return login?.accessToken
}

export async function callsByAgent(accessToken: string, from: string, to: string, url = ENDPOINT) {
  const { usage } = await request(url, CallsByAgent, { from, to }, accessToken)
  return usage?.groups ?? []
}

/** Asks, and returns the reply; a next input with its `conversationId` goes on with the conversation. */
export async function ask(apiKey: string, input: ChatInput, show: (reply: Reply) => void, url = ENDPOINT) {
  let reply = NO_REPLY
  for await (const item of subscribe(url, Chat, { input }, apiKey)) {
    reply = addItem(reply, item)
    show(reply)
  }
  return reply
}

/** Runs a query or a mutation. */
async function request<Data, Variables>(
  url: string,
  query: TypedDocumentString<Data, Variables>,
  variables: Variables,
  credential?: string,
): Promise<Data> {
  const response = await post(url, 'application/graphql-response+json', { query, variables }, credential)
  return dataOf<Data>(await response.json())
}

/** Runs a subscription. Leaving the loop ends it, and stops the agent if it is a chat. */
async function* subscribe<Data, Variables>(
  url: string,
  query: TypedDocumentString<Data, Variables>,
  variables: Variables,
  credential?: string,
): AsyncGenerator<Data> {
  const response = await post(url, 'text/event-stream', { query, variables }, credential)
  // What is refused before it begins is answered with JSON.
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) dataOf(await response.json())
  let unread = ''
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (unread + text).split('\n\n')
    unread = events.pop() ?? ''
    for (const event of events) {
      const [, data] = /^event: next\ndata: (.*)$/.exec(event) ?? []
      if (data !== undefined) yield dataOf<Data>(JSON.parse(data))
    }
  }
}

function post(url: string, accept: string, body: object, credential: string | undefined) {
  const headers = new Headers({ accept, 'content-type': 'application/json' })
  if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`)
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

export class GraphqlError extends Error {
  /** `code` is made for programs, `field` names the input at fault. */
  readonly extensions: { code: string; status: number; field?: string; retryAfterSeconds?: number }

  constructor({ message, extensions }: Pick<GraphqlError, 'message' | 'extensions'>) {
    super(message)
    this.extensions = extensions
  }
}

function dataOf<Data>(result: { data?: Data; errors?: GraphqlError[] }): Data {
  if (result.errors?.[0] !== undefined) throw new GraphqlError(result.errors[0])
  if (result.data === undefined) throw new Error('expected data')
  return result.data
}
