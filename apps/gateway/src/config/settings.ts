import Type from 'typebox'
import { oneOf, section, text } from '#core/agents/entry-schema.ts'
import { ROLLUP_BOUNDS } from '#core/ledger/roll-up-sql.ts'
import { DOCUMENT_BOUNDS } from '#core/limits/document-bounds.ts'
import { WAITING_PLACES } from '#core/limits/sharing/owner-turns.ts'
import {
  count,
  DAYS_MAX,
  days,
  documentBounds,
  flag,
  isAddressRange,
  isHeaderName,
  isMediaType,
  isOrigin,
  isPlainAddressRange,
  limit,
  list,
  matching,
  POINTS_MAX,
  TIMER_MS_MAX,
  timerMs,
  wholeNumber,
} from './setting-types.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** The sweep takes what is older than a day for the remains of an upload that never ended. */
const UPLOAD_MS_MAX = 43_200_000
const TEN_YEARS_SECONDS = 315_360_000
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

function ownLimit(calls: string, rule: string) {
  return wholeNumber({
    maximum: POINTS_MAX,
    description: `The most ${calls} a minute that a key may have as a limit of its own; at least \`${rule}\` per minute.`,
    whenAbsent: `ten times \`${rule}\` per minute`,
    examples: [6_000],
  })
}

