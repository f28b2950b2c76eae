import type { FieldPath } from '#core/base/values/field-path.ts'
import { isPublicHost } from '#core/requests/input/public-host.ts'

export const FILES_MAX = 20
const URL_CHARACTERS_MAX = 2048

/**
 * Checks the URL of a file. Returns what was expected, or undefined for a valid URL. The check guards against requests to
 * private networks: the gateway never fetches the URL, but a platform inside such a network would. It works on the text
 * alone, without DNS.
 */
export function fileUrlProblem(text: string): string | undefined {
  if (text.length > URL_CHARACTERS_MAX) return `a URL of at most ${URL_CHARACTERS_MAX} characters`
  // The platform gets the raw text; what this parser repairs, another may read as a different host.
  if (!PLAIN_URL.test(text) || !URL.canParse(text)) return 'an http or https URL'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return 'a URL without credentials'
  if (!isPublicHost(url.hostname)) return 'a publicly reachable URL'
  return undefined
}

const PLAIN_URL = /^https?:\/\/[^\s\\\p{Cc}]+$/iu

/** A URL that must not be sent to a platform: the path of its field, and what was expected there. */
export interface UrlFinding {
  readonly field: FieldPath
  readonly expected: string
}

export interface UrlExceptions {
  /** Whether a field is only ever read as text and can be skipped. */
  readonly isText?: ((name: string) => boolean) | undefined
  /** Whether a URL is replaced before the value is sent, as those are that the gateway issued, in the fields for URLs. */
  readonly isReplaced?: ((url: string, field: FieldPath) => boolean) | undefined
}

/**
 * Searches a value of unknown shape, at any depth, for strings that begin like a URL, and returns the first that is not
 * public. Field names are not considered, because servers differ in the fields from which they read URLs. `data:` URLs
 * carry their content and are accepted.
 */
export function findRefusedUrl(
  value: unknown,
  field: FieldPath,
  exceptions: UrlExceptions = {},
): UrlFinding | undefined {
  if (typeof value === 'string') {
    if (!LIKE_A_URL.test(value)) return undefined
    const [url = ''] = value.trim().split(/\s/, 1)
    if (exceptions.isReplaced?.(value, field)) return undefined
    const expected = fileUrlProblem(url)
    return expected === undefined ? undefined : { field, expected }
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, child] of Object.entries(value)) {
    if (exceptions.isText?.(name)) continue
    const place = [...field, Array.isArray(value) ? Number(name) : name]
    const finding = findRefusedUrl(child, place, exceptions)
    if (finding !== undefined) return finding
  }
  return undefined
}

/** What parsers of URLs remove, wherever it is. */
const GAP = '[\\t\\n\\r]*'
const [HTTP, FTP, FILE] = ['http', 'ftp', 'file'].map((scheme) => [...scheme].join(GAP))
const SLASH = `${GAP}[\\\\/]`

/**
 * Matches URLs with and without a scheme, including forms that only lenient parsers accept. The length of a scheme is bounded,
 * so that a file in base64 is not searched for its end.
 */
const LIKE_A_URL = new RegExp(
  `^[\\0-\\x20\\s]*(?:(?:${HTTP}(?:${GAP}s)?|${FTP}|${FILE})${GAP}:${GAP}\\S|[a-z]${GAP}(?:[a-z0-9+.-]${GAP}){0,99}:${SLASH}${SLASH}|[\\\\/]${SLASH}${GAP}\\S)`,
  'i',
)
