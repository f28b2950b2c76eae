import { GATEWAY_PROCESS, IN_STATE, PROCESS_FILTER } from '#resources/gateway-process.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { resourceType } from '../resources/resource-type.ts'
import { COUNTS_AS_LIST } from '../serving/cost.ts'

builder.queryField('gatewayProcesses', (t) =>
  t.field({
    type: [resourceType(GATEWAY_PROCESS)],
    nullable: { list: true, items: false },
    extensions: COUNTS_AS_LIST,
    description:
      'The processes of the gateway, first those that live, and of these those that started last; at most 1,000. Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.',
    args: { state: t.arg({ type: vocabularyEnum(PROCESS_FILTER), description: IN_STATE }) },
    resolve: (_root, { state }, context) =>
      context.services.processes.list(callerOf(context), { state: state ?? undefined }),
  }),
)
