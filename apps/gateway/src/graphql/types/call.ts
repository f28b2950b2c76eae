import { RATINGS } from '#core/conversations/rate-call.ts'
import { attemptsOf, type ListedAttempt } from '#core/reports/call-attempts.ts'
import type { CallInstance } from '#core/reports/call-instances.ts'
import type { Principal } from '#core/requests/principal.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { CALL, CALL_CONDITIONS, CALLS } from '#resources/call.ts'
import { CALL_FACE, CALL_KIND, CALL_OUTCOME, RATING } from '#resources/call-words.ts'
import { builder } from '../builder.ts'
import { callerOf, type GraphqlContext, readCredential } from '../context.ts'
import { storedWord, vocabularyEnum } from '../enum-of.ts'
import { placeInFilter } from '../mistakes/input-places.ts'
import { foundOr } from '../reads/found-or.ts'
import { relatedQuery } from '../reads/related-query.ts'
import { conditionsIn, filterInput } from '../resources/list-field.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import { Agent } from './agent.ts'
import { ApiKey } from './api-key.ts'
import { ChatReply, ChatStarted } from './chat/chat.ts'
import { OPEN_QUESTION, Pause } from './chat/chat-pause.ts'
import { ErrorReason, isGraphqlReason } from './error-reason.ts'
import { Node } from './node.ts'
import { Upload } from './upload.ts'
import { User } from './user.ts'

const Instance = builder.objectRef<CallInstance>('Instance').implement({
  description: 'A process of the gateway. It is identified by `Call.instanceId`.',
  fields: (t) => ({
    host: t.exposeString('host', { nullable: true, description: CALL.fields.instanceHost.description }),
    pid: t.exposeInt('pid', { nullable: true, description: CALL.fields.instancePid.description }),
    version: t.exposeString('version', {
      nullable: true,
      description: CALL.fields.instanceVersion.description,
    }),
  }),
})

const CallAttempt = builder.objectRef<ListedAttempt>('CallAttempt').implement({
  description: 'One request of a call to a deployment of its agent.',
  fields: (t) => ({
    deployment: t.exposeString('deployment', {
      description: 'The id of the deployment to which it was sent.',
    }),
    startMs: t.exposeInt('startMs', {
      description:
        'The milliseconds from the dispatch of the call until it was sent; until it began, if it failed before that.',
    }),
    durationMs: t.exposeInt('durationMs', { description: 'The milliseconds from then to its end.' }),
    outcome: t.field({
      type: vocabularyEnum(CALL_OUTCOME),
      description: 'How it ended, and with it the call if no other attempt followed.',
      resolve: ({ outcome }) => storedWord(CALL_OUTCOME, outcome),
    }),
    reason: t.field({
      type: ErrorReason,
      nullable: true,
      description: 'The stable word of its error; null if it did not fail.',
      resolve: ({ reason }) => (isGraphqlReason(reason) ? reason : null),
    }),
    platformStatus: t.int({
      nullable: true,
      description: CALL.fields.platformStatus.description,
      resolve: ({ platformStatus }, _args, context) => ifShown(platformStatus, context),
    }),
  }),
})

