import { caseKey } from '#core/requests/input/case-key.ts'
import { isLongerThan } from '#core/requests/input/input-rules.ts'

export const USER_STATUSES = ['active', 'suspended'] as const
export type UserStatus = (typeof USER_STATUSES)[number]

/**
 * A newer version of the gateway on the same database may have written a word that this one does not know. Every statement that
 * checks a key or a token refuses whatever is not `active`, and so it is shown.
 */
export function knownStatus(word: string): UserStatus {
  return word === 'active' ? 'active' : 'suspended'
}

/** A combining mark cannot come first, because it would attach to whatever is shown before the name. */
const USERNAME = /^[\p{L}\p{Nd}._@-][\p{L}\p{M}\p{Nd}._@-]{2,63}$/u

export const PASSWORD_CHARACTERS_MIN = 8
export const PASSWORD_CHARACTERS_MAX = 256
/** Maximum length of a name in a request. Normalization may shorten a name, so this is more than a stored name can have. */
export const USERNAME_INPUT_CHARACTERS_MAX = 256

/** Returns the name as it is stored and shown (NFKC), or undefined if it is not valid. */
export function normalizeUsername(text: string): string | undefined {
  if (isLongerThan(text, USERNAME_INPUT_CHARACTERS_MAX)) return undefined
  const username = text.normalize('NFKC')
  return USERNAME.test(username) ? username : undefined
}

/** Returns the key by which a normalized username is unique regardless of case. */
export function usernameKey(username: string): string {
  return caseKey(username)
}

/** Returns what is wrong with a new password, or undefined. It checks the length before hashing, whose cost grows with it. */
export function passwordProblem(text: string): string | undefined {
  return !isLongerThan(text, PASSWORD_CHARACTERS_MIN - 1) || isLongerThan(text, PASSWORD_CHARACTERS_MAX)
    ? `expected a string of ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters`
    : undefined
}

/** Greater numbers lose precision in JavaScript, and in the JSON parsers of many clients. */
export const CALLS_MAX = Number.MAX_SAFE_INTEGER

/** Returns what is wrong with a quota, or undefined. */
export function callsProblem(calls: number): string | undefined {
  return Number.isInteger(calls) && calls >= 0 && calls <= CALLS_MAX
    ? undefined
    : `expected an integer of 0 to ${CALLS_MAX}`
}
