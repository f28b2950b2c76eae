import type { Quota as QuotaRecord } from '#core/accounts/users/user.ts'
import { QUOTA_PERIODS } from '#core/ledger/quota-period.ts'
import { USER_DESCRIPTIONS } from '#http/descriptions/user-descriptions.ts'
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
      description: USER_DESCRIPTIONS.maxApiCalls,
    }),
    apiCallsCount: t.expose('apiCallsCount', {
      type: 'SafeInt',
      description: USER_DESCRIPTIONS.apiCallsCount,
    }),
    remaining: t.expose('remaining', { type: 'SafeInt', description: USER_DESCRIPTIONS.remaining }),
    quotaPeriod: t.expose('quotaPeriod', {
      type: QuotaPeriod,
      description: 'How often the calls are counted from zero.',
    }),
    resetsAt: t.expose('resetsAt', {
      type: 'DateTime',
      nullable: true,
      description: USER_DESCRIPTIONS.resetsAt,
    }),
  }),
})
