import { attemptsOf } from '#core/reports/call-attempts.ts'
import type { Principal } from '#core/requests/principal.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { CALL, CALL_ATTEMPT, CALL_CONDITIONS, CALLS, INSTANCE } from '#resources/call.ts'
import { builder } from '../builder.ts'
import { callerOf, type GraphqlContext, readCredential } from '../context.ts'
import { placeInFilter } from '../mistakes/input-places.ts'
import { foundOr } from '../reads/found-or.ts'
import { relatedQuery } from '../reads/related-query.ts'
import { conditionsIn, filterInput } from '../resources/list-field.ts'
import { prismaResource } from '../resources/prisma-resource.ts'
import { resourceType } from '../resources/resource-type.ts'
import { PAGES_FORWARDS } from '../serving/pages-in-one-direction.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import { ApiKey } from './api-key.ts'
import { ChatReply, ChatStarted } from './chat/chat.ts'
import { OPEN_QUESTION, Pause } from './chat/chat-pause.ts'
import { ErrorReason, isGraphqlReason } from './error-reason.ts'
import { Upload } from './upload.ts'
import { User } from './user.ts'

const { reason, ...fields } = CALL.fields

export const Call = prismaResource('Call', { ...CALL, fields })

const CallAttempt = resourceType(CALL_ATTEMPT, (t) => ({
  reason: t.field({
    type: ErrorReason,
    nullable: true,
    description: 'The stable word of its error; null if it did not fail.',
    resolve: ({ reason }) => (isGraphqlReason(reason) ? reason : null),
  }),
}))

builder.prismaObjectFields(Call, (t) => ({
  reason: t.field({
    type: ErrorReason,
    nullable: true,
    description: reason.description,
    select: { reason: true },
    // A row may have been written by another version of the gateway.
    resolve: ({ reason }) => (isGraphqlReason(reason) ? reason : null),
  }),
  attemptList: t.field({
    type: [CallAttempt],
    nullable: true,
    description:
      'The attempts, in their order, if there were several or the only one failed: a first attempt that succeeds is in the fields of the call itself. At most eight. Null otherwise, while the call runs, if it was interrupted, and for uploads.',
    select: { attemptList: true },
    resolve: ({ attemptList }) => attemptsOf(attemptList),
  }),
  instance: t.field({
    type: resourceType(INSTANCE),
    nullable: true,
    description: 'The process that served the call. Shown only to administrators.',
    select: { instance: true },
    resolve: ({ instance }, _args, { loaders }) => loaders.instance(instance),
  }),
  pause: t.field({
    type: Pause,
    nullable: true,
    description: `${OPEN_QUESTION} Null if the call has not paused, or its question was answered, given up or has expired, or if it is not yours to answer.`,
    select: { id: true, paused: true },
    resolve: ({ id, paused }, _args, { loaders }) => (paused ? loaders.pause(id) : null),
  }),
}))

builder.prismaObjectField(Upload, 'call', (t) =>
  t.field({
    type: Call,
    nullable: true,
    description: 'The call of the ledger that uploaded the file; null once it is past its retention.',
    select: { callId: true },
    resolve: ({ callId }, _args, context, info) => context.loaders.call(callId, relatedQuery(context, info)),
  }),
)

/** The operation of a chat reads its key only here, since the statement that admits a call does not need it. */
async function callerOfChat(context: GraphqlContext): Promise<Principal> {
  await readCredential(context.services, context)
  return callerOf(context)
}

builder.objectField(ChatStarted, 'call', (t) =>
  t.prismaField({
    type: Call,
    nullable: true,
    description:
      'The call, as `call(id)` shows it: it still runs, unless the item is repeated. Null if the ledger cannot be read within two seconds. It is read only if it is selected.',
    resolve: (query, { chat }, _args, context) =>
      context.services.chatCalls.findRunning(() => callerOfChat(context), chat.callId, query),
  }),
)

