import type { Runtime } from '#core/base/runtime.ts'
import type { FileAddress } from './storage.ts'

/** Number of characters of a token that are the same for all files of an installation. */
const INSTALLATION_CHARACTERS = 8

/**
 * A new token that cannot be guessed.
 *
 * @param installation - {@link INSTALLATION_CHARACTERS} characters of base64url
 */
export function newToken({ randomBytes }: Pick<Runtime, 'randomBytes'>, installation: string): string {
  return installation + randomBytes(32).toString('base64url').slice(INSTALLATION_CHARACTERS)
}

/** The part of a token that spreads files evenly over folders, in the order of the tokens of an installation. */
export function shardOf(token: string): string {
  return token.slice(INSTALLATION_CHARACTERS, INSTALLATION_CHARACTERS + 2)
}

export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** Whether a name can be that of a file: `shownName` leaves no control characters, and PostgreSQL accepts no NUL. */
export function isFileName(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text)
}

/** The URL of a file below `base`, which ends in a slash. */
export function urlUnder(base: string, { token, name }: FileAddress): string {
  return `${base}${token}/${encodeURIComponent(name)}`
}

/**
 * The inverse of {@link urlUnder}; undefined for URLs that do not have this form. Other spellings of the same URL have the same
 * address: letter case of the host, a default port, escapes that are not necessary. Query and fragment are ignored.
 */
export function addressUnder(base: string, url: URL): FileAddress | undefined {
  const { origin, pathname } = new URL(base)
  if (url.origin !== origin) return undefined
  // A path has room for thousands of segments, which are counted before they are decoded.
  if (url.pathname.split('/').length !== pathname.split('/').length + 1) return undefined
  const segments = decodedSegments(url.pathname)
  const [name, token] = [segments?.pop(), segments?.pop()]
  if (name === undefined || !isFileName(name) || token === undefined || !isToken(token)) return undefined
  const parents = decodedSegments(pathname)?.slice(0, -1)
  return JSON.stringify(segments) === JSON.stringify(parents) ? { token, name } : undefined
}

const TOKEN = /^[\w-]{43}$/

/** Undefined where an escape is invalid. */
function decodedSegments(pathname: string): string[] | undefined {
  try {
    return pathname.split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}
