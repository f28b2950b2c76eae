import { missingGroups, withoutCalls } from '#core/reports/missing-groups.ts'
import type { Report } from '#core/reports/reports.ts'
import { topGroups } from '#core/reports/top-groups.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { visibleCalls } from '#resources/call.ts'
import { GRANULARITY, GROUP_ORDER, USAGE_CONDITIONS, USAGE_GROUP, USAGE_RANGE } from '#resources/usage.ts'
import { GROUP_OF_REPORT, REPORT_TEXTS } from '#resources/usage-report.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { conditionInputs, conditionsIn, filterInput } from '../resources/list-field.ts'
import { resourceType } from '../resources/resource-type.ts'
import { COUNTS_AS_LIST } from '../serving/cost.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import { ApiKey } from './api-key.ts'
import { UsagePoint, UsageTotals } from './usage-metrics.ts'
import { Quota } from './user.ts'

const Granularity = vocabularyEnum(GRANULARITY)
const GroupBy = vocabularyEnum(USAGE_GROUP)
const GroupOrder = vocabularyEnum(GROUP_ORDER)

const UsageFilter = filterInput('UsageFilter', 'Which calls a report counts.', USAGE_CONDITIONS, USAGE_RANGE)

export const UsageGroup = resourceType(GROUP_OF_REPORT, (t) => ({
  totals: t.field({
    type: UsageTotals,
    description: REPORT_TEXTS.groupTotals,
    resolve: ({ entry }) => entry.totals,
  }),
  points: t.field({
    type: [UsagePoint],
    description: `The numbers of the group. ${REPORT_TEXTS.points}`,
    resolve: ({ entry }, _args, { reportPoints }) => reportPoints.inTurn(entry),
  }),
  previousTotals: t.field({
    type: UsageTotals,
    nullable: true,
    description: 'The numbers of the group in the period of `UsageReport.previous`.',
    resolve: ({ report, entry }, _args, { previousReports }) => previousReports.totalsBefore(report, entry),
  }),
}))

/** Which groups a list has, and how many. */
const firstGroups = builder.args((t) => ({
  first: t.int({
    required: true,
    defaultValue: 20,
    description: 'How many groups to return: 1 to 100.',
  }),
  orderBy: t.field({
    type: GroupOrder,
    required: true,
    defaultValue: 'calls',
    description: 'Which groups come first.',
  }),
}))

export const UsageReport = builder.objectRef<Report>('UsageReport')
UsageReport.implement({
  description: `${REPORT_TEXTS.report} ${visibleCalls('ADMIN')}`,
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: REPORT_TEXTS.from }),
    to: t.expose('to', { type: 'DateTime', description: REPORT_TEXTS.to }),
    timezone: t.exposeString('timezone', { description: REPORT_TEXTS.timezone }),
    granularity: t.expose('granularity', { type: Granularity, description: REPORT_TEXTS.granularity }),
    groupBy: t.field({
      type: [GroupBy],
      description: REPORT_TEXTS.groupBy,
      resolve: ({ groupBy }) => [...groupBy],
    }),
    totals: t.expose('totals', { type: UsageTotals, description: REPORT_TEXTS.totals }),
    points: t.field({
      type: [UsagePoint],
      description: `The numbers of all calls together. ${REPORT_TEXTS.points}`,
      resolve: (report, _args, { reportPoints }) => reportPoints.inTurn(report),
    }),
    groups: t.field({
      type: [UsageGroup],
      description:
        'The groups with the most calls, or with the most of `orderBy`. One group without `groupBy`.',
      args: firstGroups,
      resolve: (report, { first, orderBy }) =>
        topGroups(report.groups, orderBy, first).map((entry) => ({ report, entry })),
    }),
    missingGroups: t.field({
      type: [UsageGroup],
      nullable: true,
      description:
        'The groups of `UsageReport.previous` that have no calls in this report. Their own numbers are zero, and `previousTotals` are those that they had, by which they are ordered.',
      args: firstGroups,
      async resolve(report, { first, orderBy }, { previousReports }) {
        const missing = missingGroups(report, await previousReports.reportBefore(report))
        return withoutCalls(report, topGroups(missing, orderBy, first)).map((entry) => ({ report, entry }))
      },
    }),
    groupCount: t.int({
      description: 'How many groups there are in all.',
      resolve: ({ groups }) => groups.length,
    }),
    previous: t.field({
      type: UsageReport,
      extensions: COUNTS_AS_LIST,
      nullable: true,
      description:
        'The same report for the period with which this one is compared: the one of `compareFrom`, or else the period before, which is as long and ends where this one begins. It counts as one report with this one towards the rate limit; what comes before it counts by itself.',
      resolve: (report, _args, { previousReports }) => previousReports.reportBefore(report),
    }),
    quota: t.field({
      type: Quota,
      description: 'The quota of your user, whatever the report is about.',
      resolve: (_report, _args, { loaders }) => loaders.quota(),
    }),
  }),
})

builder.queryField('usage', (t) =>
  t.field({
    type: UsageReport,
    extensions: HAS_OWN_LIMIT,
    nullable: true,
    description:
      'Reports usage: totals, points by hour, day or month, groups, and the period before. Takes an access token or any API key.',
    args: {
      filter: t.arg({ type: UsageFilter, description: 'Which calls are counted.' }),
      granularity: t.arg({
        type: Granularity,
        required: true,
        defaultValue: 'day',
        description: REPORT_TEXTS.granularity,
      }),
      groupBy: t.arg({
        type: [GroupBy],
        required: true,
        defaultValue: [],
        description: 'The properties by which to group, in any combination, such as `[AGENT, OUTCOME]`.',
      }),
      timezone: t.arg.string({
        required: true,
        defaultValue: 'UTC',
        description: USAGE_RANGE.timezoneName,
      }),
      compareFrom: t.arg({
        type: 'DateTime',
        description: `${REPORT_TEXTS.compareFrom} Without it, that is the period before the report, which is as long and ends where the report begins.`,
      }),
      compareTo: t.arg({ type: 'DateTime', description: REPORT_TEXTS.compareTo }),
    },
    resolve: (_root, { filter, ...query }, context) =>
      context.services.usage.report(
        callerOf(context),
        { ...conditionsIn(USAGE_CONDITIONS, filter), ...withoutNulls(query) },
        showLimit(context.reply),
        context.signal,
      ),
  }),
)

const { keyId: _keyId, ownerId: _ownerId, ...KEY_CONDITIONS } = USAGE_CONDITIONS

builder.objectField(ApiKey, 'usageReport', (t) =>
  t.field({
    type: UsageReport,
    nullable: true,
    extensions: COUNTS_AS_LIST,
    description:
      'The usage of this key. The reports of all keys of a list are read together and count as one report towards the rate limit. Null for a key that you created for another user.',
    args: builder.args((t) => ({
      ...conditionInputs(t, KEY_CONDITIONS, USAGE_RANGE),
      granularity: t.field({
        type: Granularity,
        required: true,
        defaultValue: 'day',
        description: REPORT_TEXTS.granularity,
      }),
      groupBy: t.field({
        type: [GroupBy],
        required: true,
        defaultValue: [],
        description: 'The properties by which to group.',
      }),
      timezone: t.string({ required: true, defaultValue: 'UTC', description: USAGE_RANGE.timezoneName }),
    })),
    resolve({ id }, { granularity, groupBy, timezone, ...filter }, { loaders }) {
      return loaders.report(id, { ...conditionsIn(KEY_CONDITIONS, filter), granularity, groupBy, timezone })
    },
  }),
)