builder.objectField(ChatReply, 'call', (t) =>
  t.prismaField({
    type: Call,
    nullable: true,
    description:
      'The call, as `call(id)` shows it. Waits at most two seconds until the ledger has its end, and otherwise shows it as it still runs; null if the ledger cannot be read in that time. It is read only if it is selected.',
    resolve: (query, { chat }, _args, context) =>
      context.services.chatCalls.findSettled(() => callerOfChat(context), chat.callId, query),
  }),
)

const CallFilter = filterInput('CallFilter', 'Which calls to list.', CALL_CONDITIONS, CALLS.range)

const CallConnection = builder.connectionObject(
  {
    type: Call,
    name: 'CallConnection',
    extensions: PAGES_FORWARDS,
    description: 'A page of calls.',
    fields: (t) => ({
      totalCount: t.int({
        nullable: true,
        description:
          'How many calls there are on all pages; null for more than 10,000, and for the calls of a user or a key, which `Query.calls` counts with a filter. It is counted only if it is selected, and counts as a page of its own towards the rate limit.',
        extensions: { pothosPrismaTotalCount: true },
        resolve: (page) => (page as { totalCount?: () => Promise<number | null> }).totalCount?.() ?? null,
      }),
    }),
  },
  { name: 'CallEdge', description: 'A call and its place in the list.' },
)

builder.prismaObjectField(User, 'calls', (t) =>
  t.prismaConnection(
    {
      type: Call,
      cursor: 'id',
      nullable: true,
      description:
        'The calls of the API keys of the user, newest first; pages go forwards only. The lists of all users of a page count as one page towards the rate limit.',
      resolve: (query, { id }, _args, { loaders }) => loaders.callsOfOwner(id, { query }),
    },
    CallConnection,
  ),
)

builder.prismaObjectField(ApiKey, 'calls', (t) =>
  t.prismaConnection(
    {
      type: Call,
      cursor: 'id',
      nullable: true,
      description:
        'The calls of the key, newest first, as far as they are yours to see; pages go forwards only. The lists of all keys of a page count as one page towards the rate limit.',
      resolve: (query, { id }, _args, { loaders }) => loaders.callsOfKey(id, { query }),
    },
    CallConnection,
  ),
)

builder.queryField('calls', (t) =>
  t.prismaConnection(
    {
      type: Call,
      extensions: HAS_OWN_LIMIT,
      cursor: 'id',
      nullable: true,
      description:
        'Lists calls, newest first, including those that still run; pages go forwards only. Users see the calls of their own keys, administrators all calls, and an API key without the permission `ADMIN` only its own calls. A request that a trusted proxy has bound to an end user gets of these only those of that one. Takes an access token or any API key.',
      args: {
        filter: t.arg({ type: CallFilter, description: 'Which calls to list.' }),
        timezone: t.arg.string({
          required: true,
          defaultValue: 'UTC',
          description: CALLS.range.timezoneName,
        }),
      },
      resolve: (query, _root, { filter, timezone }, context) =>
        context.services.calls.list(
          callerOf(context),
          { ...conditionsIn(CALL_CONDITIONS, filter), timezone },
          query,
          showLimit(context.reply),
          context.signal,
        ),
      totalCount: (_root, { filter, timezone }, context) =>
        // Null for more than 10,000: the field below is nullable, which Pothos' own would not be.
        context.services.calls
          .count(
            callerOf(context),
            { ...conditionsIn(CALL_CONDITIONS, filter), timezone },
            showLimit(context.reply),
            context.signal,
          )
          .catch(placeInFilter) as Promise<number>,
    },
    CallConnection,
  ),
)

builder.queryField('call', (t) =>
  t.prismaField({
    type: Call,
    nullable: true,
    description:
      'The call with this id, which is also in the header `X-Call-Id` of a reply. Takes an access token or any API key.',
    args: { id: t.arg.id({ required: true, description: 'The id of the call.' }) },
    resolve: (query, _root, { id }, { loaders }) => foundOr(loaders.call(id, query), 'call_not_found'),
  }),
)
