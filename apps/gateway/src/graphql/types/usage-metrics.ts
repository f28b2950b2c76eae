import type { Quantiles as QuantilesRecord } from '#core/ledger/histogram.ts'
import type { UsageMetrics as Metrics } from '#core/reports/usage-accumulator.ts'
import { builder } from '../builder.ts'

const Quantiles = builder.objectRef<QuantilesRecord>('Quantiles').implement({
  description: 'How times are distributed, in milliseconds, with an error of at most 4.9 %.',
  fields: (t) => ({
    p50: t.exposeFloat('p50', { description: 'The median: half of the calls took no longer.' }),
    p95: t.exposeFloat('p95', { description: 'The 95th percentile.' }),
    p99: t.exposeFloat('p99', { description: 'The 99th percentile.' }),
  }),
})

export const UsageMetrics = builder.interfaceRef<Metrics>('UsageMetrics').implement({
  description: 'The numbers of a set of calls that have ended.',
  fields: (t) => ({
    calls: t.expose('calls', { type: 'SafeInt', description: 'How many calls there were.' }),
    failedCalls: t.expose('failedCalls', {
      type: 'SafeInt',
      description:
        'How many of them failed: those with the outcome `UPSTREAM_ERROR`, `TIMEOUT`, `DRAINED` or `INTERRUPTED`.',
    }),
    promptTokens: t.expose('promptTokens', {
      type: 'SafeInt',
      nullable: true,
      description: 'The tokens of the inputs; null where none were reported.',
    }),
    completionTokens: t.expose('completionTokens', {
      type: 'SafeInt',
      nullable: true,
      description: 'The tokens of the replies; null where none were reported.',
    }),
    totalTokens: t.expose('totalTokens', {
      type: 'SafeInt',
      nullable: true,
      description: 'The tokens of both; null where none were reported.',
    }),
    tokenCoverage: t.exposeFloat('tokenCoverage', {
      nullable: true,
      description:
        'The share (0 to 1) of the calls for which the platform reported tokens, which alone are in the sums; null where there were no calls.',
    }),
    firstChunkMs: t.expose('firstChunkMs', {
      type: Quantiles,
      nullable: true,
      description:
        'The time from the dispatch of a call to its first text; null where there is no such call.',
    }),
    durationMs: t.expose('durationMs', {
      type: Quantiles,
      nullable: true,
      description: 'The time from the dispatch of a call to its end; null where there is no such call.',
    }),
  }),
})

export const UsageTotals = builder.objectRef<Metrics>('UsageTotals').implement({
  description: 'The numbers of a whole report, of one of its groups, or of today.',
  interfaces: [UsageMetrics],
})

export const UsagePoint = builder.objectRef<Metrics & { readonly start: Date }>('UsagePoint').implement({
  description: 'The numbers of one hour, day or month.',
  interfaces: [UsageMetrics],
  fields: (t) => ({
    start: t.expose('start', { type: 'DateTime', description: 'When the hour, day or month begins.' }),
  }),
})
