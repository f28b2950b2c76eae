import { apiCallsCount, maxApiCalls, quotaOf } from '#core/accounts/users/user.ts'
import { knownStatus, USER_STATUSES } from '#core/accounts/users/user-rules.ts'
import { knownPeriod } from '#core/ledger/quota-period.ts'
import { knownRole, ROLES } from '#core/requests/principal.ts'
import { LIST_DESCRIPTIONS } from '#http/descriptions/list-descriptions.ts'
import { USER_DESCRIPTIONS } from '#http/descriptions/user-descriptions.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { enumOf } from '../enum-of.ts'
import { foundOr } from '../reads/found-or.ts'
import { orderedConnection } from '../reads/ordered-connection.ts'
import { TOTAL_COUNT } from '../reads/total-count.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { OrderDirection, UserOrder } from './list-order.ts'
import { Node } from './node.ts'
import { Quota, QuotaPeriod } from './quota.ts'

export const Role = enumOf('Role', ROLES, {
  description: 'What a user may do.',
  values: {
    admin: 'Manages all users and keys, and sees all usage.',
    premium: 'Creates API keys for itself.',
    user: 'Sees only itself, and uses the keys that an administrator created for it.',
  },
})

export const UserStatus = enumOf('UserStatus', USER_STATUSES, {
  description: 'Whether a user may use the gateway.',
  values: {
    active: 'The user may log in, and its keys work.',
    suspended:
      'The tokens and keys of the user are refused, and the calls that ran with these keys have ended.',
  },
})

export const User = builder.prismaObject('User', {
  description: 'A user of the gateway.',
  interfaces: [Node],
  select: { id: true },
  findUnique: ({ id }) => ({ id }),
  fields: (t) => ({
    username: t.exposeString('username', {
      description: USER_DESCRIPTIONS.username,
    }),
    role: t.field({
      type: Role,
      description: 'What the user may do.',
      select: { role: true },
      resolve: ({ role }) => knownRole(role),
    }),
    status: t.field({
      type: UserStatus,
      description: 'Whether the user may use the gateway.',
      select: { status: true },
      resolve: ({ status }) => knownStatus(status),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: USER_DESCRIPTIONS.createdAt }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: USER_DESCRIPTIONS.updatedAt }),
    lastLogin: t.expose('lastLogin', {
      type: 'DateTime',
      nullable: true,
      description: USER_DESCRIPTIONS.lastLogin,
    }),
    apiCallsCount: t.field({
      type: 'SafeInt',
      description: USER_DESCRIPTIONS.apiCallsCount,
      select: { apiCallsCount: true, quotaPeriod: true, quotaStart: true },
      resolve: (user, _args, { now }) => apiCallsCount(user, now()),
    }),
    maxApiCalls: t.field({
      type: 'SafeInt',
      description: USER_DESCRIPTIONS.maxApiCalls,
      select: { maxApiCalls: true },
      resolve: maxApiCalls,
    }),
    quotaPeriod: t.field({
      type: QuotaPeriod,
      description: 'How often the calls are counted from zero.',
      select: { quotaPeriod: true },
      resolve: ({ quotaPeriod }) => knownPeriod(quotaPeriod),
    }),
    quota: t.field({
      type: Quota,
      description: 'How many calls the user may make, and how many are left.',
      select: { apiCallsCount: true, maxApiCalls: true, quotaPeriod: true, quotaStart: true },
      resolve: (user, _args, { now }) => quotaOf(user, now()),
    }),
  }),
})

export const UserConnection = builder.connectionObject(
  {
    type: User,
    name: 'UserConnection',
    description: 'A page of users.',
    fields: (t) => ({ totalCount: t.int(TOTAL_COUNT) }),
  },
  { name: 'UserEdge', description: 'A user and its place in the list.' },
)

builder.queryFields((t) => ({
  me: t.prismaField({
    type: User,
    nullable: true,
    description:
      'The user of the credential; for an API key, its owner. Takes an access token, or an API key with the permission `ADMIN`.',
    resolve: (query, _root, _args, { loaders }) => loaders.ownUser(query),
  }),
  user: t.prismaField({
    type: User,
    nullable: true,
    description:
      'The user with this id. Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.',
    args: { id: t.arg.id({ required: true, description: USER_DESCRIPTIONS.id }) },
    resolve: (query, _root, { id }, { loaders }) => foundOr(loaders.managedUser(id, query), 'user_not_found'),
  }),
  users: t.connection(
    {
      type: User,
      nullable: true,
      description:
        'The users, newest first or in the order that you ask for. Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.',
      args: {
        search: t.arg.string({ description: LIST_DESCRIPTIONS.searchUsers }),
        state: t.arg({ type: UserStatus, description: LIST_DESCRIPTIONS.userState }),
        role: t.arg({ type: Role, description: LIST_DESCRIPTIONS.userRole }),
        quotaPercentMin: t.arg.int({ description: LIST_DESCRIPTIONS.quotaPercentMin }),
        orderBy: t.arg({
          type: UserOrder,
          defaultValue: 'created_at',
          description: LIST_DESCRIPTIONS.userOrder,
        }),
        order: t.arg({ type: OrderDirection, description: LIST_DESCRIPTIONS.userDirection }),
      },
      resolve: (_root, { search, state, role, quotaPercentMin, ...args }, context, info) => {
        const { services, signal } = context
        const filter = withoutNulls({ search, state, role, quotaPercentMin })
        return orderedConnection(args, context, info, {
          read: (query) => services.users.list(callerOf(context), { ...query, signal }, filter),
          count: () => services.users.count(callerOf(context), filter, signal),
        })
      },
    },
    UserConnection,
  ),
}))
