import { TrunklineError } from '@trunkline/sdk'
import { CallDocument, CallsOfConversationDocument, RequestsWithIdDocument } from '../generated/graphql.ts'
import { graphqlQuery, queryClient } from '../session/queries.ts'
import { idIn } from './id-in.ts'
import { timesOfRequest } from './request-time.ts'

/** Where an id leads to: the page of the one call or refusal, or the list, which says where it was looked for. */
export type Found =
  | { readonly to: '/calls/$id'; readonly params: { readonly id: string } }
  | { readonly to: '/refusals/$requestId'; readonly params: { readonly requestId: string } }
  | {
      readonly to: '/calls'
      readonly search: { readonly requestId: string; readonly from?: string }
    }
  | {
      readonly to: '/calls'
      readonly search: { readonly conversation: string; readonly from?: string }
    }

/** The form of all ids that the gateway makes. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const DAY_MS = 86_400_000

interface Times {
  readonly from: string
  readonly to?: string
}

/** Finds what has this id: a call, or else as {@link findRequest} does. All have the same form where the gateway has made them. */
export async function findById(text: string): Promise<Found> {
  const id = idIn(text)
  if (UUID.test(id) && (await mayBeCall(id))) return { to: '/calls/$id', params: { id } }
  return await findRequest(id)
}

/**
 * Finds the calls and refusals of a request or, where there are none, the calls of a conversation. An id that contains its time is searched around that time first. If nothing is
 * there, it is searched like any other id within the last 31 days, because a client may make such ids by a clock of its own. If
 * the gateway does not answer, the list shows why.
 */
export async function findRequest(requestId: string): Promise<Found> {
  const now = new Date()
  const own = timesOfRequest(requestId, now)
  const latest: Times = { from: new Date(now.getTime() - 31 * DAY_MS).toISOString() }
  try {
    for (const findWithin of [requestsWithin, conversationWithin]) {
      for (const times of own === undefined ? [latest] : [own, latest]) {
        const found = await findWithin(requestId, times)
        if (found !== undefined) return found
      }
    }
  } catch {
    // The list reads the same, and shows why it cannot.
  }
  return { to: '/calls', search: { requestId } }
}

/** Undefined if there is neither a call nor a refusal. */
async function requestsWithin(requestId: string, times: Times): Promise<Found | undefined> {
  const variables = { calls: { requestId, ...times }, refusals: { requestId } }
  const { calls, refusals } = await queryClient.fetchQuery({
    ...graphqlQuery(RequestsWithIdDocument, variables),
    // A refusal is written some seconds after its request, so a repeated search must not be answered from the cache.
    staleTime: 0,
  })
  const [call, secondCall] = calls?.nodes ?? []
  const isRefused = refusals?.nodes[0] !== undefined
  if (call === undefined) return isRefused ? { to: '/refusals/$requestId', params: { requestId } } : undefined
  if (secondCall === undefined && !isRefused) return { to: '/calls/$id', params: { id: call.id } }
  return { to: '/calls', search: { requestId, ...(times.to === undefined && { from: times.from }) } }
}

/** Undefined if there is no call. A conversation may go on, so the list has its calls of 31 days. */
async function conversationWithin(id: string, times: Times): Promise<Found | undefined> {
  const filter = { conversationId: id, ...times }
  const { calls } = await queryClient.fetchQuery({
    ...graphqlQuery(CallsOfConversationDocument, { filter }),
    staleTime: 0,
  })
  if (calls?.nodes[0] === undefined) return undefined
  return { to: '/calls', search: { conversation: id, ...(times.to !== undefined && { from: times.from }) } }
}

/** Where the gateway does not answer, the page of the call says so. */
async function mayBeCall(id: string): Promise<boolean> {
  try {
    return (await queryClient.fetchQuery(graphqlQuery(CallDocument, { id }))).call !== null
  } catch (error) {
    return !(error instanceof TrunklineError && error.status === 404)
  }
}
