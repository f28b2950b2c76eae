import { isLongerThan } from '#core/input-rules.ts'

export const USER_STATUSES = ['active', 'suspended'] as const
export const QUOTA_PERIODS = ['none', 'day', 'month'] as const

/** Marks never lead: a name has to begin with something that can be seen by itself. */
const USERNAME = /^[\p{L}\p{Nd}._@-][\p{L}\p{M}\p{Nd}._@-]{2,63}$/u

export const PASSWORD_CHARACTERS_MIN = 8
export const PASSWORD_CHARACTERS_MAX = 256
/** Of a name as it is sent. Normalization may shorten it; more than this could not be a name. */
export const USERNAME_INPUT_CHARACTERS_MAX = 256

/** The name as it is stored and shown (NFKC), or undefined where it breaks the rule. */
export function normalizeUsername(text: string): string | undefined {
  if (isLongerThan(text, USERNAME_INPUT_CHARACTERS_MAX)) return undefined
  const username = text.normalize('NFKC')
  return USERNAME.test(username) ? username : undefined
}

/** What makes a normalized username unique: the name without regard to case. */
export function usernameKey(username: string): string {
  return username.toLowerCase()
}

/** What is wrong with a new password, or undefined. Cheap, so that nothing long ever reaches the hash. */
export function passwordProblem(text: string): string | undefined {
  return !isLongerThan(text, PASSWORD_CHARACTERS_MIN - 1) || isLongerThan(text, PASSWORD_CHARACTERS_MAX)
    ? `expected ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters`
    : undefined
}

/** Greater numbers lose their last digits in JavaScript and in JSON. */
export const CALLS_MAX = Number.MAX_SAFE_INTEGER

/** What is wrong with a quota, or undefined. */
export function callsProblem(calls: number): string | undefined {
  return Number.isInteger(calls) && calls >= 0 && calls <= CALLS_MAX
    ? undefined
    : `expected a whole number, 0 to ${CALLS_MAX}`
}
