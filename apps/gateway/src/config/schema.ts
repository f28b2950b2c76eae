import { isIP } from 'node:net'
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { type Annotations, oneOf, section, text } from '#core/agents/entry-schema.ts'
import type { PlatformRegistry } from '#core/agents/registry.ts'
import { expectation } from '#core/input/expectation.ts'
import { ROLLUP_BOUNDS } from '#core/ledger/ledger-sql.ts'
import { DOCUMENT_BOUNDS, type DocumentBounds } from '#core/limits/document-bounds.ts'
import { WAITING_PLACES } from '#core/sharing/owner-turns.ts'
import {
  normalizeUsername,
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  passwordProblem,
} from '#core/users/user-rules.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
/** The sweep takes what is older than a day for the remains of an upload that never ended. */
const UPLOAD_MS_MAX = 43_200_000

/** Node fires timers with a longer delay immediately. */
const TIMER_MS_MAX = 2 ** 31 - 1
const TIMER_SECONDS_MAX = Math.floor(TIMER_MS_MAX / 1000)
/** A century, which PostgreSQL's intervals and JavaScript's dates can still represent. */
const DAYS_MAX = 36_500
const TEN_YEARS_SECONDS = 315_360_000
/** A key's own limits must not exceed these and are stored in columns of 32 bits. */
const POINTS_MAX = 1_000_000_000
const WORKERS_MAX = 256

/** The largest value of PostgreSQL's type `integer`. */
const COUNT_MAX = 2 ** 31 - 1

export const ACCEPTED_UPLOADS = [
  'image/*',
  'audio/*',
  'video/*',
  'text/plain',
  'text/csv',
  'text/markdown',
  'application/json',
  'application/pdf',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.oasis.opendocument.text',
  'application/vnd.oasis.opendocument.spreadsheet',
  'application/vnd.oasis.opendocument.presentation',
]

/** The properties of an app that all platforms have. */
const APP = {
  name: Type.Optional(text()),
  default: Type.Optional(flag()),
  apiKey: Type.Optional(text({ secret: true })),
}

/** The properties of an agent's entry that all platforms have. */
const ENTRY = {
  baseUrl: httpUrl(),
  apiKey: Type.Optional(text({ secret: true })),
  apps: appsOf(Type.Object(APP)),
  name: Type.Optional(text()),
  description: Type.String({ default: '', expected: 'a text' }),
  timeouts: section({
    connectMs: timerMs(5_000),
    firstByteMs: timerMs(120_000),
    idleMs: timerMs(120_000),
    totalMs: timerMs(1_200_000),
  }),
  endGraceMs: timerMs(1_500),
  reasoning: flag({ default: false }),
}

/** An agent's entry, as far as it is the same for all platforms. */
export const AgentEntry = Type.Object({ ...ENTRY, platform: Type.Optional(Type.String()) }, { default: {} })
export type AgentEntry = Static<typeof AgentEntry>

