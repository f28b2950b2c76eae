import {
  AuditEventsDocument,
  KeysDocument,
  UserListDocument,
  type UserListQuery,
  UserPageDocument,
  UserTotalDocument,
} from '../../generated/graphql.ts'
import { invalidate } from '../../session/queries.ts'

/** A user as the list shows it. */
export type UserRecord = NonNullable<UserListQuery['users']>['nodes'][number]

/** What can be done with a user of the list; each opens a dialog. */
export type UserAction = 'edit' | 'password' | 'status'

/** Every change makes the list and the page of the user out of date. */
export function rereadUsers(): void {
  void invalidate(UserListDocument, UserTotalDocument, UserPageDocument, KeysDocument, AuditEventsDocument)
}

export const ROLES = ['user', 'premium', 'admin'] as const
export const PERIODS = ['none', 'day', 'month'] as const

/** The enumerations of GraphQL are those of REST in upper case. */
export const lowerCase = <Word extends string>(word: Word): Lowercase<Word> =>
  word.toLowerCase() as Lowercase<Word>
