import { quotaOf } from '#core/accounts/users/user.ts'
import { QUOTA, USER, USERS } from '#resources/user.ts'
import { builder } from '../builder.ts'
import { foundOr } from '../reads/found-or.ts'
import { connectionOf, orderedField } from '../resources/ordered-list.ts'
import { prismaResource } from '../resources/prisma-resource.ts'
import { resourceType } from '../resources/resource-type.ts'

export const Quota = resourceType(QUOTA)

export const User = prismaResource('User', USER)

builder.prismaObjectField(User, 'quota', (t) =>
  t.field({
    type: Quota,
    description: 'How many calls the user may make, and how many are left.',
    select: { apiCallsCount: true, maxApiCalls: true, quotaPeriod: true, quotaStart: true },
    resolve: (user, _args, { now }) => quotaOf(user, now()),
  }),
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
    args: { id: t.arg.id({ required: true, description: USER.fields.id.description }) },
    resolve: (query, _root, { id }, { loaders }) => foundOr(loaders.managedUser(id, query), 'user_not_found'),
  }),
}))

orderedField(USERS, {
  name: 'users',
  description:
    'The users, newest first or in the order that you ask for. Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.',
  type: User,
  connection: connectionOf(User, 'users', 'A user'),
  listOf: ({ services }) => services.users,
})
