import { type CallOutcome, FAILED_OUTCOMES } from '#core/ledger/call-kinds.ts'
import type { Conditions } from './query-fields.ts'
import type { RollupSums } from './usage-accumulator.ts'

/** The dimensions of rollups, in any combination. */
const ROLLUP_GROUPS = ['key', 'agent', 'app', 'model', 'user', 'end_user', 'outcome'] as const
export type RollupGroup = (typeof ROLLUP_GROUPS)[number]

/** The dimensions by which a report can be grouped; that by conversation is read from the ledger, and stands alone. */
export const GROUPS = [...ROLLUP_GROUPS, 'conversation'] as const
export type Group = (typeof GROUPS)[number]

/** Those of a report that is read from the rollups. */
export function rollupGroups(groups: readonly Group[]): readonly RollupGroup[] {
  return groups.filter((group) => group !== 'conversation')
}

/** The SQL of {@link RollupSums}; the rollups are named `r`. */
export const SUMS = `sum(r.calls)::int8 AS calls,
    coalesce(sum(r.calls) FILTER (WHERE ${isOneOf(FAILED_OUTCOMES)}), 0)::int8 AS failed,
    sum(r.token_calls)::int8 AS token_calls, sum(r.prompt_tokens)::int8 AS prompt_tokens,
    sum(r.completion_tokens)::int8 AS completion_tokens, sum(r.total_tokens)::int8 AS total_tokens,
    sum(r.rated_up)::int8 AS rated_up, sum(r.rated_down)::int8 AS rated_down,
    string_agg(r.first_chunk::text, '') AS first_chunk,
    string_agg(r.duration::text, '') AS duration`

/** The outcomes come from our own lists and never from a caller, so they need no escaping. */
export function isOneOf(outcomes: readonly string[], row = 'r'): string {
  return `${row}.outcome IN (${outcomes.map((outcome) => `'${outcome}'`).join(', ')})`
}

/** The conditions on rollups that are not part of their scope. */
export interface RollupFilter extends Pick<Conditions, 'agent' | 'app' | 'model' | 'endUser'> {
  readonly outcome?: readonly CallOutcome[] | undefined
  /** The end user to whom the caller is bound, beside that of the query, which may be another one. */
  readonly boundTo?: string | undefined
}

/** The SQL of a filter, in which the rollups are named `r`, and its values, numbered from `$first` on. */
export function filterInSql(
  { agent, app, model, endUser, boundTo, outcome }: RollupFilter,
  first: number,
): { readonly condition: string; readonly values: readonly string[] } {
  const equal = [...Object.entries({ agent, app, model, end_user: endUser }), ['end_user', boundTo] as const]
  const given = equal.filter((pair): pair is [string, string] => pair[1] !== undefined)
  const conditions = given.map(([column], index) => `r.${column} = $${first + index}`)
  if (outcome !== undefined) conditions.push(isOneOf(outcome))
  return {
    condition: ['r.calls > 0', ...conditions].join(' AND '),
    values: given.map(([, value]) => value),
  }
}

/** The sums of one group in one bucket, as the database returns them. */
export interface ReportRow extends RollupSums, Readonly<Partial<Record<Group, string>>> {
  readonly start: Date
}
