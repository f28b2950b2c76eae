import { isIP } from 'node:net'
import Type, { type TProperties, type TSchema } from 'typebox'
import { type Annotations, section } from '#core/agents/entry-schema.ts'
import type { DocumentBounds } from '#core/limits/document-bounds.ts'

/** Node fires timers with a longer delay immediately. */
export const TIMER_MS_MAX = 2 ** 31 - 1
const TIMER_SECONDS_MAX = Math.floor(TIMER_MS_MAX / 1000)
/** A century, which PostgreSQL's intervals and JavaScript's dates can still represent. */
export const DAYS_MAX = 36_500
/** A key's own limits must not exceed these and are stored in columns of 32 bits. */
export const POINTS_MAX = 1_000_000_000

interface Range {
  readonly minimum?: number
  readonly maximum?: number
}

export function list<Item extends TSchema>(item: Item, standard: string[], options: Annotations = {}) {
  return Type.Array(item, { default: standard, expected: 'a list', ...options })
}

/** A mapping that switches something on: where it is absent, none of its defaults apply. */
export function optionalSection<Properties extends TProperties>(
  properties: Properties,
  options: Annotations = {},
) {
  return Type.Optional(
    Type.Object(properties, { additionalProperties: false, expected: 'a mapping', ...options }),
  )
}

export function matching(expected: string, accepts: (text: string) => boolean, options: Annotations = {}) {
  return Type.Refine(Type.String({ expected, ...options }), accepts)
}

export function httpUrl(options: Annotations = {}) {
  return matching('an http(s) URL without credentials, query and fragment', isHttpUrl, options)
}

/** Unlike other URLs it may have a name and a password, so it must be marked as secret. */
export function proxyUrl(options: Annotations & { readonly secret: true }) {
  return matching('the http(s) URL of a proxy, without path', isProxyUrl, options)
}

export function flag(options: Annotations = {}) {
  return Type.Boolean({ ...options })
}

export function count(standard: number, options: Annotations & Range = {}) {
  return wholeNumber({ default: standard, ...options })
}

export function wholeNumber({
  minimum = 1,
  maximum = Number.MAX_SAFE_INTEGER,
  ...options
}: Annotations & Range = {}) {
  // The text always names both ends, since "1 or more" would not explain why a large number is refused.
  const expected = `a whole number, ${minimum} to ${maximum}`
  return Type.Integer({ minimum, maximum, expected, ...options })
}

export function days(standard: number, options: Annotations = {}) {
  return count(standard, { maximum: DAYS_MAX, ...options })
}

export function timerMs(standard: number, options: Annotations = {}) {
  return count(standard, { maximum: TIMER_MS_MAX, ...options })
}

/** So many points, within a minute unless the file says otherwise. */
export function limit(points: number, options: Annotations = {}) {
  return section(
    {
      points: count(points, { maximum: POINTS_MAX }),
      windowSeconds: count(60, { maximum: TIMER_SECONDS_MAX }),
    },
    options,
  )
}

/** The bounds of a GraphQL document; `sender` ends the sentence of the reference that says whose documents these are. */
export function documentBounds({ tokens, fields, aliases, equalNames }: DocumentBounds, sender: string) {
  return section({
    tokens: count(tokens, {
      description: `The most words, numbers and punctuation of a GraphQL document that comes ${sender}.`,
    }),
    fields: count(fields, {
      description:
        'Its most fields, aliases included; here and below, fragments count as often as they are used.',
    }),
    aliases: count(aliases, { description: 'Its most aliases.' }),
    equalNames: count(equalNames, {
      description: 'The most fields of one of its selections that have the same name in the result.',
    }),
  })
}

export function port(options: Annotations = {}) {
  return Type.Integer({ minimum: 0, maximum: 65_535, expected: 'a port, 0 to 65535', ...options })
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  // URL.parse accepts white space and a missing `//`, and drops an empty query.
  return /^https?:\/\/[^\s?#]+$/i.test(text) && url !== null && `${url.username}${url.password}` === ''
}

function isProxyUrl(text: string): boolean {
  const url = URL.parse(text)
  return /^https?:\/\/[^\s?#]+$/i.test(text) && url !== null && url.pathname === '/'
}

export function isUrlOf(protocols: readonly string[], text: string): boolean {
  return protocols.includes(URL.parse(text)?.protocol ?? '')
}

export function isOrigin(text: string): boolean {
  return text === '*' || (isHttpUrl(text) && URL.parse(text)?.origin === text)
}

export function isMediaType(text: string): boolean {
  return /^[a-z]+\/(\*|[a-z0-9.+-]+)$/.test(text)
}

export function isHeaderName(text: string): boolean {
  return /^[a-z0-9-]+$/.test(text)
}

/** Whether a text is an address, or a name that the system may know. A name whose last part is a number means an address. */
export function isHost(text: string): boolean {
  return isIP(text) !== 0 || (/^[\w-]+(\.[\w-]+)*$/.test(text) && !/(^|\.)\d+$/.test(text))
}

/** An address or range without the name of a network interface, which no address of a request has. */
export function isPlainAddressRange(text: string): boolean {
  return isAddressRange(text) && !text.includes('%')
}

export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
}
