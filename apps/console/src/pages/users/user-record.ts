import { UserListDocument, type UserListQuery } from '../../generated/graphql.ts'

/** A user as the list shows it. */
export type UserRecord = NonNullable<UserListQuery['users']>['nodes'][number]

/** What can be done with a user of the list; each opens a dialog. */
export type UserAction = 'edit' | 'password' | 'status'

/** The list in the cache of queries, which every change makes out of date. */
export const USERS_KEY = [UserListDocument.toString()]

export const ROLES = ['user', 'premium', 'admin'] as const
export const PERIODS = ['none', 'day', 'month'] as const

/** The enumerations of GraphQL are those of REST in upper case. */
export const lowerCase = <Word extends string>(word: Word): Lowercase<Word> =>
  word.toLowerCase() as Lowercase<Word>
