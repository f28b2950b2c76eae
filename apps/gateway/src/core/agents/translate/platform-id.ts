const CHARACTERS_MAX = 256

/** C0, DEL and C1. */
const CONTROL = /\p{Cc}/u

/**
 * Whether an id that a platform gave can be stored, written into a URL and sent again. PostgreSQL takes neither NUL nor lone
 * surrogates, and a reply can name an id of any length.
 */
export function isPlatformId(id: string): boolean {
  return id.length <= CHARACTERS_MAX && id.isWellFormed() && !CONTROL.test(id)
}
