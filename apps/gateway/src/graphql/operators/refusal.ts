import { CALL_FACES } from '#core/ledger/call-kinds.ts'
import type { RefusalCount } from '#core/reports/refusals/refusal-counts.ts'
import { COUNT_SPANS } from '#core/reports/refusals/refusal-counts-query.ts'
import type { Refusal } from '#core/reports/refusals/refusals.ts'
import { parseRequestId } from '#core/reports/refusals/refusals-query.ts'
import { REFUSAL_DESCRIPTIONS } from '#http/descriptions/refusal-descriptions.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { enumOf, knownOrOther } from '../enum-of.ts'
import { placeInFilter } from '../mistakes/input-places.ts'
import { conditionsOf } from '../reads/conditions-of.ts'
import { cursorConnection } from '../reads/ordered-connection.ts'
import { relatedQuery } from '../reads/related-query.ts'
import { BOUNDED_COUNT } from '../reads/total-count.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import { Agent } from '../types/agent.ts'
import { ApiKey } from '../types/api-key.ts'
import { CallFace } from '../types/call.ts'
import { User } from '../types/user.ts'

const KEY = 'The API key; null for an access token, and if it is not yours to see or its record was removed.'
const OWNER = 'The user whom the credential belongs to; null if it is not yours to see.'
const AGENT = 'The agent; null if none that is configured was named, and if your key may not use it.'

const RefusalType = builder.objectRef<Refusal>('Refusal').implement({
  description: REFUSAL_DESCRIPTIONS.resource,
  fields: (t) => ({
    id: t.exposeID('id', { description: REFUSAL_DESCRIPTIONS.id }),
    requestId: t.exposeString('requestId', { description: REFUSAL_DESCRIPTIONS.requestId }),
    at: t.expose('at', { type: 'DateTime', description: REFUSAL_DESCRIPTIONS.at }),
    keyId: t.exposeID('keyId', { nullable: true, description: REFUSAL_DESCRIPTIONS.keyId }),
    key: t.field({
      type: ApiKey,
      nullable: true,
      description: KEY,
      resolve: ({ keyId }, _args, context, info) =>
        keyId === null ? null : context.loaders.key(keyId, relatedQuery(context, info)),
    }),
    ownerId: t.exposeID('ownerId', { description: REFUSAL_DESCRIPTIONS.ownerId }),
    owner: t.field({
      type: User,
      nullable: true,
      description: OWNER,
      resolve: ({ ownerId }, _args, context, info) =>
        context.loaders.user(ownerId, relatedQuery(context, info)),
    }),
    face: t.field({
      type: CallFace,
      description: REFUSAL_DESCRIPTIONS.face,
      resolve: ({ face }) => knownOrOther(CALL_FACES, face),
    }),
    route: t.exposeString('route', { description: REFUSAL_DESCRIPTIONS.route }),
    agentId: t.exposeString('agent', { description: REFUSAL_DESCRIPTIONS.agent }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: AGENT,
      resolve: ({ agent }, _args, { loaders }) => loaders.agent(agent),
    }),
    // No ErrorReason, which lacks what this API never gives: these are the reasons of every interface.
    reason: t.exposeString('reason', { description: REFUSAL_DESCRIPTIONS.reason }),
    status: t.exposeInt('status', { description: REFUSAL_DESCRIPTIONS.status }),
    limit: t.exposeString('limit', { description: REFUSAL_DESCRIPTIONS.limit }),
    limitPoints: t.exposeInt('limitPoints', {
      nullable: true,
      description: REFUSAL_DESCRIPTIONS.limitPoints,
    }),
    limitWindowSeconds: t.exposeInt('limitWindowSeconds', {
      nullable: true,
      description: REFUSAL_DESCRIPTIONS.limitWindowSeconds,
    }),
    limitOf: t.exposeString('limitOf', { nullable: true, description: REFUSAL_DESCRIPTIONS.limitOf }),
    field: t.exposeString('field', { nullable: true, description: REFUSAL_DESCRIPTIONS.field }),
  }),
})

const RefusalCountType = builder.objectRef<RefusalCount>('RefusalCount').implement({
  description: REFUSAL_DESCRIPTIONS.count,
  fields: (t) => ({
    start: t.expose('start', { type: 'DateTime', description: REFUSAL_DESCRIPTIONS.start }),
    keyId: t.exposeID('keyId', { nullable: true, description: REFUSAL_DESCRIPTIONS.countKeyId }),
    key: t.field({
      type: ApiKey,
      nullable: true,
      description: KEY,
      resolve: ({ keyId }, _args, context, info) =>
        keyId === null ? null : context.loaders.key(keyId, relatedQuery(context, info)),
    }),
    ownerId: t.exposeID('ownerId', { nullable: true, description: REFUSAL_DESCRIPTIONS.countOwnerId }),
    owner: t.field({
      type: User,
      nullable: true,
      description: OWNER,
      resolve: ({ ownerId }, _args, context, info) =>
        ownerId === null ? null : context.loaders.user(ownerId, relatedQuery(context, info)),
    }),
    agentId: t.exposeString('agent', { description: REFUSAL_DESCRIPTIONS.agent }),
    reason: t.exposeString('reason', { description: REFUSAL_DESCRIPTIONS.reason }),
    limit: t.exposeString('limit', { description: REFUSAL_DESCRIPTIONS.limit }),
    count: t.expose('count', { type: 'SafeInt', description: REFUSAL_DESCRIPTIONS.countNumber }),
  }),
})

