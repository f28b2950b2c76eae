import type { RollupSums } from './usage-accumulator.ts'

/** The dimensions by which a report can be grouped, in any combination. */
export const GROUPS = ['key', 'agent', 'app', 'model', 'user', 'end_user', 'outcome'] as const
export type Group = (typeof GROUPS)[number]

/** The SQL of {@link RollupSums}; the rollups are named `r`. */
export const SUMS = `sum(r.calls)::int8 AS calls,
    coalesce(sum(r.calls) FILTER (WHERE r.outcome IN ('upstream_error', 'timeout', 'drained', 'interrupted')), 0)::int8 AS failed,
    sum(r.token_calls)::int8 AS token_calls, sum(r.prompt_tokens)::int8 AS prompt_tokens,
    sum(r.completion_tokens)::int8 AS completion_tokens, sum(r.total_tokens)::int8 AS total_tokens,
    string_agg(r.first_chunk::text, '') AS first_chunk,
    string_agg(r.duration::text, '') AS duration`

/** The sums of one group in one bucket, as the database returns them. */
export interface ReportRow extends RollupSums, Readonly<Partial<Record<Group, string>>> {
  readonly start: Date
}
