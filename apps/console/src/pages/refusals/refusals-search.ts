import { oneOf, textsIn, timesIn } from '../../filters/address.ts'

export const VIEWS = ['single', 'counts'] as const
export type View = (typeof VIEWS)[number]

/** Single refusals are kept for a day, their counts for thirty. */
export const PRESETS = { single: ['1h', '24h'], counts: ['24h', '7d', '30d'] } as const
export type Preset = (typeof PRESETS)[View][number]

/** By what refusals can be counted. */
export const GROUPS = ['key', 'user', 'agent', 'reason', 'limit'] as const
export type Group = (typeof GROUPS)[number]

/** Which refusals are shown, as the address says it. */
export type RefusalsSearch = ReturnType<typeof refusalsSearch>

export function refusalsSearch(search: Record<string, unknown>) {
  const { show } = oneOf(search, 'show', VIEWS)
  return {
    ...oneOf(search, 'show', VIEWS),
    ...oneOf(search, 'range', PRESETS[show ?? 'single']),
    // `by` has names of GROUPS, separated by commas.
    ...textsIn(search, ['agent', 'key', 'user', 'reason', 'limit', 'requestId', 'by']),
    ...timesIn(search),
  }
}

export function groupsOf(by: string | undefined): readonly Group[] {
  const names = (by ?? 'key,reason,limit').split(',')
  return GROUPS.filter((name) => names.includes(name))
}

const HOUR_MS = 3_600_000
const LENGTHS_MS: Record<Preset, number> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
}

export function shownRange({ range, from, to }: RefusalsSearch): Preset | 'custom' {
  return from === undefined && to === undefined ? (range ?? '24h') : 'custom'
}

interface Times {
  readonly from?: string
  readonly to?: string
}

/** The times that are covered. A single request is looked for among all that are kept. */
export function rangeOf(search: RefusalsSearch, now: Date): Times {
  const { from, to, requestId } = search
  const shown = shownRange(search)
  if (shown === 'custom') return { ...(from && { from }), ...(to && { to }) }
  if (requestId !== undefined) return {}
  return { from: new Date(now.getTime() - LENGTHS_MS[shown]).toISOString() }
}
