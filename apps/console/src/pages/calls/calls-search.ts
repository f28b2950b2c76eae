import { oneOf, type TimeSearch, textsIn, timesIn } from '../../filters/address.ts'
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

/** An empty text stands for calls without one. */
const MAY_BE_EMPTY = ['app', 'deployment', 'model', 'endUser'] as const

/** Which calls are listed, as the address says it. */
export interface CallsSearch extends TimeSearch {
  readonly range?: Range | undefined
  readonly agent?: string | undefined
  readonly app?: string | undefined
  readonly deployment?: string | undefined
  readonly model?: string | undefined
  readonly key?: string | undefined
  readonly user?: string | undefined
  readonly endUser?: string | undefined
  readonly kind?: CallKind | undefined
  readonly face?: CallFace | undefined
  readonly outcome?: (typeof STATES)[number] | undefined
  /** The word of an error. */
  readonly reason?: string | undefined
  /** The least that the first text of a call took. */
  readonly firstMs?: number | undefined
  /** The least that a call took. */
  readonly ms?: number | undefined
  /** The least that a call cost. */
  readonly tokens?: number | undefined
  /** Whether the reply ended with a question to the user. */
  readonly paused?: boolean | undefined
  readonly requestId?: string | undefined
  readonly conversation?: string | undefined
}

export function callsSearch(search: Record<string, unknown>): CallsSearch {
  return {
    ...oneOf(search, 'range', RANGES),
    ...oneOf(search, 'outcome', STATES),
    ...oneOf(search, 'kind', KINDS),
    ...oneOf(search, 'face', FACES),
    ...textsIn(search, ['agent', 'key', 'user', 'reason', 'requestId', 'conversation', ...MAY_BE_EMPTY]),
    ...Object.fromEntries(MAY_BE_EMPTY.filter((name) => search[name] === '').map((name) => [name, ''])),
    ...leastIn(search, 'firstMs'),
    ...leastIn(search, 'ms'),
    ...leastIn(search, 'tokens'),
    ...(typeof search.paused === 'boolean' && { paused: search.paused }),
    ...timesIn(search),
  }
}

function leastIn<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): { readonly [Key in Name]?: number } {
  const number = search[name]
  const isLeast = typeof number === 'number' && Number.isInteger(number) && number >= 0 && number < 2 ** 31
  return (isLeast ? { [name]: number } : {}) as { [Key in Name]?: number }
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
