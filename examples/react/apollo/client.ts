import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  HttpLink,
  InMemoryCache,
  Observable,
} from '@apollo/client'
import { ErrorLink } from '@apollo/client/link/error'
import { OperationTypeNode, print } from 'graphql'
import { createClient } from 'graphql-sse'
import fragments from '../generated/possible-types.ts'

/** For everything but chats. The login alone needs no token; make a new client after it, whose cache is empty. */
export function createManagementClient(
  accessToken: string | undefined,
  onLoggedOut: () => void,
): ApolloClient {
  const loggedOut = new ErrorLink(({ error }) => {
    if (extensionsOf(error)?.status === 401) onLoggedOut()
  })
  return createApolloClient(accessToken, [loggedOut])
}

/** For chats, which take an API key. */
export function createChatClient(apiKey: string): ApolloClient {
  return createApolloClient(apiKey)
}

/** `code` is made for programs, `status` is that of REST. Undefined where no answer of the gateway arrived. */
export function extensionsOf(error: unknown): { code?: string; status?: number } | undefined {
  return CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions : undefined
}

function createApolloClient(credential: string | undefined, links: readonly ApolloLink[] = []): ApolloClient {
  const headers: Record<string, string> =
    credential === undefined ? {} : { authorization: `Bearer ${credential}` }
  // By default a subscription whose connection breaks is started again, and a chat would be sent and counted twice.
  const events = createClient({ url: '/graphql', headers, retryAttempts: 0 })
  // Subscriptions come as server-sent events from the same endpoint.
  const eventLink = new ApolloLink(
    ({ query, variables }) =>
      new Observable((sink) =>
        events.subscribe<Record<string, unknown>>(
          { query: print(query), variables },
          {
            next: (result) => sink.next(result as ApolloLink.Result),
            error: (error) => sink.error(error),
            complete: () => sink.complete(),
          },
        ),
      ),
  )
  const isSubscription = ({ operationType }: ApolloLink.Operation) =>
    operationType === OperationTypeNode.SUBSCRIPTION
  const http = new HttpLink({ uri: '/graphql', headers })
  return new ApolloClient({
    link: ApolloLink.from([...links, ApolloLink.split(isSubscription, eventLink, http)]),
    cache: new InMemoryCache({ possibleTypes: fragments.possibleTypes }),
  })
}
