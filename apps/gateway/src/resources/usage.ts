import { GRANULARITIES } from '#core/reports/range/calendar.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import { GROUPS } from '#core/reports/report-rows.ts'
import { GROUP_ORDERS } from '#core/reports/top-groups.ts'
import { CALL_CONDITIONS } from './call.ts'
import { CALL_STATE } from './call-words.ts'
import {
  byAnyOf,
  byName,
  byText,
  type ConditionsOf,
  type RangeTexts,
  rangeOf,
  type Selection,
} from './define/define-list.ts'
import { closed } from './define/vocabulary.ts'

export const GRANULARITY = closed(
  'UsageGranularity',
  GRANULARITIES,
  'The length of the buckets of a report.',
  {
    hour: 'Hours. Without `from`, a report covers the last day.',
    day: 'Days of the time zone. Without `from`, a report covers the last 30 days.',
    month: 'Months of the time zone. Without `from`, a report covers the last 365 days.',
  },
)

export const USAGE_GROUP = closed('UsageGroupBy', GROUPS, 'A property by which calls are grouped.', {
  key: 'The API key that made the call.',
  agent: 'The agent that was called.',
  app: 'The app of the agent. Ids of apps belong to an agent, so group by the agent as well.',
  model: 'The model that the platform named.',
  user: 'The user whom the API key belongs to.',
  end_user: 'The end user that the client named.',
  outcome: 'How the call ended.',
  conversation:
    'The conversation of one agent, which is required, by its id at the gateway: the 100 that were used last. It stands alone, and is read from the ledger, so that the report has no calls that the ledger has not.',
})

export const GROUP_ORDER = closed(
  'UsageGroupOrder',
  GROUP_ORDERS,
  'Which groups come first: those with the most of something.',
  {
    calls: 'Calls.',
    failed_calls: 'Calls that failed.',
    total_tokens: 'Tokens of inputs and replies.',
  },
)

const { agent, app, model, keyId, ownerId } = CALL_CONDITIONS

export const USAGE_CONDITIONS = {
  agent,
  app: byName(
    `${app.description} Apps beyond the bound of a day are counted under \`(other)\`.`,
    app.maxLength,
  ),
  model,
  keyId,
  ownerId,
  endUser: byText(
    'Only calls of the end user whom the client named so, with all keys together; an empty text stands for calls without one. End users beyond the bound of a day are counted under `(other)`.',
    CALL_CONDITIONS.endUser.maxLength,
  ),
  outcome: byAnyOf(CALL_STATE, 'Only calls that ended in one of these ways.'),
} satisfies ConditionsOf<ReportInput>

export const USAGE_RANGE: RangeTexts = {
  fromTime: `${rangeOf('calls admitted').fromTime} The report begins with the hour that contains it.`,
  toTime:
    'Only calls admitted before this time, in the same form as `from`, which must be earlier: a date stands for the start of that day, which is not included. The report ends with the hour in which it lies; now by default.',
  timezoneName:
    'The IANA name of the time zone in which days and months begin, also those of `from` and `to`, such as `Asia/Shanghai`; UTC by default. Its offset from UTC must be whole hours.',
}

/** What the command line reports by. */
export const USAGE = { conditions: USAGE_CONDITIONS, range: USAGE_RANGE } satisfies Selection
