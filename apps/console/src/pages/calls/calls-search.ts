import { oneOf, type TimeSearch, textsIn, timesIn } from '../../filters/address.ts'
import type { CallState } from '../../generated/graphql.ts'

export const RANGES = ['24h', '7d', '31d', 'all'] as const
export type Range = (typeof RANGES)[number]

export const STATES = [
  'DONE',
  'RUNNING',
  'FAILED',
  'CLIENT_GONE',
  'UPSTREAM_ERROR',
  'TIMEOUT',
  'REJECTED',
  'DRAINED',
  'INTERRUPTED',
] as const satisfies readonly CallState[]

/** Which calls are listed, as the address says it. */
export interface CallsSearch extends TimeSearch {
  readonly range?: Range | undefined
  readonly agent?: string | undefined
  readonly key?: string | undefined
  readonly user?: string | undefined
  readonly outcome?: CallState | undefined
  readonly requestId?: string | undefined
  readonly conversation?: string | undefined
}

export function callsSearch(search: Record<string, unknown>): CallsSearch {
  return {
    ...oneOf(search, 'range', RANGES),
    ...oneOf(search, 'outcome', STATES),
    ...textsIn(search, ['agent', 'key', 'user', 'requestId', 'conversation']),
    ...timesIn(search),
  }
}