/** All properties of the configuration file except the agents. */
const SETTINGS = {
  limits: section({
    chat: limit(60),
    upload: limit(10),
    agents: limit(30),
    reports: limit(60),
    calls: limit(300),
    reads: limit(600),
    login: limit(10),
    loginAddress: limit(100),
    refusedKeys: limit(60),
    refusedDocuments: limit(60),
    streamsPerKey: Type.Optional(wholeNumber()),
  }),
  uploads: section({
    maxBytes: count(50 * MIB),
    types: list(
      matching('a media type such as "application/pdf" or "image/*"', isMediaType),
      ACCEPTED_UPLOADS,
    ),
    retentionDays: days(7),
    bytesPerOwnerMax: count(10 * GIB),
    inFlightMax: count(64),
    inFlightPerOwnerMax: count(4),
    waitMs: timerMs(30_000),
    stalledMs: timerMs(60_000),
    timeoutMs: count(3_600_000, { maximum: UPLOAD_MS_MAX }),
  }),
  storage: section({ freeBytesMin: count(256 * MIB, { minimum: 0 }) }),
  cors: section({
    origins: Type.Refine(
      list(matching('an exact origin such as "https://app.example.com"', isOrigin), [], {
        expected: 'a list of exact origins, or "*" alone',
      }),
      (origins) => origins.length === 1 || !origins.includes('*'),
    ),
  }),
  trustedProxies: list(matching('an IP address or a CIDR range', isAddressRange), []),
  publicAgentListing: flag({ default: true }),
  console: flag({ default: true }),
  conversations: section({
    retentionDays: days(30),
    maxTurns: count(20),
    maxCharacters: count(40_000),
    mappingRetentionDays: days(400),
    endUserHeader: Type.Optional(matching('the name of a request header in lower case', isHeaderName)),
  }),
  usage: section({
    retentionDays: days(400),
    endUsersPerDayMax: count(ROLLUP_BOUNDS.endUsersPerDayMax, { maximum: COUNT_MAX }),
    appsPerDayMax: count(ROLLUP_BOUNDS.appsPerDayMax, { maximum: COUNT_MAX }),
  }),
  users: section({ maxApiCalls: count(1_000_000, { minimum: 0 }) }),
  // Ten years, which contain at most three leap days.
  apiKeys: section({ maxLifetimeDays: days(3_653), activePerUserMax: count(1_000) }),
  tokens: section({
    lifetimeSeconds: count(3_600, { maximum: TEN_YEARS_SECONDS }),
    issuer: text({ default: 'trunkline' }),
    audience: text({ default: 'trunkline' }),
  }),
  chat: section({
    bodyBytesMax: count(MIB),
    replyBytesMax: count(10 * MIB),
    streamBytesMax: count(32 * MIB),
    unsentBytesMax: count(MIB),
    inFlightMax: count(10_000),
    headerHoldMs: timerMs(15_000),
    keepAliveMs: timerMs(15_000),
    stalledMs: timerMs(120_000),
  }),
  graphql: section({
    introspection: Type.Optional(flag()),
    graphiql: Type.Optional(flag()),
    documents: oneOf(['any', 'persisted', 'trusted'], { default: 'any' }),
    trustedDocuments: Type.Optional(text()),
    bounds: section({
      withCredential: documentBounds(DOCUMENT_BOUNDS.withCredential),
      withoutCredential: documentBounds(DOCUMENT_BOUNDS.withoutCredential),
    }),
  }),
  connectionsMax: count(20_000),
  waitingPlaces: section({ inAll: count(WAITING_PLACES.inAll), perOwner: count(WAITING_PLACES.perOwner) }),
  drainMs: timerMs(30_000),
  instance: section({ leaseMs: timerMs(15_000), retentionDays: days(30) }),
}

/** The defaults of the file. The adapters define the defaults of the properties that only their platform has. */
export const Defaults = section({ agents: agentsOf(AgentEntry), ...SETTINGS })

/**
 * The schema of the configuration file. It accepts the properties of every registered platform in every entry, so that each
 * issue is reported at its own place; `agents.ts` then checks which of them the platform of the entry knows.
 */
export function configFileOf({ names, adapters }: PlatformRegistry) {
  const entry = section({
    platform: Type.Optional(oneOf([...names])),
    ...ENTRY,
    ...ownProperties(adapters.map((adapter) => adapter.entry.agent)),
    apps: appsOf(section({ ...APP, ...ownProperties(adapters.map((adapter) => adapter.entry.app)) })),
  })
  return section({ agents: agentsOf(entry), ...SETTINGS })
}

/** The settings of a validated configuration file, without its agents. */
export type Settings = Omit<Static<typeof Defaults>, 'agents'>

/** The environment variables that are read in addition to `NODE_ENV` and `GATEWAY_CONFIG`. */
export const Environment = section({
  HOST: text({ default: '127.0.0.1' }),
  PORT: port({ default: 8080 }),
  PUBLIC_URL: Type.Optional(httpUrl()),
  OPS_PORT: Type.Optional(port()),
  DATA_DIR: text({ default: '.data' }),
  DATABASE_URL: Type.Optional(
    matching('a postgres:// URL', (url) => isUrlOf(['postgres:', 'postgresql:'], url), { secret: true }),
  ),
  REDIS_URL: Type.Optional(
    matching('a redis:// or rediss:// URL', (url) => isUrlOf(['redis:', 'rediss:'], url), { secret: true }),
  ),
  SECRET_KEY: Type.Optional(matching('at least 32 characters', (key) => key.length >= 32, { secret: true })),
  ADMIN_USERNAME: matching(
    '3 to 64 letters, digits and . _ - @',
    (name) => normalizeUsername(name) !== undefined,
    { default: 'admin' },
  ),
  ADMIN_PASSWORD: Type.Optional(
    matching(
      `${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters`,
      (password) => passwordProblem(password) === undefined,
      { secret: true },
    ),
  ),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], { default: 'info' }),
  WORKERS: count(1, { maximum: WORKERS_MAX }),
  S3_BUCKET: Type.Optional(text()),
  S3_ENDPOINT: Type.Optional(httpUrl()),
  S3_REGION: Type.Optional(text()),
  S3_PUBLIC_URL: Type.Optional(httpUrl()),
})

