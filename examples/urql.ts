import { Client, cacheExchange, fetchExchange, type TypedDocumentNode } from '@urql/core'
import { parse } from 'graphql'
import { CallsByAgent, Chat, Login } from './documents.ts'
import type { ChatInput, TypedDocumentString } from './generated/graphql.ts'
import { addItem, NO_REPLY, type Reply } from './reply.ts'

export function createUrqlClient(credential?: string, url = 'http://localhost:8080/graphql'): Client {
  return new Client({
    url,
    exchanges: [cacheExchange, fetchExchange],
    // Subscriptions come as server-sent events from the same endpoint.
    fetchSubscriptions: true,
    preferGetMethod: false,
    fetchOptions: { headers: credential === undefined ? {} : { authorization: `Bearer ${credential}` } },
  })
}

export async function logIn(client: Client, username: string, password: string) {
  const { data, error } = await client.mutation(nodeOf(Login), { input: { username, password } })
  // `error.graphQLErrors` has the errors of the response, each with `extensions.code`.
  if (error !== undefined) throw error
  return data?.login?.accessToken
}

export async function callsByAgent(client: Client, from: string, to: string) {
  const { data, error } = await client.query(nodeOf(CallsByAgent), { from, to })
  if (error !== undefined) throw error
  return data?.usage?.groups ?? []
}

/** Resolves at the end of the reply. */
export function ask(client: Client, input: ChatInput, show: (reply: Reply) => void): Promise<void> {
  let reply = NO_REPLY
  return new Promise((resolve, reject) => {
    client.subscription(nodeOf(Chat), { input }).subscribe(({ data, error, hasNext }) => {
      if (error !== undefined) return reject(error)
      if (data !== undefined) reply = addItem(reply, data)
      show(reply)
      if (!hasNext) resolve()
    })
  })
}

/** The same document in the form that urql expects. */
function nodeOf<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
): TypedDocumentNode<Data, Variables> {
  return parse(document.toString())
}
