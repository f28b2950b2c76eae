import { oneOf, textsIn } from '../../filters/address.ts'
import { conditionsIn } from '../../filters/conditions.ts'
import { type RangeSearch, rangeOf } from '../../filters/range.ts'
import { REFUSALS } from '../../generated/conditions.ts'

export const VIEWS = ['single', 'counts'] as const

/** By what refusals can be counted. */
export const GROUPS = ['key', 'user', 'agent', 'reason', 'limit'] as const
export type Group = (typeof GROUPS)[number]

const { limitName: limit, requestId, ...others } = REFUSALS

/** A count names no request. */
export const COUNT_CONDITIONS = { ...others, limit }
export const REFUSAL_CONDITIONS = { ...COUNT_CONDITIONS, requestId }

const DAY = rangeOf(['1h', '24h'], '24h')

/** Single refusals are kept for a day, their counts for thirty. */
export const COUNT_RANGE = rangeOf(['24h', '7d', '30d'], '24h')
export const REFUSAL_RANGE = {
  ...DAY,
  /** A single request is looked for among all that are kept. */
  times(search: RangeSearch<'1h' | '24h'> & { readonly requestId?: string | undefined }, now: Date) {
    return search.requestId !== undefined && DAY.shown(search) !== 'custom' ? {} : DAY.times(search, now)
  },
}

/** Which refusals are shown, as the address says it. */
export type RefusalsSearch = ReturnType<typeof refusalsSearch>

export function refusalsSearch(search: Record<string, unknown>) {
  const view = oneOf(search, 'show', VIEWS)
  const range: RangeSearch = (view.show === 'counts' ? COUNT_RANGE : REFUSAL_RANGE).in(search)
  return {
    ...view,
    ...range,
    ...conditionsIn(REFUSAL_CONDITIONS, search),
    // Names of GROUPS, separated by commas.
    ...textsIn(search, ['by']),
  }
}

export function groupsOf(by: string | undefined): readonly Group[] {
  const names = (by ?? 'key,reason,limit').split(',')
  return GROUPS.filter((name) => names.includes(name))
}
