import type { RollupSums } from './usage-accumulator.ts'

/** The dimensions by which a report can be grouped, in any combination. */
export const GROUPS = ['key', 'agent', 'app', 'model', 'user', 'end_user', 'outcome'] as const
export type Group = (typeof GROUPS)[number]

/** The sums of one group in one bucket, as the database returns them. */
export interface ReportRow extends RollupSums, Readonly<Partial<Record<Group, string>>> {
  readonly start: Date
}
