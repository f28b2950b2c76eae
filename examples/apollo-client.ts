import {
  ApolloClient,
  ApolloLink,
  HttpLink,
  InMemoryCache,
  Observable,
  type TypedDocumentNode,
} from '@apollo/client'
import { OperationTypeNode, parse, print } from 'graphql'
import { createClient } from 'graphql-sse'
import { CallsByAgent, Chat, Login } from './documents.ts'
import type { ChatInput, TypedDocumentString } from './generated/graphql.ts'
import { addItem, NO_REPLY, type Reply } from './reply.ts'

export function createApolloClient(credential?: string, url = 'http://localhost:8080/graphql'): ApolloClient {
  const headers: Record<string, string> =
    credential === undefined ? {} : { authorization: `Bearer ${credential}` }
  // By default a subscription whose connection breaks is started again, and a chat would be sent and counted twice.
  const events = createClient({ url, headers, retryAttempts: 0 })
  const eventLink = new ApolloLink(
    ({ query, variables }) =>
      new Observable((sink) =>
        events.subscribe<Record<string, unknown>>(
          { query: print(query), variables },
          {
            next: (result) => sink.next(result as ApolloLink.Result),
            error: (e) => sink.error(e),
            complete: () => sink.complete(),
          },
        ),
      ),
  )
  const isSubscription = ({ operationType }: ApolloLink.Operation) =>
    operationType === OperationTypeNode.SUBSCRIPTION
  return new ApolloClient({
    link: ApolloLink.split(isSubscription, eventLink, new HttpLink({ uri: url, headers })),
    cache: new InMemoryCache(),
  })
}

export async function logIn(client: ApolloClient, username: string, password: string) {
  // Throws a `CombinedGraphQLErrors`: its `errors` are those of the response, each with `extensions.code`.
  const { data } = await client.mutate({
    mutation: nodeOf(Login),
    variables: { input: { username, password } },
  })
  return data?.login?.accessToken
}

export async function callsByAgent(client: ApolloClient, from: string, to: string) {
  const { data } = await client.query({ query: nodeOf(CallsByAgent), variables: { from, to } })
  return data?.usage?.groups ?? []
}

/** Resolves at the end of the reply. */
export function ask(client: ApolloClient, input: ChatInput, show: (reply: Reply) => void): Promise<void> {
  let reply = NO_REPLY
  // Items of a chat are no records, so the cache is left out.
  return new Promise((resolve, reject) => {
    client.subscribe({ query: nodeOf(Chat), variables: { input }, fetchPolicy: 'no-cache' }).subscribe({
      next({ data, error }) {
        if (error !== undefined) return reject(error)
        if (data !== undefined) reply = addItem(reply, data)
        show(reply)
      },
      error: reject,
      complete: resolve,
    })
  })
}

/** The same document in the form that Apollo Client expects. */
function nodeOf<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
): TypedDocumentNode<Data, Variables> {
  return parse(document.toString())
}
