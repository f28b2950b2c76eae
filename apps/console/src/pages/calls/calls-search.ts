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
export interface CallsSearch {
  readonly range?: Range | undefined
  /** A range of one's own, in ISO 8601; it takes the place of `range`. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly agent?: string | undefined
  readonly key?: string | undefined
  readonly user?: string | undefined
  readonly outcome?: CallState | undefined
  readonly requestId?: string | undefined
  readonly conversation?: string | undefined
}

const TEXTS = ['agent', 'key', 'user', 'requestId', 'conversation'] as const

export function callsSearch(search: Record<string, unknown>): CallsSearch {
  const { range: wanted, outcome: state } = search
  const range = RANGES.find((known) => known === wanted)
  const outcome = STATES.find((known) => known === state)
  const texts = TEXTS.flatMap((name) => {
    // The router reads a number where an id looks like one.
    const text = ['string', 'number'].includes(typeof search[name]) ? String(search[name]).trim() : ''
    return text === '' ? [] : [[name, text]]
  })
  const times = (['from', 'to'] as const).flatMap((name) => {
    const time = new Date(String(search[name] ?? ''))
    return Number.isNaN(time.getTime()) ? [] : [[name, time.toISOString()]]
  })
  return { ...(range && { range }), ...(outcome && { outcome }), ...Object.fromEntries([...texts, ...times]) }
}
