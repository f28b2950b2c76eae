import type { CallsSearch, Range } from './calls-search.ts'

const DAY_MS = 86_400_000
const LENGTHS_MS: Record<Exclude<Range, 'all'>, number> = {
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '31d': 31 * DAY_MS,
}
const SEARCHED_MS = LENGTHS_MS['31d']

/** The range that the controls show: a preset, or times of one's own. */
export function shownRange({ range, from, to, requestId, conversation }: CallsSearch): Range | 'custom' {
  if (from !== undefined || to !== undefined) return 'custom'
  return range ?? (requestId === undefined && conversation === undefined ? '7d' : '31d')
}

interface CallsRange {
  readonly from?: string
  readonly to?: string
}

/**
 * The times that the list covers. There is no index for the ids of requests and conversations, so these are looked for within
 * at most 31 days: those before `to` or, without it, after `from`, or the last ones.
 */
export function rangeOf(search: CallsSearch, now: Date): CallsRange {
  const { from, to, requestId, conversation } = search
  const isSearch = requestId !== undefined || conversation !== undefined
  const shown = shownRange(search)
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

/** A time as fields for dates and times have it, in the reader's time zone. */
export function localTime(iso: string | undefined): string {
  if (iso === undefined) return ''
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The time that was typed, which is undefined until all of it is. */
export function typedTime(local: string): string | undefined {
  const date = new Date(local)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
