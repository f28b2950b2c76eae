import { oneOf, textsIn, timesIn } from '../../filters/address.ts'
import type { AuditResult } from '../../generated/graphql.ts'

export const RANGES = ['24h', '7d', '30d', 'all'] as const
export type Range = (typeof RANGES)[number]

export const RESULTS = ['DONE', 'REFUSED', 'FAILED'] as const satisfies readonly AuditResult[]

/** Which events are listed, as the address says it. */
export type AuditSearch = ReturnType<typeof auditSearch>

export function auditSearch(search: Record<string, unknown>) {
  return {
    ...oneOf(search, 'range', RANGES),
    ...oneOf(search, 'result', RESULTS),
    ...textsIn(search, ['user', 'key', 'operation', 'target', 'targetId', 'requestId']),
    ...timesIn(search),
  }
}

const DAY_MS = 86_400_000
const LENGTHS_MS: Record<Exclude<Range, 'all'>, number> = {
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
}

/** By default all: events are few, and what is looked for may be old. */
export function shownRange({ range, from, to }: AuditSearch): Range | 'custom' {
  return from === undefined && to === undefined ? (range ?? 'all') : 'custom'
}

interface Times {
  readonly from?: string
  readonly to?: string
}

export function rangeOf(search: AuditSearch, now: Date): Times {
  const { from, to } = search
  const shown = shownRange(search)
  if (shown === 'custom') return { ...(from && { from }), ...(to && { to }) }
  return shown === 'all' ? {} : { from: new Date(now.getTime() - LENGTHS_MS[shown]).toISOString() }
}
