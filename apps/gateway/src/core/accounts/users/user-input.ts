import { refuseField } from '#core/base/errors/errors.ts'
import { QUOTA_PERIODS, type QuotaPeriod } from '#core/ledger/quota-period.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { requireOneOf, requireText } from '#core/requests/input/input-rules.ts'
import { ROLES, type Role } from '#core/requests/principal.ts'
import {
  callsProblem,
  normalizeUsername,
  PASSWORD_CHARACTERS_MAX,
  passwordProblem,
  USER_STATUSES,
  type UserStatus,
} from './user-rules.ts'

export interface NewUser {
  readonly username: string
  readonly password: string
  readonly role?: Role | undefined
  readonly maxApiCalls?: number | undefined
  readonly quotaPeriod?: QuotaPeriod | undefined
}

export interface UserChange {
  readonly role?: Role | undefined
  readonly status?: UserStatus | undefined
  readonly maxApiCalls?: number | undefined
  readonly quotaPeriod?: QuotaPeriod | undefined
}

export interface OwnPasswords {
  readonly currentPassword: string
  readonly newPassword: string
}

/**
 * Validates those properties of a user that are given, because not every face has a schema that checks them. Returns the
 * username as it is stored.
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function checkUser(input: NewUser): { readonly username: string }
export function checkUser(input: Partial<NewUser & UserChange>): { readonly username: string | undefined }
export function checkUser(input: Partial<NewUser & UserChange>): { readonly username: string | undefined } {
  const { role, status, quotaPeriod } = input
  const { username } = allOf({
    username: () => ifGiven(input.username, checkedUsername),
    password: () => ifGiven(input.password, (password) => requirePassword('password', password)),
    role: () => requireOneOf(['role'], ROLES, role),
    status: () => requireOneOf(['status'], USER_STATUSES, status),
    maxApiCalls: () => ifGiven(input.maxApiCalls, requireCalls),
    quotaPeriod: () => requireOneOf(['quotaPeriod'], QUOTA_PERIODS, quotaPeriod),
  })
  return { username }
}

/**
 * Validates the form of both passwords, as far as they are given.
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function checkOwnPasswords({ currentPassword, newPassword }: Partial<OwnPasswords>): void {
  allOf({
    // The cost of hashing grows with the length of the text, so the length is checked first.
    currentPassword: () =>
      ifGiven(currentPassword, (text) => requireText(['currentPassword'], text, PASSWORD_CHARACTERS_MAX)),
    newPassword: () => ifGiven(newPassword, (text) => requirePassword('newPassword', text)),
  })
}

function checkedUsername(text: string): string {
  return normalizeUsername(text) ?? refuseField(['username'], 'expected 3 to 64 letters, digits and . _ - @.')
}

function requirePassword(field: string, password: string): void {
  const problem = passwordProblem(password)
  if (problem !== undefined) refuseField([field], `${problem}.`)
}

function requireCalls(calls: number): void {
  const problem = callsProblem(calls)
  if (problem !== undefined) refuseField(['maxApiCalls'], `${problem}.`)
}
