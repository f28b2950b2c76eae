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

/** The id if it is one that can be stored. */
export function platformIdOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && isPlatformId(value) ? value : undefined
}
