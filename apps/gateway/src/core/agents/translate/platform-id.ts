import { textOf } from '#core/base/values/json.ts'

const CHARACTERS_MAX = 256

/** C0, DEL and C1. */
const CONTROL = /\p{Cc}/u

/**
 * Whether an id from a platform can be stored, put into a URL and sent back. PostgreSQL stores neither NUL
 * nor lone surrogates, and a reply can contain an id of any length.
 */
export function isPlatformId(id: string): boolean {
  return id.length <= CHARACTERS_MAX && id.isWellFormed() && !CONTROL.test(id)
}

/** An id that is not empty, as text: some servers send numbers. It may be one that cannot be stored. */
export function idOf(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : textOf(value)
}

/** The id if it is one that can be stored. */
export function platformIdOf(value: unknown): string | undefined {
  const id = idOf(value)
  return id !== undefined && isPlatformId(id) ? id : undefined
}
