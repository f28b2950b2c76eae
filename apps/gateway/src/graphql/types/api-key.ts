import {
  allowedAgentsOf,
  callsThisMonth,
  callsToday,
  isActive,
  permissionsOf,
  totalCalls,
} from '#core/accounts/keys/key.ts'
import type { KeyRateLimits } from '#core/accounts/keys/keys.ts'
import { PERMISSIONS } from '#core/requests/principal.ts'
import type { ApiKey as ApiKeyRow, Prisma } from '#generated/prisma/client.ts'
import { API_KEY_DESCRIPTIONS } from '#http/descriptions/api-key-descriptions.ts'
import { LIST_DESCRIPTIONS } from '#http/descriptions/list-descriptions.ts'
import { builder } from '../builder.ts'
import { callerOf, type GraphqlContext } from '../context.ts'
import { enumOf } from '../enum-of.ts'
import { foundOr } from '../reads/found-or.ts'
import { orderedConnection } from '../reads/ordered-connection.ts'
import { TOTAL_COUNT } from '../reads/total-count.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { ApiKeyOrder, ApiKeyState, OrderDirection } from './list-order.ts'
import { Node } from './node.ts'
import { User } from './user.ts'

export const Permission = enumOf('Permission', PERMISSIONS, {
  description: 'What an API key may be used for.',
  values: {
    chat: 'Chats.',
    upload: 'Uploads.',
    admin: 'Everything that its owner may do, except creating API keys.',
  },
})

type LimitColumns = Pick<ApiKeyRow, 'chatPerMinute' | 'uploadPerMinute'>

const ApiKeyLimits = builder.objectRef<LimitColumns>('ApiKeyLimits').implement({
  description: "The own rate limits of an API key. Where one is null, the gateway's limit applies.",
  fields: (t) => ({
    chatPerMinute: t.exposeInt('chatPerMinute', {
      nullable: true,
      description: API_KEY_DESCRIPTIONS.chatPerMinute,
    }),
    uploadPerMinute: t.exposeInt('uploadPerMinute', {
      nullable: true,
      description: API_KEY_DESCRIPTIONS.uploadPerMinute,
    }),
  }),
})

export const RateLimits = builder.objectRef<KeyRateLimits>('RateLimits').implement({
  description: "The rate limits that apply to an API key, per minute: its own, or else the gateway's.",
  fields: (t) => ({
    chatPerMinute: t.exposeInt('chatPerMinute', {
      description: API_KEY_DESCRIPTIONS.chatPerMinute,
    }),
    uploadPerMinute: t.exposeInt('uploadPerMinute', {
      description: API_KEY_DESCRIPTIONS.uploadPerMinute,
    }),
  }),
})

const COUNTERS = {
  totalCalls: true,
  totalBaseline: true,
  dayCalls: true,
  dayStart: true,
  dayBaseline: true,
  dayResetStart: true,
  monthCalls: true,
  monthStart: true,
  monthBaseline: true,
  monthResetStart: true,
  lastUsedAt: true,
} as const satisfies Prisma.ApiKeySelect

const ApiKeyUsage = builder.objectRef<Pick<ApiKeyRow, keyof typeof COUNTERS>>('ApiKeyUsage').implement({
  description: 'The call counters of an API key. Days and months are those of UTC.',
  fields: (t) => ({
    totalCalls: t.field({
      type: 'SafeInt',
      description: API_KEY_DESCRIPTIONS.totalCalls,
      resolve: totalCalls,
    }),
    callsToday: t.field({
      type: 'SafeInt',
      description: API_KEY_DESCRIPTIONS.callsToday,
      resolve: (key, _args, { now }) => callsToday(key, now()),
    }),
    callsThisMonth: t.field({
      type: 'SafeInt',
      description: API_KEY_DESCRIPTIONS.callsThisMonth,
      resolve: (key, _args, { now }) => callsThisMonth(key, now()),
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: API_KEY_DESCRIPTIONS.lastUsedAt,
    }),
  }),
})

