import type { Quota as QuotaRecord } from '#core/users/user.ts'
import { QUOTA_PERIODS } from '#core/users/user-rules.ts'
import { builder } from '../builder.ts'
import { enumOf } from '../enum-of.ts'

export const QuotaPeriod = enumOf('QuotaPeriod', QUOTA_PERIODS, {
  description: 'How often the calls of a user are counted from zero.',
  values: {
    none: 'Never: the quota holds for all calls ever.',
    day: 'At midnight, UTC.',
    month: 'On the first of the month, UTC.',
  },
})

export const Quota = builder.objectRef<QuotaRecord>('Quota').implement({
  description: 'How many calls a user may make. All API keys of the user share it.',
  fields: (t) => ({
    maxApiCalls: t.expose('maxApiCalls', {
      type: 'SafeInt',
      description: 'The most calls in a quota period. 0 allows none.',
    }),
    apiCallsCount: t.expose('apiCallsCount', {
      type: 'SafeInt',
      description: 'Calls in the current quota period; all calls ever if there is no period.',
    }),
    remaining: t.expose('remaining', { type: 'SafeInt', description: 'How many calls are left.' }),
    quotaPeriod: t.expose('quotaPeriod', {
      type: QuotaPeriod,
      description: 'How often the calls are counted from zero.',
    }),
    resetsAt: t.expose('resetsAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next period begins; null if there is no period.',
    }),
  }),
})
