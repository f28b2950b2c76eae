import { before, type Preset, type Times } from '../../filters/range.ts'
import { timesOfRequest } from '../../find/request-time.ts'
import { CALL_PRESETS, type CallsSearch } from './calls-search.ts'

const DAY_MS = 86_400_000
const SEARCHED_MS = 31 * DAY_MS

/**
 * The range that the controls show: a preset, or times of one's own. Undefined where the id of a request says by itself when it
 * was, whatever preset was chosen for the list before.
 */
export function shownRange(search: CallsSearch, now: Date): Preset | 'custom' | undefined {
  const { range, from, to, requestId, conversation } = search
  if (from !== undefined || to !== undefined) return 'custom'
  if (ownTimes(search, now) !== undefined) return undefined
  return range ?? (requestId === undefined && conversation === undefined ? '7d' : '31d')
}

/** The range around the time that the request's id contains, unless the reader has chosen a range. */
function ownTimes({ from, to, requestId }: CallsSearch, now: Date): Required<Times> | undefined {
  const hasTyped = from !== undefined || to !== undefined
  return hasTyped || requestId === undefined ? undefined : timesOfRequest(requestId, now)
}

/**
 * The times that the list covers. There is no index for the ids of requests and conversations, so these are looked for within
 * at most 31 days: those before `to` or, without it, after `from`, or the last ones. A request whose id carries its time is
 * looked for around that.
 */
export function timesOf(search: CallsSearch, now: Date): Times {
  const { range, from, to, requestId, conversation } = search
  const isSearch = requestId !== undefined || conversation !== undefined
  const shown = shownRange(search, now)
  if (shown === undefined) return ownTimes(search, now) ?? {}
  if (!isSearch) return CALL_PRESETS.times(search, now)
  if (shown === 'custom') return bounded(from, to, now)
  return range === undefined || range === 'all'
    ? { from: before(now, SEARCHED_MS) }
    : CALL_PRESETS.times({ range }, now)
}

function bounded(from: string | undefined, to: string | undefined, now: Date): Times {
  if (to === undefined && from !== undefined) {
    const end = new Date(Date.parse(from) + SEARCHED_MS)
    return end < now ? { from, to: end.toISOString() } : { from }
  }
  const earliest = before(to === undefined ? now : new Date(to), SEARCHED_MS)
  return { from: from !== undefined && from > earliest ? from : earliest, ...(to !== undefined && { to }) }
}

/** The times within which the other calls of a call's conversation are looked for: 15 days before and after it. */
export function rangeAround(admittedAt: string): { from: string; to: string } {
  const moment = Date.parse(admittedAt)
  const half = 15 * DAY_MS
  return { from: new Date(moment - half).toISOString(), to: new Date(moment + half).toISOString() }
}

/** The range of the list, with what a search makes of it. */
export const CALL_RANGE = { ...CALL_PRESETS, shown: shownRange, times: timesOf }
