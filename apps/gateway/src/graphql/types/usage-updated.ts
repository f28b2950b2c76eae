import type { UsageUpdate as Update } from '#core/reports/usage-today.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { errorAsLastItem, itemOrThrow } from '../streams/item-or-error.ts'
import { UsageTotals } from './usage-metrics.ts'
import { Quota } from './user.ts'

const UsageUpdate = builder.objectRef<Update>('UsageUpdate').implement({
  description: 'What has been used today, and what is left of your quota.',
  fields: (t) => ({
    day: t.expose('day', { type: 'DateTime', description: 'The start of the day, at midnight UTC.' }),
    totals: t.expose('totals', {
      type: UsageTotals,
      description:
        'The calls that were admitted today and have ended: those of your own keys, for an administrator all calls, and for an API key without the permission `ADMIN` its own.',
    }),
    quota: t.expose('quota', { type: Quota, description: 'The quota of your user.' }),
  }),
})

builder.subscriptionField('usageUpdated', (t) =>
  t.field({
    type: UsageUpdate,
    nullable: true,
    description:
      'The usage of today: at once, and then whenever it changes, at most twice a second, or every five seconds if only the quota has changed. Takes an access token or any API key. Ends with an error when the credential is no longer valid or the gateway shuts down.',
    subscribe: async (_root, _args, context) =>
      errorAsLastItem(await context.services.usage.updates(callerOf(context), showLimit(context.reply))),
    resolve: itemOrThrow,
  }),
)
