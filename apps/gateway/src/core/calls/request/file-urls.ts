import type { FieldPath } from '#core/base/values/field-path.ts'
import { HOST_CHARACTERS_MAX, hasLongHost } from '#core/base/values/parse-url.ts'
import { isPublicHost } from '#core/requests/input/public-host.ts'

/** The most files of a question, and the most uploaded files of any request: each of them is looked up. */
export const FILES_MAX = 20
/** The most URLs of one request that are checked, besides those that the gateway issued. */
export const CHECKED_URLS_MAX = 100
const URL_CHARACTERS_MAX = 2048

/**
 * Checks the URL of a file. Returns what was expected, or undefined for a valid URL. The check guards against requests to
 * private networks: the gateway never fetches the URL, but a platform inside such a network would. It works on the text
 * alone, without DNS.
 */
export function fileUrlProblem(text: string): string | undefined {
  if (text.length > URL_CHARACTERS_MAX) return `a URL of at most ${URL_CHARACTERS_MAX} characters`
  // Before the URL is parsed, which takes quadratic time for a host in other letters than those of ASCII.
  if (hasLongHost(text)) return SHORT_HOST
  // The platform gets the raw text; what this parser repairs, another may read as a different host.
  const url = PLAIN_URL.test(text) ? URL.parse(text) : null
  if (url === null) return 'an http or https URL'
  if (url.hostname.length > HOST_CHARACTERS_MAX) return SHORT_HOST
  if (url.username !== '' || url.password !== '') return 'a URL without credentials'
  if (!isPublicHost(url.hostname)) return 'a publicly reachable URL'
  return undefined
}

const SHORT_HOST = `a URL whose host has at most ${HOST_CHARACTERS_MAX} characters`
const PLAIN_URL = /^https?:\/\/[^\s\\\p{Cc}]+$/iu

/**
 * The URLs of files in one request. Each of them is looked at once, however often a long history repeats it, and their number is
 * bounded, because a body has room for tens of thousands.
 */
export class RequestUrls {
  readonly #find: (url: string) => boolean
  readonly #issued = new Map<string, boolean>()
  readonly #accepted = new Set<string>()
  readonly #problems = new Map<string, string | undefined>()

  /** @param isIssued - whether the gateway issued a URL */
  constructor(isIssued: (url: string) => boolean) {
    this.#find = isIssued
  }

  /** Whether there is an uploaded file among those that were asked for. */
  get hasIssued(): boolean {
    return this.#accepted.size > 0
  }

  isIssued(url: string): boolean {
    let isIssued = this.#issued.get(url)
    if (isIssued === undefined) {
      isIssued = this.#find(url)
      this.#issued.set(url, isIssued)
    }
    return isIssued
  }

  /**
   * What was expected in place of the URL of a file; undefined for a valid one. A URL that the gateway issued is valid even if it is
   * long or not public, since the gateway knows its file.
   */
  fileProblemOf(url: string): string | undefined {
    if (!this.isIssued(url)) return this.problemOf(url)
    if (this.#accepted.size >= FILES_MAX && !this.#accepted.has(url))
      return `at most ${FILES_MAX} uploaded files`
    this.#accepted.add(url)
    return undefined
  }

  /** The same where the platform gets a URL as it is, whoever issued it. */
  problemOf(url: string): string | undefined {
    if (this.#problems.has(url)) return this.#problems.get(url)
    if (this.#problems.size >= CHECKED_URLS_MAX) return `at most ${CHECKED_URLS_MAX} URLs of files`
    const problem = fileUrlProblem(url)
    this.#problems.set(url, problem)
    return problem
  }
}

/** A URL that must not be sent to a platform: the path of its field, and what was expected there. */
export interface UrlFinding {
  readonly field: FieldPath
  readonly expected: string
}

export interface UrlSearch {
  /** What was expected in place of a URL, which is the first word of a value; undefined for one that may be sent. */
  problemOf(url: string, field: FieldPath, value: string): string | undefined
  /** Whether a field is only ever read as text and can be skipped. */
  readonly isText?: ((name: string) => boolean) | undefined
}

/**
 * Searches a value of unknown shape, at any depth, for strings that begin like a URL, and returns the first that is not
 * public. Field names are not considered, because servers differ in the fields from which they read URLs. `data:` URLs
 * carry their content and are accepted.
 */
export function findRefusedUrl(value: unknown, field: FieldPath, search: UrlSearch): UrlFinding | undefined {
  return findIn(value, [...field], search)
}

/** @param place - the path of the value, which changes on the way, since a body has room for millions of values */
function findIn(value: unknown, place: (string | number)[], search: UrlSearch): UrlFinding | undefined {
  if (typeof value === 'string') {
    if (!LIKE_A_URL.test(value)) return undefined
    const [url = ''] = value.trim().split(/\s/, 1)
    const expected = search.problemOf(url, place, value)
    return expected === undefined ? undefined : { field: [...place], expected }
  }
  if (typeof value !== 'object' || value === null) return undefined
  const names = Array.isArray(value) ? value.keys() : Object.keys(value)
  for (const name of names) {
    if (typeof name === 'string' && search.isText?.(name)) continue
    const child: unknown = Reflect.get(value, name)
    if (typeof child !== 'string' && typeof child !== 'object') continue
    place.push(name)
    const finding = findIn(child, place, search)
    if (finding !== undefined) return finding
    place.pop()
  }
  return undefined
}

/** What parsers of URLs remove, wherever it is. */
const GAP = '[\\t\\n\\r]*'
const HTTP = `h${GAP}t${GAP}t${GAP}p`
const FTP = `f${GAP}t${GAP}p`
const FILE = `f${GAP}i${GAP}l${GAP}e`
const SLASH = `${GAP}[\\\\/]`

/**
 * Matches URLs with and without a scheme, including forms that only lenient parsers accept. The length of a scheme is bounded,
 * so that a file in base64 is not searched for its end.
 */
const LIKE_A_URL = new RegExp(
  `^[\\0-\\x20\\s]*(?:(?:${HTTP}(?:${GAP}s)?|${FTP}|${FILE})${GAP}:${GAP}\\S|[a-z]${GAP}(?:[a-z0-9+.-]${GAP}){0,99}:${SLASH}${SLASH}|[\\\\/]${SLASH}${GAP}\\S)`,
  'i',
)