/** All properties of the configuration file except the agents, in the order of docs/settings.md. */
export const SETTINGS = {
  limits: section(
    {
      chat: limit(60, {
        description:
          'Chats of an API key, all chat routes together. A key may have a limit of its own per minute, which takes its place.',
      }),
      upload: limit(10, {
        description:
          'Uploads of an API key. A key may have a limit of its own per minute, which takes its place.',
      }),
      agents: limit(30, {
        description: 'Listing agents, for each credential, or for each address if there is none.',
      }),
      reports: limit(60, { description: 'Usage reports and counts of refusals, for each credential.' }),
      calls: limit(300, {
        description:
          'Pages and exports of the ledger, of refusals and of the audit log, for each credential.',
      }),
      reads: limit(600, { description: 'All other reads, and GraphQL operations, for each credential.' }),
      writes: limit(60, {
        description:
          'What a user creates, changes, resets or deletes, with all of its credentials together; each root field of a GraphQL mutation counts. Revoking a key, suspending a user, changing a password and logging out are never refused by it. It bounds how fast the [audit log](audit.md#how-large-it-becomes) grows.',
      }),
      adminWrites: limit(600, { description: 'The same for each administrator.' }),
      login: limit(10, { description: 'Failed logins for one username from one address.' }),
      loginAddress: limit(100, { description: 'Failed logins from one address.' }),
      successfulLogins: limit(30, {
        description: 'Successful logins of one user from one address, and changes of its own password.',
      }),
      refusedKeys: limit(60, {
        description: 'Refused API keys from one address. Valid keys are never affected.',
      }),
      refusedDocuments: limit(60, {
        description:
          'GraphQL documents from one address that were too large or had no valid credential, and those of a valid credential that were too large. Further ones are answered 429; valid credentials and documents that only log in pass.',
      }),
      maxPerKey: section(
        {
          chat: Type.Optional(ownLimit('chats', 'limits.chat')),
          upload: Type.Optional(ownLimit('uploads', 'limits.upload')),
        },
        {
          description:
            "The highest limits of their own that administrators may give keys. Others may set at most the gateway's.",
        },
      ),
      streamsPerKey: Type.Optional(
        wholeNumber({
          description:
            'The number of streams that one API key may hold open in one process. Another is answered 429 `rate_limited` and not counted.',
          examples: [20],
        }),
      ),
    },
    {
      description:
        'How many requests are admitted within how many seconds. An IPv6 /64 network counts as one address. A request beyond a limit is answered 429 with `Retry-After`.',
    },
  ),
  uploads: section(
    {
      maxBytes: count(50 * MIB, { description: 'The largest uploaded file.' }),
      types: list(
        matching('a media type such as "application/pdf" or "image/*"', isMediaType),
        ACCEPTED_UPLOADS,
        {
          description:
            'The media types that are accepted, with wildcards. The content of a file decides its type, not its name.',
          examples: [['image/*', 'application/pdf']],
        },
      ),
      retentionDays: days(7, {
        description:
          'How long files are kept. Pre-signed URLs of S3 end after 7 days at most; set `S3_PUBLIC_URL` for longer lives.',
      }),
      bytesPerOwnerMax: count(10 * GIB, {
        description:
          'What the files of one user may have in all. A further one is answered 413 `upload_space_used_up`.',
      }),
      inFlightMax: count(64, {
        description:
          'The number of files that one process receives at once. Further ones wait for their turn.',
      }),
      inFlightPerOwnerMax: count(4, {
        description: 'The number of files of one user that one process receives at once.',
      }),
      waitMs: timerMs(30_000, {
        description:
          'How long an upload waits unread for its turn before it is refused with 429, or with 503 if others have all turns.',
      }),
      stalledMs: timerMs(60_000, {
        description:
          'How long a client may send no bytes of a file, how long the storage may accept none, and how long it may take, with all repetitions, until it begins to return one or has removed those of one request.',
      }),
      timeoutMs: count(3_600_000, {
        maximum: UPLOAD_MS_MAX,
        description: 'How long one upload may take in all, at most 12 hours.',
      }),
    },
    {
      description:
        'Uploaded files. Environment variables alone define where they are stored: `S3_BUCKET`, or else `DATA_DIR`.',
    },
  ),
  storage: section(
    {
      freeBytesMin: count(256 * MIB, {
        minimum: 0,
        description:
          'The free space of `DATA_DIR` below which a gateway with an embedded database admits and changes nothing. `0` switches the check off.',
      }),
    },
    { description: 'The disk of `DATA_DIR`.' },
  ),
  cors: section(
    {
      origins: Type.Refine(
        list(matching('an exact origin such as "https://app.example.com"', isOrigin), [], {
          expected: 'a list of exact origins, or "*" alone',
          description: "The web pages that may call the gateway: exact origins, or `'*'` alone.",
          examples: [['https://app.example.com']],
        }),
        (origins) => origins.length === 1 || !origins.includes('*'),
      ),
    },
    { description: 'Requests from web pages of other origins.' },
  ),
  trustedProxies: list(matching('an IP address or a CIDR range', isAddressRange), [], {
    description: 'The addresses and ranges of proxies whose `X-Forwarded-*` headers are trusted.',
    examples: [['10.0.0.0/8', 'fd00::/8']],
  }),
  privateAddresses: list(matching('an IP address or a CIDR range', isPlainAddressRange), [], {
    description:
      "Addresses and ranges of your network that are public ones by the standards, beside those that are private everywhere. A caller's file is not accepted from them, a file of an agent is not fetched from them (`keepFiles`), and an agent there counts as one with a private address.",
    examples: [['192.5.6.0/24', '2001:470:1f0b::/48']],
  }),
  publicAgentListing: flag({
    default: true,
    description: 'Whether `GET /api/v1/agents` answers without a credential.',
  }),
  console: flag({
    default: true,
    description:
      'Whether the web console is served at `/console`. The package contains it; in a checkout `pnpm start` builds it.',
  }),
  conversations: section(
    {
      retentionDays: days(30, { description: 'How long the turns of a conversation are kept.' }),
      maxTurns: count(20, {
        description: 'The number of turns that are stored for agents that keep no history.',
      }),
      maxCharacters: count(40_000, { description: 'The length of these turns together.' }),
      mappingRetentionDays: days(400, {
        description:
          'How long after the last use of a conversation the gateway remembers the id that the platform gave it.',
      }),
      nameFromQuestion: flag({
        default: false,
        description:
          'Whether a conversation is named by the first 80 characters of its first question. If not, it has no name until it is given one, and the list stores no texts.',
      }),
      endUserHeader: Type.Optional(
        matching('the name of a request header in lower case', isHeaderName, {
          description:
            'A request header by which a proxy in front names the end user. It binds requests with API keys to that end user, who sees and changes nothing of another. Set it only if the proxy controls the header.',
          examples: ['x-end-user'],
        }),
      ),
      endUserRequired: flag({
        default: false,
        description:
          'Whether a request that is bound to an end user is refused with 400 if it lacks this header. If not, it is that of the end user without a name.',
      }),
    },
    {
      description:
        'The history of agents that keep none of their own, and how long conversations are remembered.',
    },
  ),
  replies: section(
    {
      enabled: flag({
        default: true,
        description:
          'Whether replies are kept for requests with an `Idempotency-Key`. If not, such requests are refused with 400.',
      }),
      retentionHours: count(24, {
        maximum: 8_760,
        description: 'How long a kept reply can be read after its call has ended.',
      }),
      graceMs: timerMs(30_000, {
        description: 'How long a kept call goes on while its reply has no reader.',
      }),
      bytesMax: count(4 * MIB, {
        maximum: 64 * MIB,
        description:
          'The largest reply that is kept, its events and its JSON reply together: 4 MiB are about 2 MB of text, and less where the platform sends word by word. The readers that follow a larger one get all of it.',
      }),
      bytesPerOwnerMax: count(GIB, {
        description: 'What the kept replies of one user may take in all. The oldest make room for new ones.',
      }),
      bytesTotalMax: count(20 * GIB, {
        description:
          'What all kept replies may take. The oldest make room for new ones; a new kept call is answered 503 where that is not enough.',
      }),
      readersPerCallMax: count(250, {
        description:
          'The number of clients that read one kept reply in one process, beside the client of the call itself: those that resume its stream, and repeated requests that wait for it. Another is answered 429.',
      }),
      readersPerOwnerMax: count(500, {
        description:
          'The same for all kept replies of one user together. A reader that does not read holds up to half a megabyte of memory.',
      }),
    },
    {
      description:
        'Kept replies: those of calls with an `Idempotency-Key`, which can be repeated, resumed and stopped. See docs/kept-calls.md.',
    },
  ),
  audit: section(
    {
      retentionDays: days(400, {
        description:
          'How long events of the audit log are kept. Older ones are cut off by whole days, and an event signs the cut.',
      }),
    },
    { description: 'The [audit log](audit.md).' },
  ),
  usage: section(
    {
      retentionDays: days(400, {
        description: 'How long single calls stay in the ledger. Reports keep their sums for ever.',
      }),
      endUsersPerDayMax: count(ROLLUP_BOUNDS.endUsersPerDayMax, {
        maximum: COUNT_MAX,
        description:
          'The number of end users of one owner that reports distinguish in a day. Later ones are summed as `(other)`.',
      }),
      appsPerDayMax: count(ROLLUP_BOUNDS.appsPerDayMax, {
        maximum: COUNT_MAX,
        description:
          'The number of apps of one agent that reports distinguish in a day. Later ones are summed as `(other)`.',
      }),
    },
    { description: 'The ledger of calls, and the reports.' },
  ),
  users: section(
    {
      maxApiCalls: count(1_000_000, {
        minimum: 0,
        description: 'The quota of users who have none of their own.',
      }),
    },
    { description: 'What applies to users who have no value of their own.' },
  ),
  apiKeys: section(
    {
      // Ten years, which contain at most three leap days.
      maxLifetimeDays: days(3_653, { description: 'How far in the future `expires_at` may be.' }),
      activePerUserMax: count(1_000, {
        description:
          'The number of active keys that a user may own. Another is refused with 409 `too_many_keys`.',
      }),
      createdPerDayMax: count(1_000, {
        description:
          'The number of keys that are made for a user on one day (UTC), revoked ones included, since their records are kept. Another is refused with 429 `too_many_new_keys`.',
      }),
      revokedRetentionDays: Type.Optional(
        wholeNumber({
          maximum: DAYS_MAX,
          description:
            'How long the record of a key is kept after it was revoked or has expired. Then its files go, and then the record itself; reports keep its sums under its id. Without it, records are kept for ever.',
          examples: [400],
        }),
      ),
      revokeUnusedAfterDays: Type.Optional(
        wholeNumber({
          minimum: 1,
          maximum: DAYS_MAX,
          description:
            'Active keys that were neither used, made, rotated, bound to addresses nor resumed for so many days are revoked, which is in the audit log. Without it, no key is revoked by itself.',
          examples: [180],
        }),
      ),
    },
    { description: 'API keys.' },
  ),
  tokens: section(
    {
      lifetimeSeconds: count(3_600, {
        maximum: TEN_YEARS_SECONDS,
        description: 'How long an access token is valid.',
      }),
      issuer: text({ default: 'trunkline', description: 'The claim `iss` of access tokens.' }),
      audience: text({ default: 'trunkline', description: 'The claim `aud` of access tokens.' }),
    },
    { description: 'Access tokens, which people receive when they log in.' },
  ),
  chat: section(
    {
      bodyBytesMax: count(MIB, {
        description:
          'The largest request body. Uploads have a bound of their own, and `/api/v1/chat/completions` accepts 20 MiB, because messages may contain files.',
      }),
      replyBytesMax: count(10 * MIB, {
        description:
          'The largest reply that the gateway returns as JSON, and the largest single event of a platform.',
      }),
      streamBytesMax: count(32 * MIB, {
        description:
          'The largest text of one reply, streamed or not. A longer one ends as `agent_malformed`.',
      }),
      unsentBytesMax: count(MIB, {
        description: 'How much of a stream may wait for a slow client before the platform is paused.',
      }),
      inFlightMax: count(10_000, {
        description:
          'The number of calls that one process runs at once. Another is answered 503 `unavailable` and not counted. The last tenth is for users that have less than a tenth.',
      }),
      headerHoldMs: timerMs(15_000, {
        description:
          'How long the headers of a stream wait for its first event, so that a refusal keeps its own status.',
      }),
      keepAliveMs: timerMs(15_000, {
        description: 'The interval of the comments that keep a silent stream open.',
      }),
      stalledMs: timerMs(120_000, {
        description:
          'A client that accepts no data for this time, although data waits for it, is disconnected, after twice this time at the latest. A slow reader is not, if it takes 1.5 MB in this time; the system may accept data in steps of that size.',
      }),
    },
    { description: 'Chats, and the bounds of all requests.' },
  ),
  graphql: section(
    {
      introspection: Type.Optional(
        flag({
          description:
            'Whether GraphQL clients may ask for the schema and read it at `/schema.graphql`, and errors name what exists.',
          whenAbsent: 'off in production',
        }),
      ),
      graphiql: Type.Optional(
        flag({
          description: 'Whether `/graphql` shows browsers a page to try queries.',
          whenAbsent: 'off in production',
        }),
      ),
      documents: oneOf(['any', 'persisted', 'trusted'], {
        default: 'any',
        description:
          'Which GraphQL documents are taken: all of them, also automatic persisted queries with `persisted`, or only those of a file with `trusted`.',
      }),
      trustedDocuments: Type.Optional(
        text({
          description: 'The path of that file, as codegen writes it. Required for `trusted`.',
          examples: ['./persisted-documents.json'],
        }),
      ),
      bounds: section({
        withCredential: documentBounds(DOCUMENT_BOUNDS.withCredential, 'with a valid credential'),
        withoutCredential: documentBounds(DOCUMENT_BOUNDS.withoutCredential, 'without one'),
      }),
    },
    { description: 'GraphQL at `/graphql`. The bounds do not apply to trusted documents.' },
  ),
  connectionsMax: count(20_000, {
    description:
      'The number of client connections of one process. Further ones take the places of idle ones; where none is idle, they are answered 503 and closed. Each needs an open file (`ulimit -n`), and so does each call to a platform.',
  }),
  waitingPlaces: section(
    {
      inAll: count(WAITING_PLACES.inAll, {
        description:
          'How many reports and pages of calls wait for their turns in one process; the same for uploads.',
      }),
      perOwner: count(WAITING_PLACES.perOwner, { description: 'How many of these one user may have.' }),
    },
    { description: 'Where requests wait whose turn has not come.' },
  ),
  drain: section(
    {
      acceptMs: Type.Optional(
        wholeNumber({
          minimum: 0,
          maximum: TIMER_MS_MAX,
          description:
            'How long the process still accepts connections and calls while `/readyz` is 503 already, so that load balancers notice before they are refused. Longer than the period of their checks.',
          whenAbsent: '`5000` in production, else `0`',
          examples: [5_000],
        }),
      ),
      timeoutMs: timerMs(30_000, {
        description: 'How long running calls, and everything else that runs, may continue after that.',
      }),
    },
    {
      description:
        'How the process stops at SIGTERM or SIGINT, or when its terminal is closed. A second signal ends it at once. Allow it both times and 10 s more.',
    },
  ),
  instance: section(
    {
      leaseMs: timerMs(15_000, {
        description:
          'A process that has sent no heartbeat for this time is considered dead, and another settles its open calls.',
      }),
      retentionDays: days(30, {
        description: 'How long the row of a process is kept after the process has ended.',
      }),
    },
    { description: 'How processes that share a database watch each other.' },
  ),
}
