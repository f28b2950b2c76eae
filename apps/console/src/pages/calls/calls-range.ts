import { timesOfRequest } from '../../find/request-time.ts'
import type { CallsSearch, Range } from './calls-search.ts'

const DAY_MS = 86_400_000
const LENGTHS_MS: Record<Exclude<Range, 'all'>, number> = {
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '31d': 31 * DAY_MS,
}
const SEARCHED_MS = LENGTHS_MS['31d']

/**
 * The range that the controls show: a preset, or times of one's own. Undefined where the id of a request says by itself when it
 * was, whatever preset was chosen for the list before.
 */
export function shownRange(search: CallsSearch, now: Date): Range | 'custom' | undefined {
  const { range, from, to, requestId, conversation } = search
  if (from !== undefined || to !== undefined) return 'custom'
  if (ownTimes(search, now) !== undefined) return undefined
  return range ?? (requestId === undefined && conversation === undefined ? '7d' : '31d')
}

/** The range around the time that the request's id contains, unless the reader has chosen a range. */
function ownTimes({ from, to, requestId }: CallsSearch, now: Date): Required<CallsRange> | undefined {
  const hasTyped = from !== undefined || to !== undefined
  return hasTyped || requestId === undefined ? undefined : timesOfRequest(requestId, now)
}

interface CallsRange {
  readonly from?: string
  readonly to?: string
}

/**
 * The times that the list covers. There is no index for the ids of requests and conversations, so these are looked for within
 * at most 31 days: those before `to` or, without it, after `from`, or the last ones. A request whose id carries its time is
 * looked for around that.
 */
export function rangeOf(search: CallsSearch, now: Date): CallsRange {
  const { from, to, requestId, conversation } = search
  const isSearch = requestId !== undefined || conversation !== undefined
  const shown = shownRange(search, now)
  if (shown === undefined) return ownTimes(search, now) ?? {}
  if (shown === 'custom')
    return isSearch ? bounded(from, to, now) : { ...(from && { from }), ...(to && { to }) }
  if (shown === 'all') return isSearch ? { from: before(now, SEARCHED_MS) } : {}
  return { from: before(now, LENGTHS_MS[shown]) }
}

function bounded(from: string | undefined, to: string | undefined, now: Date): CallsRange {
  if (to === undefined && from !== undefined) {
    const end = new Date(Date.parse(from) + SEARCHED_MS)
    return end < now ? { from, to: end.toISOString() } : { from }
  }
  const earliest = before(to === undefined ? now : new Date(to), SEARCHED_MS)
  return { from: from !== undefined && from > earliest ? from : earliest, ...(to !== undefined && { to }) }
}

function before(moment: Date, lengthMs: number): string {
  return new Date(moment.getTime() - lengthMs).toISOString()
}

/** The times within which the other calls of a call's conversation are looked for: 15 days before and after it. */
export function rangeAround(admittedAt: string): { from: string; to: string } {
  const moment = Date.parse(admittedAt)
  const half = 15 * DAY_MS
  return { from: new Date(moment - half).toISOString(), to: new Date(moment + half).toISOString() }
}