const RefusalCountSpan = enumOf('RefusalCountSpan', COUNT_SPANS, {
  description: 'The length of the buckets in which refused requests are counted.',
  values: REFUSAL_DESCRIPTIONS,
})

const RefusalFilter = builder.inputType('RefusalFilter', {
  description: 'Which refusals to list. All conditions must hold.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: REFUSAL_DESCRIPTIONS.fromTime }),
    to: t.field({ type: 'DateTime', description: REFUSAL_DESCRIPTIONS.toTime }),
    keyId: t.id({ description: REFUSAL_DESCRIPTIONS.ofKey }),
    ownerId: t.id({ description: REFUSAL_DESCRIPTIONS.ofUser }),
    agentId: t.string({ description: REFUSAL_DESCRIPTIONS.toAgent }),
    reason: t.string({ description: REFUSAL_DESCRIPTIONS.ofReason }),
    limitName: t.string({ description: REFUSAL_DESCRIPTIONS.ofLimit }),
    requestId: t.string({ description: REFUSAL_DESCRIPTIONS.ofRequest }),
  }),
})

const RefusalCountFilter = builder.inputType('RefusalCountFilter', {
  description: 'Which refused requests to count. All conditions must hold.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: REFUSAL_DESCRIPTIONS.countsFromTime }),
    to: t.field({ type: 'DateTime', description: REFUSAL_DESCRIPTIONS.countsToTime }),
    keyId: t.id({ description: REFUSAL_DESCRIPTIONS.ofKey }),
    ownerId: t.id({ description: REFUSAL_DESCRIPTIONS.ofUser }),
    agentId: t.string({ description: REFUSAL_DESCRIPTIONS.toAgent }),
    reason: t.string({ description: REFUSAL_DESCRIPTIONS.ofReason }),
    limitName: t.string({ description: REFUSAL_DESCRIPTIONS.ofLimit }),
  }),
})

const RefusalConnection = builder.connectionObject(
  {
    type: RefusalType,
    name: 'RefusalConnection',
    description: 'A page of refusals.',
    fields: (t) => ({ totalCount: t.int(BOUNDED_COUNT) }),
  },
  { name: 'RefusalEdge', description: 'A refusal and its place in the list.' },
)

const VISIBLE =
  'Users see the refusals of their own credentials, administrators all, and an API key without the permission `ADMIN` only its own. They are recorded without end users, so that a request that a trusted proxy has bound to one is refused. Takes an access token or any API key.'

builder.queryFields((t) => ({
  refusals: t.connection(
    {
      type: RefusalType,
      extensions: HAS_OWN_LIMIT,
      nullable: true,
      description: `Lists refused requests of the last day, newest first; pages go forwards only. ${VISIBLE}`,
      args: {
        filter: t.arg({ type: RefusalFilter, description: 'Which refusals to list.' }),
        timezone: t.arg.string({
          required: true,
          defaultValue: 'UTC',
          description: REFUSAL_DESCRIPTIONS.timezoneName,
        }),
      },
      resolve: (_root, { filter, timezone, ...page }, context, info) => {
        const { services, signal } = context
        const input = { ...conditionsOf(withoutNulls(filter)), timezone }
        const onLimit = showLimit(context.reply)
        return cursorConnection(page, info, {
          read: (query) => services.refusals.list(callerOf(context), input, query, onLimit, signal),
          count: () =>
            services.refusals.count(callerOf(context), input, onLimit, signal).catch(placeInFilter),
        })
      },
    },
    RefusalConnection,
  ),
  refusal: t.field({
    type: RefusalType,
    nullable: true,
    description: `The last refusal of the request with this id; null if none is kept. ${VISIBLE}`,
    args: { requestId: t.arg.string({ required: true, description: REFUSAL_DESCRIPTIONS.requestId }) },
    resolve: (_root, { requestId }, { loaders }) => {
      parseRequestId(requestId)
      return loaders.refusal(requestId)
    },
  }),
  refusalCounts: t.field({
    type: [RefusalCountType],
    extensions: HAS_OWN_LIMIT,
    nullable: { list: true, items: false },
    description: `Counts refused requests by time, API key, owner, agent, reason and limit, in the order of time and the most frequent first; at most 10,000 counts. ${VISIBLE}`,
    args: {
      filter: t.arg({ type: RefusalCountFilter, description: 'Which refused requests to count.' }),
      per: t.arg({
        type: RefusalCountSpan,
        required: true,
        defaultValue: 'hour',
        description: REFUSAL_DESCRIPTIONS.per,
      }),
      timezone: t.arg.string({
        required: true,
        defaultValue: 'UTC',
        description: REFUSAL_DESCRIPTIONS.countsTimezoneName,
      }),
    },
    resolve: async (_root, { filter, ...query }, context) => {
      const input = { ...conditionsOf(withoutNulls(filter)), ...query }
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