export const ApiKey = builder.prismaObject('ApiKey', {
  description: 'An API key, without the key itself, which only its creation shows.',
  interfaces: [Node],
  select: { id: true },
  findUnique: ({ id }) => ({ id }),
  fields: (t) => ({
    name: t.exposeString('name', { description: API_KEY_DESCRIPTIONS.name }),
    description: t.exposeString('description', { description: API_KEY_DESCRIPTIONS.description }),
    keyPrefix: t.exposeString('prefix', {
      description: API_KEY_DESCRIPTIONS.keyPrefix,
    }),
    permissions: t.field({
      type: [Permission],
      description: API_KEY_DESCRIPTIONS.permissions,
      select: { permissions: true },
      resolve: permissionsOf,
    }),
    isActive: t.boolean({
      description: API_KEY_DESCRIPTIONS.isActive,
      select: { revokedAt: true, expiresAt: true },
      resolve: (key, _args, { now }) => isActive(key, now()),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: API_KEY_DESCRIPTIONS.createdAt }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: API_KEY_DESCRIPTIONS.expiresAt }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: API_KEY_DESCRIPTIONS.revokedAt,
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: API_KEY_DESCRIPTIONS.lastUsedAt,
    }),
    allowedAgents: t.stringList({
      nullable: true,
      description: API_KEY_DESCRIPTIONS.allowedAgents,
      select: { allowedAgents: true },
      resolve: allowedAgentsOf,
    }),
    limits: t.field({
      type: ApiKeyLimits,
      description: API_KEY_DESCRIPTIONS.limits,
      select: { chatPerMinute: true, uploadPerMinute: true },
      resolve: (key) => key,
    }),
    rateLimits: t.field({
      type: RateLimits,
      description: API_KEY_DESCRIPTIONS.rateLimits,
      select: { chatPerMinute: true, uploadPerMinute: true },
      resolve: (key, _args, { services }) => services.keys.rateLimits(key),
    }),
    usage: t.field({
      type: ApiKeyUsage,
      description: API_KEY_DESCRIPTIONS.usage,
      select: COUNTERS,
      resolve: (key) => key,
    }),
    ownerId: t.exposeID('ownerId', {
      description: API_KEY_DESCRIPTIONS.ownerId,
    }),
    owner: t.field({
      type: User,
      nullable: true,
      description: 'The user whom the key belongs to; null if it is not yours to see.',
      select: (_args, _context, nested) => ({ owner: nested() }),
      resolve: ({ owner }, _args, context) => ifVisible(owner, context),
    }),
    creatorId: t.exposeID('createdById', { description: API_KEY_DESCRIPTIONS.creatorId }),
    creator: t.field({
      type: User,
      nullable: true,
      description: 'The user who created the key; null if it is not yours to see.',
      select: (_args, _context, nested) => ({ createdBy: nested() }),
      resolve: ({ createdBy }, _args, context) => ifVisible(createdBy, context),
    }),
  }),
})

/** Prisma cannot filter a relation to one row. */
export function ifVisible<Row extends { id: string }>(user: Row, context: GraphqlContext): Row | null {
  return context.services.users.isVisibleTo(callerOf(context), user) ? user : null
}

export const ApiKeyConnection = builder.connectionObject(
  {
    type: ApiKey,
    name: 'ApiKeyConnection',
    description: 'A page of API keys.',
    fields: (t) => ({ totalCount: t.int(TOTAL_COUNT) }),
  },
  { name: 'ApiKeyEdge', description: 'An API key and its place in the list.' },
)

/** The arguments that select and order keys. */
export const KEY_LIST_ARGUMENTS = builder.args((t) => ({
  search: t.string({ description: LIST_DESCRIPTIONS.searchKeys }),
  state: t.field({ type: ApiKeyState, description: LIST_DESCRIPTIONS.keyState }),
  expiresBefore: t.field({ type: 'DateTime', description: LIST_DESCRIPTIONS.expiresBefore }),
  orderBy: t.field({
    type: ApiKeyOrder,
    defaultValue: 'created_at',
    description: LIST_DESCRIPTIONS.keyOrder,
  }),
  order: t.field({ type: OrderDirection, description: LIST_DESCRIPTIONS.keyDirection }),
}))

builder.queryFields((t) => ({
  apiKey: t.prismaField({
    type: ApiKey,
    nullable: true,
    description:
      'The API key with this id, which you created or own; administrators see all. Takes an access token, or an API key with the permission `ADMIN`.',
    args: { id: t.arg.id({ required: true, description: 'The id of the key.' }) },
    resolve: (query, _root, { id }, { loaders }) => foundOr(loaders.managedKey(id, query), 'key_not_found'),
  }),
  apiKeys: t.connection(
    {
      type: ApiKey,
      nullable: true,
      description:
        'The API keys that you created or own, newest first or in the order that you ask for; administrators see all. Takes an access token, or an API key with the permission `ADMIN`.',
      args: {
        ...KEY_LIST_ARGUMENTS,
        ownerId: t.arg.id({ description: API_KEY_DESCRIPTIONS.ofOwner }),
      },
      resolve: (_root, { search, state, expiresBefore, ownerId, ...args }, context, info) => {
        const { services, signal } = context
        const filter = withoutNulls({ search, state, expiresBefore, ownerId })
        return orderedConnection(args, context, info, {
          read: (query) => services.keys.list(callerOf(context), { ...query, signal }, filter),
          count: () => services.keys.count(callerOf(context), filter, signal),
        })
      },
    },
    ApiKeyConnection,
  ),
}))