/** The properties of several platforms combined. If a name has several meanings, a value for any of them is accepted. */
function ownProperties(schemas: readonly TObject[]): Record<string, TSchema> {
  const meanings = new Map<string, TSchema[]>()
  for (const { properties } of schemas) {
    for (const [name, property] of Object.entries(properties)) {
      meanings.set(name, [...(meanings.get(name) ?? []), property])
    }
  }
  return Object.fromEntries(
    [...meanings].map(([name, properties]) => [name, Type.Optional(anyOf(properties))]),
  )
}

function anyOf(properties: readonly TSchema[]): TSchema {
  const [first, ...others] = properties
  if (first !== undefined && others.length === 0) return first
  const expected = new Set(properties.map(expectation))
  const secret = properties.some((property) => Reflect.has(property, 'secret'))
  return Type.Union([...properties], { expected: [...expected].join(', or '), ...(secret && { secret }) })
}

function agentsOf<Entry extends TSchema>(entry: Entry) {
  return Type.Record(Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' }), entry, {
    default: {},
    expected: 'a mapping of agent ids',
    expectedKey: 'an agent id: a lower-case letter, then at most 31 lower-case letters, digits and hyphens',
  })
}

function appsOf<App extends TSchema>(app: App) {
  return Type.Record(Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]{1,256}$' }), app, {
    default: {},
    expected: 'a mapping of app ids',
    expectedKey: 'an app id of at most 256 characters',
  })
}

function list<Item extends TSchema>(item: Item, standard: string[], options: Annotations = {}) {
  return Type.Array(item, { default: standard, expected: 'a list', ...options })
}

function matching(expected: string, accepts: (text: string) => boolean, options: Annotations = {}) {
  return Type.Refine(Type.String({ expected, ...options }), accepts)
}

function httpUrl() {
  return matching('an http(s) URL without credentials, query and fragment', isHttpUrl)
}

function flag(options: Annotations = {}) {
  return Type.Boolean({ ...options })
}

function count(standard: number, { minimum = 1, maximum = Number.MAX_SAFE_INTEGER } = {}) {
  return wholeNumber({ default: standard, minimum, maximum })
}

function wholeNumber({
  minimum = 1,
  maximum = Number.MAX_SAFE_INTEGER,
  ...options
}: Annotations & { minimum?: number; maximum?: number } = {}) {
  // The text always names both ends, since "1 or more" would not explain why a large number is refused.
  const expected = `a whole number, ${minimum} to ${maximum}`
  return Type.Integer({ minimum, maximum, expected, ...options })
}

function days(standard: number) {
  return count(standard, { maximum: DAYS_MAX })
}

function timerMs(standard: number) {
  return count(standard, { maximum: TIMER_MS_MAX })
}

function limit(points: number) {
  return section({
    points: count(points, { maximum: POINTS_MAX }),
    windowSeconds: count(60, { maximum: TIMER_SECONDS_MAX }),
  })
}

function documentBounds({ tokens, fields, aliases, equalNames }: DocumentBounds) {
  return section({
    tokens: count(tokens),
    fields: count(fields),
    aliases: count(aliases),
    equalNames: count(equalNames),
  })
}

function port(options: Annotations = {}) {
  return Type.Integer({ minimum: 0, maximum: 65_535, expected: 'a port, 0 to 65535', ...options })
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  // URL.parse accepts white space and a missing `//`, and drops an empty query.
  return /^https?:\/\/[^\s?#]+$/i.test(text) && url !== null && `${url.username}${url.password}` === ''
}

function isUrlOf(protocols: readonly string[], text: string): boolean {
  return protocols.includes(URL.parse(text)?.protocol ?? '')
}

function isOrigin(text: string): boolean {
  return text === '*' || (isHttpUrl(text) && URL.parse(text)?.origin === text)
}

function isMediaType(text: string): boolean {
  return /^[a-z]+\/(\*|[a-z0-9.+-]+)$/.test(text)
}

function isHeaderName(text: string): boolean {
  return /^[a-z0-9-]+$/.test(text)
}

function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
}
