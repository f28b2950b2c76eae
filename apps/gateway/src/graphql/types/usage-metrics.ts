import type { UsageMetrics as Metrics } from '#core/reports/usage-accumulator.ts'
import { METRICS, REPORT_TEXTS } from '#resources/usage-report.ts'
import { builder } from '../builder.ts'
import type { FieldBuilder } from '../resources/field-source.ts'
import { resourceFields } from '../resources/resource-type.ts'

export const UsageMetrics = builder.interfaceRef<Metrics>('UsageMetrics').implement({
  description: METRICS.description,
  fields: (t) => resourceFields(t as unknown as FieldBuilder<Metrics>, METRICS),
})

export const UsageTotals = builder.objectRef<Metrics>('UsageTotals').implement({
  description: 'The numbers of a whole report, of one of its groups, or of today.',
  interfaces: [UsageMetrics],
})

export const UsagePoint = builder.objectRef<Metrics & { readonly start: Date }>('UsagePoint').implement({
  description: 'The numbers of one hour, day or month, as far as it lies within the report.',
  interfaces: [UsageMetrics],
  fields: (t) => ({
    start: t.expose('start', { type: 'DateTime', description: REPORT_TEXTS.start }),
  }),
})