export const Call = builder.prismaObject('Call', {
  description:
    'An admitted call: a row of the ledger. It is kept for `usage.retentionDays`, by default 400 days, longer than the objects that it names may exist.',
  interfaces: [Node],
  select: { id: true },
  findUnique: ({ id }) => ({ id }),
  fields: (t) => ({
    requestId: t.exposeString('requestId', { description: CALL.fields.requestId.description }),
    keyId: t.exposeID('keyId', { description: CALL.fields.keyId.description }),
    key: t.field({
      type: ApiKey,
      nullable: true,
      description:
        'The API key that made the call; null if it is not yours to see, or if its record was removed (`apiKeys.revokedRetentionDays`).',
      select: { keyId: true },
      resolve: ({ keyId }, _args, context, info) => context.loaders.key(keyId, relatedQuery(context, info)),
    }),
    ownerId: t.exposeID('ownerId', { description: CALL.fields.ownerId.description }),
    owner: t.field({
      type: User,
      nullable: true,
      description: 'The user whom the API key belongs to; null if it is not yours to see.',
      select: { ownerId: true },
      resolve: ({ ownerId }, _args, context, info) =>
        context.loaders.user(ownerId, relatedQuery(context, info)),
    }),
    endUser: t.exposeString('endUser', {
      description: CALL.fields.endUser.description,
    }),
    kind: t.field({
      type: vocabularyEnum(CALL_KIND),
      description: CALL.fields.kind.description,
      select: { kind: true },
      resolve: ({ kind }) => storedWord(CALL_KIND, kind),
    }),
    face: t.field({
      type: vocabularyEnum(CALL_FACE),
      description: CALL.fields.face.description,
      select: { face: true },
      resolve: ({ face }) => storedWord(CALL_FACE, face),
    }),
    agentId: t.exposeString('agent', {
      description: CALL.fields.agent.description,
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The agent; null if it is not configured any more or your key may not use it.',
      select: { agent: true },
      resolve: ({ agent }, _args, { loaders }) => loaders.agent(agent),
    }),
    appId: t.exposeString('app', { description: CALL.fields.app.description }),
    deployment: t.exposeString('deployment', {
      nullable: true,
      description: CALL.fields.deployment.description,
    }),
    model: t.exposeString('model', {
      nullable: true,
      description: CALL.fields.model.description,
    }),
    conversationId: t.exposeString('conversation', {
      description: CALL.fields.conversation.description,
    }),
    outcome: t.field({
      type: vocabularyEnum(CALL_OUTCOME),
      nullable: true,
      description: CALL.fields.outcome.description,
      select: { outcome: true },
      resolve: ({ outcome }) => storedWord(CALL_OUTCOME, outcome),
    }),
    reason: t.field({
      type: ErrorReason,
      nullable: true,
      description: CALL.fields.reason.description,
      select: { reason: true },
      // A row may have been written by another version of the gateway.
      resolve: ({ reason }) => (isGraphqlReason(reason) ? reason : null),
    }),
    attempts: t.exposeInt('attempts', {
      nullable: true,
      description: CALL.fields.attempts.description,
    }),
    attemptList: t.field({
      type: [CallAttempt],
      nullable: true,
      description:
        'The attempts, in their order, if there were several or the only one failed: a first attempt that succeeds is in the fields of the call itself. At most eight. Null otherwise, while the call runs, if it was interrupted, and for uploads.',
      select: { attemptList: true },
      resolve: ({ attemptList }) => attemptsOf(attemptList),
    }),
    platformStatus: t.int({
      nullable: true,
      description: CALL.fields.platformStatus.description,
      select: { platformStatus: true },
      resolve: ({ platformStatus }, _args, context) => ifShown(platformStatus, context),
    }),
    platformCode: t.string({
      nullable: true,
      description: CALL.fields.platformCode.description,
      select: { platformCode: true },
      resolve: ({ platformCode }, _args, context) => ifShown(platformCode, context),
    }),
    platformLogId: t.string({
      nullable: true,
      description: CALL.fields.platformLogId.description,
      select: { platformLogId: true },
      resolve: ({ platformLogId }, _args, context) => ifShown(platformLogId, context),
    }),
    instanceId: t.id({
      nullable: true,
      description: CALL.fields.instanceId.description,
      select: { instance: true },
      resolve: ({ instance }, _args, context) => ifShown(instance, context),
    }),
    instance: t.field({
      type: Instance,
      nullable: true,
      description: 'The process that served the call. Shown only to administrators.',
      select: { instance: true },
      resolve: ({ instance }, _args, { loaders }) => loaders.instance(instance),
    }),
    traceId: t.string({
      nullable: true,
      description: CALL.fields.traceId.description,
      select: { traceId: true },
      resolve: ({ traceId }, _args, context) => ifShown(traceId, context),
    }),
    promptTokens: t.expose('promptTokens', {
      type: 'SafeInt',
      nullable: true,
      description: CALL.fields.promptTokens.description,
    }),
    completionTokens: t.expose('completionTokens', {
      type: 'SafeInt',
      nullable: true,
      description: CALL.fields.completionTokens.description,
    }),
    totalTokens: t.expose('totalTokens', {
      type: 'SafeInt',
      nullable: true,
      description: CALL.fields.totalTokens.description,
    }),
    admittedAt: t.expose('admittedAt', { type: 'DateTime', description: CALL.fields.admittedAt.description }),
    queuedMs: t.exposeInt('queuedMs', {
      nullable: true,
      description: CALL.fields.queuedMs.description,
    }),
    firstChunkMs: t.exposeInt('firstChunkMs', {
      nullable: true,
      description: CALL.fields.firstChunkMs.description,
    }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description: CALL.fields.durationMs.description,
    }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: CALL.fields.endedAt.description,
    }),
    replays: t.exposeInt('replays', { description: CALL.fields.replays.description }),
    paused: t.exposeBoolean('paused', { description: CALL.fields.paused.description }),
    pause: t.field({
      type: Pause,
      nullable: true,
      description: `${OPEN_QUESTION} Null if the call has not paused, or its question was answered, given up or has expired, or if it is not yours to answer.`,
      select: { id: true, paused: true },
      resolve: ({ id, paused }, _args, { loaders }) => (paused ? loaders.pause(id) : null),
    }),
    rating: t.field({
      type: vocabularyEnum(RATING),
      nullable: true,
      description: CALL.fields.rating.description,
      select: { rating: true },
      resolve: ({ rating }) => RATINGS.find((known) => known === rating) ?? null,
    }),
    ratingText: t.exposeString('ratingText', {
      nullable: true,
      description: CALL.fields.ratingText.description,
    }),
    answersId: t.exposeID('answers', { nullable: true, description: CALL.fields.answers.description }),
    answeredById: t.exposeID('answeredBy', {
      nullable: true,
      description: CALL.fields.answeredBy.description,
    }),
  }),
})

const NOT_SHOWN = 'null as well if it is not yours to see, or is past its retention.'

builder.prismaObjectField(Call, 'answers', (t) =>
  t.field({
    type: Call,
    nullable: true,
    description: `The call whose pause this one answered or gave up; ${NOT_SHOWN}`,
    select: { answers: true },
    resolve: ({ answers }, _args, context, info) =>
      answers === null ? null : context.loaders.call(answers, relatedQuery(context, info)),
  }),
)

builder.prismaObjectField(Call, 'answeredBy', (t) =>
  t.field({
    type: Call,
    nullable: true,
    description: `The call that answered the pause of this one or gave it up; ${NOT_SHOWN}`,
    select: { answeredBy: true },
    resolve: ({ answeredBy }, _args, context, info) =>
      answeredBy === null ? null : context.loaders.call(answeredBy, relatedQuery(context, info)),
  }),
)

/** Rows that Pothos reads itself have what the platform said, and which process served them, for every caller. */
function ifShown<Value>(value: Value, context: GraphqlContext): Value | null {
  return context.services.calls.seesPlatform(callerOf(context)) ? value : null
}

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
