import {
  infiniteQueryOptions,
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
} from '@tanstack/react-query'
import { ConnectionError, TrunklineError } from '@trunkline/sdk'
import type { GraphqlDocument } from '@trunkline/sdk/graphql'
import { isGatewayAway } from '../ui/notice.tsx'
import { gql, sessions } from './gateway.ts'
import { ReturnWatch } from './return-watch.ts'
import type { SessionEnd } from './session.ts'

/** The cache of everything that pages read. A refused token ends the session, which leads to the login. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error) {
      endRefusedSession(error)
      if (isGatewayAway(error)) returnWatch.start()
    },
  }),
  // Not a default of the mutations, which those with a handler of their own would replace.
  mutationCache: new MutationCache({ onError: endRefusedSession }),
  defaultOptions: {
    queries: {
      // Without a network it fails and says so, where it would otherwise wait in silence.
      networkMode: 'always',
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => isRateLimited(error) || (error instanceof ConnectionError && failures < 2),
      retryDelay(failures, error) {
        if (!isRateLimited(error)) return 500 * 2 ** failures
        const retryAfterMs = error.retryAfterMs ?? 0
        retryTimes.set(error, Date.now() + retryAfterMs)
        return retryAfterMs
      },
    },
    mutations: { networkMode: 'always' },
  },
})

/** Rate limits say when to come back; a quota that is used up does not come back by waiting. */
export function isRateLimited(error: unknown): error is TrunklineError {
  return error instanceof TrunklineError && error.status === 429 && error.retryAfterMs !== undefined
}

/** When the request that a rate limit has refused is sent again, by its error. */
const retryTimes = new WeakMap<Error, number>()

/** Until when the pages wait for rate limits, in milliseconds since the epoch; 0 if none waits. */
export function rateLimitedUntilMs(): number {
  const waiting = queryClient.getQueryCache().findAll({
    type: 'active',
    predicate: ({ state }) => state.fetchStatus === 'fetching' && isRateLimited(state.fetchFailureReason),
  })
  return Math.max(0, ...waiting.map(({ state }) => retryTimes.get(state.fetchFailureReason as Error) ?? 0))
}

/** Reads what could not be read again, once the gateway answers. */
const returnWatch = new ReturnWatch(async () => {
  const isUnread = () => ({
    type: 'active' as const,
    predicate: ({ state }: { state: { error: unknown } }) => isGatewayAway(state.error),
  })
  await queryClient.refetchQueries(isUnread())
  return queryClient.getQueryCache().findAll(isUnread()).length === 0
})

/** A refused token ends the session, which leads to the login. */
export function endRefusedSession(error: unknown): void {
  if (!(error instanceof TrunklineError) || error.status !== 401 || error.reason === 'login_failed') return
  // The token that has expired may be the one before.
  if (error.reason === 'token_expired' && sessions.hasReplacedToken) return
  sessions.end(ENDS[error.reason ?? ''] ?? 'invalid')
}

const ENDS: Readonly<Record<string, SessionEnd>> = {
  token_expired: 'expired',
  token_revoked: 'revoked',
  owner_suspended: 'suspended',
}

/** A GraphQL query with its variables as a query of the cache. */
export function graphqlQuery<Data, Variables extends object>(
  document: GraphqlDocument<Data, Variables>,
  variables: Variables,
) {
  return queryOptions({
    queryKey: [document.toString(), variables],
    queryFn: ({ signal }) =>
      gql.query<Data, Variables>(document, ...([variables, { signal }] as never)) as Promise<Data>,
  })
}

interface ListPage {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null | undefined }
}

/** A GraphQL query of a list, page by page. `listOf` finds the list in the data. While another is read, its data stays. */
export function graphqlPages<Data, Variables extends { after?: string | null | undefined }>(
  document: GraphqlDocument<Data, Variables>,
  variables: Variables,
  listOf: (data: Data) => ListPage | null | undefined,
) {
  return infiniteQueryOptions({
    queryKey: [document.toString(), variables, 'pages'],
    queryFn: ({ signal, pageParam: after }) =>
      gql.query<Data, Variables>(
        document,
        ...([{ ...variables, after }, { signal }] as never),
      ) as Promise<Data>,
    placeholderData: keepPreviousData,
    initialPageParam: null as string | null,
    getNextPageParam(data) {
      const { hasNextPage, endCursor } = listOf(data)?.pageInfo ?? { hasNextPage: false }
      return hasNextPage ? endCursor : undefined
    },
  })
}

/** Reads what these documents have read again, after a change; pages that are not shown read it when they are. */
export function invalidate(...documents: readonly GraphqlDocument<unknown, never>[]): Promise<unknown> {
  return Promise.all(
    documents.map((document) => queryClient.invalidateQueries({ queryKey: [document.toString()] })),
  )
}

/** What a page shows may wait for a rate limit, and what is beside it need not. */
const AFTER_PAGE_WITHIN_MS = 3_000

/** Marks queries that wait for the others of their page. */
export const BESIDE_PAGE = { isBesidePage: true }

/** Resolves when the page has read what it shows, so that what is loaded beside it does not delay it. */
export function afterPage(): Promise<void> {
  const isShown = () => queryClient.isFetching({ predicate: ({ meta }) => meta !== BESIDE_PAGE }) === 0
  return new Promise((resolve) => {
    const end = () => {
      unsubscribe()
      clearTimeout(timeout)
      resolve()
    }
    const endIfShown = () => {
      if (isShown()) end()
    }
    const unsubscribe = queryClient.getQueryCache().subscribe(endIfShown)
    const timeout = setTimeout(end, AFTER_PAGE_WITHIN_MS)
    // Later, because the other queries of the page start in the same pass.
    setTimeout(endIfShown)
  })
}
