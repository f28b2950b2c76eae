import Type from 'typebox'
import type { Quantiles } from '#core/ledger/histogram.ts'
import type { Group } from '#core/reports/report-rows.ts'
import type { Report, ReportGroup } from '#core/reports/reports.ts'
import type { UsageMetrics } from '#core/reports/usage-accumulator.ts'
import { ref, timestamp } from '#http/response/schemas.ts'
import { CALL } from './call.ts'
import { CALL_OUTCOME } from './call-words.ts'
import { defineResource, wordSchema } from './define/define-resource.ts'
import {
  agent,
  derivedFrom,
  key,
  large,
  name,
  nullable,
  number,
  object,
  text,
  user,
  words,
} from './define/fields.ts'
import type { Field } from './define/resource.ts'
import { GRANULARITY, USAGE_GROUP } from './usage.ts'

/** A report of usage, and the properties of a request for it. */
export const REPORT_TEXTS = {
  report: 'The calls that have ended, each counted in the hour, day or month in which it was admitted.',
  from: 'The start of the report: that of the hour that contains the requested `from`.',
  to: 'The end of the report, not included: the requested `to`, or the end of the hour in which it lies.',
  timezone: 'The time zone in which days and months begin.',
  granularity: 'The length of the buckets.',
  groupBy: 'The properties by which the calls are grouped.',
  totals: 'The numbers of all calls together.',
  groupTotals: 'The numbers of the group over the whole report.',
  points:
    'One for each hour, day or month in order and without gaps: one with zeros where there were no calls. The first and the last have only the part of their day or month that lies within the report.',
  start:
    'When the hour, day or month begins in the time zone of the report; for the first one, when the report begins.',
  compareFrom: 'The start of the period with which the report is compared, in the same form as `from`.',
  compareTo:
    'The end of the period with which the report is compared, not included; without it, that period is as long as the report.',
} as const

export const QUANTILES = defineResource<Quantiles>()(
  'Quantiles',
  'How times are distributed, in milliseconds, with an error of at most 4.9 %.',
  {
    p50: number('The median: half of the calls took no longer.'),
    p95: number('The 95th percentile.'),
    p99: number('The 99th percentile.'),
  },
)

export const METRICS = defineResource<UsageMetrics>()(
  'UsageMetrics',
  'The numbers of a set of calls that have ended.',
  {
    calls: large('How many calls there were.'),
    failedCalls: large(
      'How many of them failed: the platform failed or took too long, or the gateway shut down or died.',
    ),
    promptTokens: nullable(large('The tokens of the inputs; null where none were reported.')),
    completionTokens: nullable(large('The tokens of the replies; null where none were reported.')),
    totalTokens: nullable(large('The tokens of both; null where none were reported.')),
    tokenCoverage: nullable(
      number(
        'The share (0 to 1) of the calls for which the platform reported tokens. The sums of tokens cover only these calls. Null where there were no calls.',
      ),
    ),
    ratedUp: large('How many of the answers their users rated as good.'),
    ratedDown: large('How many of the answers their users rated as bad.'),
    firstChunkMs: nullable(
      object(
        QUANTILES,
        'The time from the dispatch of a call to its first text, in milliseconds, with an error of at most 4.9 %; null where there is no such call.',
      ),
    ),
    durationMs: nullable(
      object(
        QUANTILES,
        'The time from the dispatch of a call to its end, in milliseconds, with an error of at most 4.9 %; null where there is no such call.',
      ),
    ),
  },
)

/** A group of a report, with the report, of which GraphQL reads more. */
export interface GroupOfReport {
  readonly report: Report
  readonly entry: ReportGroup
}

function groupedBy<Value>(of: Field<Value, string>, property: Group) {
  return derivedFrom<GroupOfReport>().computed(
    nullable(of),
    ['entry'],
    ({ entry }) => entry.group[property] ?? null,
  )
}

/** A group as GraphQL has it, where a property is null unless the report is grouped by it. */
export const GROUP_OF_REPORT = defineResource<GroupOfReport>()(
  'UsageGroup',
  'The calls that have the same value of each property of `groupBy`. Properties by which the report is not grouped are null.',
  {
    keyId: groupedBy(
      key(
        'The id of the API key, if the report is grouped by `KEY`.',
        'The API key, if the report is grouped by `KEY`; null if it is not yours to see, or if its record was removed (`apiKeys.revokedRetentionDays`).',
      ),
      'key',
    ),
    ownerId: groupedBy(
      user(
        'The id of the user whom the API keys belong to, if the report is grouped by `USER`.',
        'The user whom the API keys belong to, if the report is grouped by `USER`; null if it is not yours to see.',
      ),
      'user',
    ),
    agent: groupedBy(
      agent(
        'The id of the agent, if the report is grouped by `AGENT`. Empty for uploads without an agent.',
        'The agent, if the report is grouped by `AGENT`; null if it is not configured any more.',
      ),
      'agent',
    ),
    app: groupedBy(
      name('The id of the app, if the report is grouped by `APP`. Empty for agents without apps.'),
      'app',
    ),
    model: groupedBy(
      text('The model, if the report is grouped by `MODEL`. Empty where the platform named none.'),
      'model',
    ),
    endUser: groupedBy(
      text('The end user, if the report is grouped by `END_USER`. Empty where the client named none.'),
      'end_user',
    ),
    outcome: groupedBy(
      words(CALL_OUTCOME, 'How the calls ended, if the report is grouped by `OUTCOME`.'),
      'outcome',
    ),
  },
)

