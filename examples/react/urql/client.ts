import { Client, type CombinedError, cacheExchange, fetchExchange, mapExchange } from 'urql'

/** For everything but chats. The login alone needs no token; make a new client after it, whose cache is empty. */
export function createManagementClient(accessToken: string | undefined, onLoggedOut: () => void): Client {
  return createUrqlClient(accessToken, (error) => {
    if (extensionsOf(error)?.status === 401) onLoggedOut()
  })
}

/** For chats, which take an API key. */
export function createChatClient(apiKey: string): Client {
  return createUrqlClient(apiKey)
}

/** `code` is made for programs, `status` is that of REST. Undefined where no answer of the gateway arrived. */
export function extensionsOf(error: CombinedError): { code?: string; status?: number } | undefined {
  return error.graphQLErrors[0]?.extensions
}

function createUrqlClient(
  credential: string | undefined,
  onError: (error: CombinedError) => void = () => {},
) {
  return new Client({
    url: '/graphql',
    exchanges: [mapExchange({ onError }), cacheExchange, fetchExchange],
    // Subscriptions come as server-sent events from the same endpoint.
    fetchSubscriptions: true,
    preferGetMethod: false,
    fetchOptions: { headers: credential === undefined ? {} : { authorization: `Bearer ${credential}` } },
  })
}
