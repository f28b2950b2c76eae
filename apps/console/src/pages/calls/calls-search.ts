import { oneOf, textsIn, timesIn } from '../../filters/address.ts'
import type { CallFace, CallFilter, CallKind, CallState } from '../../generated/graphql.ts'

export const RANGES = ['24h', '7d', '31d', 'all'] as const
export type Range = (typeof RANGES)[number]

/** How calls are listed by their end: all failures at once, or one way of ending. */
export const STATES = [
  'FAILED',
  'NOT_FAILED',
  'DONE',
  'RUNNING',
  'CLIENT_GONE',
  'UPSTREAM_ERROR',
  'TIMEOUT',
  'REJECTED',
  'DRAINED',
  'INTERRUPTED',
] as const satisfies readonly (CallState | 'NOT_FAILED')[]

/** What has ended without a failure. */
const NOT_FAILED = ['DONE', 'CLIENT_GONE', 'REJECTED'] as const satisfies readonly CallState[]

export const KINDS = ['CHAT', 'UPLOAD'] as const satisfies readonly CallKind[]
export const FACES = ['REST', 'OPENAI', 'RESPONSES', 'GRAPHQL'] as const satisfies readonly CallFace[]

/** Which calls are listed, as the address says it. */
export type CallsSearch = ReturnType<typeof callsSearch>

export function callsSearch(search: Record<string, unknown>) {
  return {
    ...oneOf(search, 'range', RANGES),
    ...oneOf(search, 'outcome', STATES),
    ...oneOf(search, 'kind', KINDS),
    ...oneOf(search, 'face', FACES),
    // `reason` is the word of an error.
    ...textsIn(search, ['agent', 'key', 'user', 'reason', 'requestId', 'conversation']),
    ...textsOrEmptyIn(search, ['app', 'deployment', 'model', 'endUser']),
    // The least that the first text of a call took, that a call took, and that it cost.
    ...leastIn(search, ['firstMs', 'ms', 'tokens']),
    ...pausedIn(search),
    ...timesIn(search),
  }
}

/** Whether the reply ended with a question to the user. */
function pausedIn({ paused }: Record<string, unknown>): { readonly paused?: boolean | undefined } {
  return typeof paused === 'boolean' ? { paused } : {}
}

/** An empty text stands for calls without one. */
function textsOrEmptyIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { readonly [Key in Name]?: string | undefined } {
  const empty = names.filter((name) => search[name] === '').map((name) => [name, ''])
  return { ...textsIn(search, names), ...Object.fromEntries(empty) }
}

function leastIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { readonly [Key in Name]?: number | undefined } {
  const isLeast = (number: unknown) =>
    typeof number === 'number' && Number.isInteger(number) && number >= 0 && number < 2 ** 31
  const given = names.filter((name) => isLeast(search[name])).map((name) => [name, search[name]])
  return Object.fromEntries(given) as { [Key in Name]?: number }
}

/** The filters of the request to the gateway, without the times. */
export function conditionsOf(search: CallsSearch): CallFilter {
  const { agent, app, deployment, model, key, user, endUser } = search
  const { kind, face, outcome, reason, paused, firstMs, ms, tokens, requestId, conversation } = search
  return {
    ...(agent && { agentId: agent }),
    ...(app !== undefined && { appId: app }),
    ...(deployment !== undefined && { deployment }),
    ...(model !== undefined && { model }),
    ...(key && { keyId: key }),
    ...(user && { ownerId: user }),
    ...(endUser !== undefined && { endUser }),
    ...(kind && { kind }),
    ...(face && { face }),
    ...(outcome && { outcome: outcome === 'NOT_FAILED' ? [...NOT_FAILED] : [outcome] }),
    ...(reason && { reason }),
    ...(paused !== undefined && { paused }),
    ...(firstMs !== undefined && { firstChunkMsMin: firstMs }),
    ...(ms !== undefined && { durationMsMin: ms }),
    ...(tokens !== undefined && { totalTokensMin: tokens }),
    ...(requestId && { requestId }),
    ...(conversation && { conversationId: conversation }),
  }
}