const metrics = METRICS.schema.properties

const METRICS_EXAMPLE = {
  calls: 2,
  failed_calls: 0,
  prompt_tokens: 24,
  completion_tokens: 10,
  total_tokens: 34,
  token_coverage: 1,
  rated_up: 1,
  rated_down: 0,
  first_chunk_ms: { p50: 210, p95: 340, p99: 340 },
  duration_ms: { p50: 900, p95: 1200, p99: 1200 },
}

/** What a group is of: a property is there where the report is grouped by it. */
export const UsageGroupValuesSchema = Type.Object(
  {
    key: Type.Optional(Type.String({ description: 'The id of the API key.' })),
    agent: Type.Optional(Type.String({ description: CALL.fields.agent.description })),
    app: Type.Optional(Type.String({ description: CALL.fields.app.description })),
    model: Type.Optional(Type.String({ description: 'The model; empty where the platform named none.' })),
    user: Type.Optional(Type.String({ description: CALL.fields.ownerId.description })),
    end_user: Type.Optional(Type.String({ description: CALL.fields.endUser.description })),
    outcome: Type.Optional(wordSchema(CALL_OUTCOME, 'How the calls ended.')),
    conversation: Type.Optional(Type.String({ description: 'The id of the conversation at the gateway.' })),
  } satisfies Record<Group, unknown>,
  {
    $id: 'UsageGroupValues',
    description: 'The value of each property of `group_by`; empty without `group_by`.',
    examples: [{ agent: 'fastgpt', outcome: 'done' }],
  },
)

export const UsageReportSchema = Type.Object(
  {
    from: timestamp(REPORT_TEXTS.from),
    to: timestamp(REPORT_TEXTS.to),
    timezone: Type.String({ description: REPORT_TEXTS.timezone }),
    granularity: wordSchema(GRANULARITY, REPORT_TEXTS.granularity),
    group_by: Type.Array(wordSchema(USAGE_GROUP), { description: REPORT_TEXTS.groupBy }),
    totals: Type.Object(metrics, { description: REPORT_TEXTS.totals }),
    groups: Type.Array(
      Type.Object({
        group: ref(UsageGroupValuesSchema),
        totals: Type.Object(metrics, { description: REPORT_TEXTS.groupTotals }),
        points: Type.Array(Type.Object({ start: timestamp(REPORT_TEXTS.start), ...metrics }), {
          description: `The numbers of the group. ${REPORT_TEXTS.points}`,
        }),
      }),
      {
        description:
          'One item for each group, that with the most calls first. Without `group_by` there is one.',
      },
    ),
    previous: Type.Optional(
      Type.Unsafe<unknown>({
        // Beside a `$ref` alone, the description would be lost.
        allOf: [{ $ref: 'UsageReport#' }],
        description:
          'The same report for the period before, or for that of `compare_from`; only if one of `previous` and `compare_from` was given. It has no `previous` itself.',
      }),
    ),
  },
  {
    $id: 'UsageReport',
    description: REPORT_TEXTS.report,
    examples: [
      {
        from: '2026-11-19T00:00:00.000Z',
        to: '2026-11-20T00:00:00.000Z',
        timezone: 'UTC',
        granularity: 'day',
        group_by: ['agent'],
        totals: METRICS_EXAMPLE,
        groups: [
          {
            group: { agent: 'fastgpt' },
            totals: METRICS_EXAMPLE,
            points: [{ start: '2026-11-19T00:00:00.000Z', ...METRICS_EXAMPLE }],
          },
        ],
      },
    ],
  },
)

/** A report as REST and the command line write it. */
export function reportRecord({ from, to, timezone, granularity, groupBy, totals, groups }: Report) {
  return {
    timezone,
    granularity,
    group_by: groupBy,
    from: from.toISOString(),
    to: to.toISOString(),
    totals: METRICS.record(totals),
    groups: groups.map(groupRecord),
  }
}

export function groupRecord({ group, totals, points }: ReportGroup) {
  return {
    group,
    totals: METRICS.record(totals),
    points: points.map((point) => ({ start: point.start.toISOString(), ...METRICS.record(point) })),
  }
}
