import type { Quantiles as QuantilesRecord } from '#core/ledger/histogram.ts'
import type { UsageMetrics as Metrics } from '#core/reports/usage-accumulator.ts'
import { USAGE_DESCRIPTIONS } from '#http/descriptions/usage-descriptions.ts'
import { builder } from '../builder.ts'

const Quantiles = builder.objectRef<QuantilesRecord>('Quantiles').implement({
  description: 'How times are distributed, in milliseconds, with an error of at most 4.9 %.',
  fields: (t) => ({
    p50: t.exposeFloat('p50', { description: USAGE_DESCRIPTIONS.p50 }),
    p95: t.exposeFloat('p95', { description: USAGE_DESCRIPTIONS.p95 }),
    p99: t.exposeFloat('p99', { description: USAGE_DESCRIPTIONS.p99 }),
  }),
})

export const UsageMetrics = builder.interfaceRef<Metrics>('UsageMetrics').implement({
  description: 'The numbers of a set of calls that have ended.',
  fields: (t) => ({
    calls: t.expose('calls', { type: 'SafeInt', description: USAGE_DESCRIPTIONS.calls }),
    failedCalls: t.expose('failedCalls', {
      type: 'SafeInt',
      description:
        'How many of them failed: those with the outcome `UPSTREAM_ERROR`, `TIMEOUT`, `DRAINED` or `INTERRUPTED`.',
    }),
    promptTokens: t.expose('promptTokens', {
      type: 'SafeInt',
      nullable: true,
      description: USAGE_DESCRIPTIONS.promptTokens,
    }),
    completionTokens: t.expose('completionTokens', {
      type: 'SafeInt',
      nullable: true,
      description: USAGE_DESCRIPTIONS.completionTokens,
    }),
    totalTokens: t.expose('totalTokens', {
      type: 'SafeInt',
      nullable: true,
      description: USAGE_DESCRIPTIONS.totalTokens,
    }),
    tokenCoverage: t.exposeFloat('tokenCoverage', {
      nullable: true,
      description: USAGE_DESCRIPTIONS.tokenCoverage,
    }),
    ratedUp: t.expose('ratedUp', { type: 'SafeInt', description: USAGE_DESCRIPTIONS.ratedUp }),
    ratedDown: t.expose('ratedDown', { type: 'SafeInt', description: USAGE_DESCRIPTIONS.ratedDown }),
    firstChunkMs: t.expose('firstChunkMs', {
      type: Quantiles,
      nullable: true,
      description: USAGE_DESCRIPTIONS.firstChunkMs,
    }),
    durationMs: t.expose('durationMs', {
      type: Quantiles,
      nullable: true,
      description: USAGE_DESCRIPTIONS.durationMs,
    }),
  }),
})

export const UsageTotals = builder.objectRef<Metrics>('UsageTotals').implement({
  description: 'The numbers of a whole report, of one of its groups, or of today.',
  interfaces: [UsageMetrics],
})

export const UsagePoint = builder.objectRef<Metrics & { readonly start: Date }>('UsagePoint').implement({
  description: USAGE_DESCRIPTIONS.point,
  interfaces: [UsageMetrics],
  fields: (t) => ({
    start: t.expose('start', { type: 'DateTime', description: USAGE_DESCRIPTIONS.start }),
  }),
})
