import { conditionsIn, type FilterOf } from '../../filters/conditions.ts'
import { rangeOf, type Times } from '../../filters/range.ts'
import { CALLS } from '../../generated/conditions.ts'
import type { CallFilter, CallState } from '../../generated/graphql.ts'

/** How calls are listed by their end: all failures at once, or one way of ending. */
const STATES = [
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

const { outcome, firstChunkMsMin: firstMs, durationMsMin: ms, totalTokensMin: tokens, ...others } = CALLS

export const CALL_CONDITIONS = { ...others, outcome: { ...outcome, words: STATES }, firstMs, ms, tokens }

export const CALL_PRESETS = rangeOf(['24h', '7d', '31d', 'all'], '7d')

/** Which calls are listed, as the address says it. */
export type CallsSearch = ReturnType<typeof callsSearch>

export function callsSearch(search: Record<string, unknown>) {
  return {
    ...CALL_PRESETS.in(search),
    ...conditionsIn(CALL_CONDITIONS, search),
    ...emptyIn(search, ['app', 'deployment', 'model', 'endUser']),
  }
}

/** An empty text stands for calls without one. */
function emptyIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { readonly [Key in Name]?: string | undefined } {
  const empty = names.filter((name) => search[name] === '').map((name) => [name, ''])
  return Object.fromEntries(empty) as { [Key in Name]?: string }
}

/** The filter of the request to the gateway. */
export function callFilterOf({
  outcome: state,
  ...filter
}: FilterOf<typeof CALL_CONDITIONS> & Times): CallFilter {
  return { ...filter, ...(state && { outcome: state === 'NOT_FAILED' ? [...NOT_FAILED] : [state] }) }
}
