import { parseRequestId } from '#core/reports/refusals/refusals-query.ts'
import { showLimit } from '#http/response/show-headers.ts'
import {
  COUNT_CONDITIONS,
  COUNT_RANGE,
  COUNT_SPAN,
  PER,
  REFUSAL,
  REFUSAL_COUNT,
  REFUSALS,
  visibleRefusals,
} from '#resources/refusal.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { conditionsIn, filterInput, listField } from '../resources/list-field.ts'
import { resourceType } from '../resources/resource-type.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'

const VISIBLE = `${visibleRefusals('ADMIN')} Takes an access token or any API key.`

listField(REFUSALS, {
  name: 'refusals',
  description: `Lists refused requests of the last day, newest first; pages go forwards only. ${VISIBLE}`,
  filter: ['RefusalFilter', 'Which refusals to list.'],
  page: 'refusals',
  item: 'A refusal',
  listOf: ({ services }) => services.refusals,
})

const RefusalCountFilter = filterInput(
  'RefusalCountFilter',
  'Which refused requests to count.',
  COUNT_CONDITIONS,
  COUNT_RANGE,
)

builder.queryFields((t) => ({
  refusal: t.field({
    type: resourceType(REFUSAL),
    nullable: true,
    description: `The last refusal of the request with this id; null if none is kept. ${VISIBLE}`,
    args: {
      requestId: t.arg.string({ required: true, description: REFUSAL.fields.requestId.description }),
    },
    resolve: (_root, { requestId }, { loaders }) => {
      parseRequestId(requestId)
      return loaders.refusal(requestId)
    },
  }),
  refusalCounts: t.field({
    type: [resourceType(REFUSAL_COUNT)],
    extensions: HAS_OWN_LIMIT,
    nullable: { list: true, items: false },
    description: `Counts refused requests by time, API key, owner, agent, reason and limit, in the order of time and the most frequent first; at most 10,000 counts. ${VISIBLE}`,
    args: {
      filter: t.arg({ type: RefusalCountFilter, description: 'Which refused requests to count.' }),
      per: t.arg({
        type: vocabularyEnum(COUNT_SPAN),
        required: true,
        defaultValue: 'hour',
        description: PER,
      }),
      timezone: t.arg.string({
        required: true,
        defaultValue: 'UTC',
        description: COUNT_RANGE.timezoneName,
      }),
    },
    resolve: async (_root, { filter, ...query }, context) => {
      const input = { ...conditionsIn(COUNT_CONDITIONS, filter), ...query }
      const counts = await context.services.refusals.counts(
        callerOf(context),
        input,
        showLimit(context.reply),
        context.signal,
      )
      return context.reportPoints.inTurn({ points: counts })
    },
  }),
}))
