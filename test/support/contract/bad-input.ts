import { inOneYear } from '../api.ts'

const MIB = 1024 * 1024

/** Operations whose bodies may carry files. */
const TAKES_FILES: ReadonlySet<string> = new Set(['createCompletion', 'createResponse'])

/** JSON of one byte more than an operation takes. */
export function tooLargeFor(operationId: string): string {
  return JSON.stringify('x'.repeat((TAKES_FILES.has(operationId) ? 20 : 1) * MIB - 1))
}

/** Bodies that every route rejects alike: name, bytes, headers, status, reason, and beginning of the detail. */
export const BAD_BODIES: readonly BadBody[] = [
  ['half of JSON', '{"a', {}, 400, 'invalid_json', 'body: is not valid JSON'],
  ['a word', 'undefined', {}, 400, 'invalid_json', 'body: is not valid JSON'],
  [
    'bytes that are not UTF-8',
    Buffer.from([0x22, 0xff, 0x22]),
    {},
    400,
    'invalid_json',
    'body: is not valid UTF-8',
  ],
  ['65 levels', nested(65), {}, 400, 'invalid_request', 'body: is nested too deep'],
  ['levels without end', '['.repeat(15_000), {}, 400, 'invalid_json', 'body: is not valid JSON'],
  ['text', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type', 'content-type: '],
  [
    'a form',
    'a=b',
    { 'content-type': 'application/x-www-form-urlencoded' },
    415,
    'unsupported_media_type',
    'content-type: ',
  ],
  ['no type', '{}', { 'content-type': '' }, 415, 'unsupported_media_type', 'content-type: '],
  [
    'another type of JSON',
    '{}',
    { 'content-type': 'application/vnd.api+json' },
    415,
    'unsupported_media_type',
    'content-type: ',
  ],
  [
    'Latin-1',
    '{}',
    { 'content-type': 'application/json; charset=latin1' },
    415,
    'unsupported_media_type',
    'content-type: expected charset utf-8',
  ],
  ...['gzip', 'br', 'zstd, identity', 'utf-8'].map(
    (encoding) =>
      [
        `a body in ${encoding}`,
        '{}',
        { 'content-encoding': encoding },
        415,
        'unsupported_media_type',
        'content-encoding: expected identity',
      ] as const,
  ),
]

type BadBody = readonly [
  what: string,
  body: string | Buffer,
  headers: Record<string, string>,
  status: number,
  reason: string,
  detail: string,
]

/** Well-formed JSON values that are not objects. */
export const NO_OBJECTS = ['', 'null', 'true', '7', '"text"', '[]', '[{}]']

/** The fields of operations in which an empty text counts as absent, as their descriptions say. */
export const EMPTY_IS_ABSENT: ReadonlyMap<string, (field: string) => boolean> = new Map([
  // Clients of OpenAI's Responses API send it for what they leave out.
  ['createResponse', (field) => field !== 'model' && field !== 'input'],
])

/** One value of each kind. The gateway must reject each value that the schema of a field does not accept. */
export const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  '',
  'text',
  'true',
  '1',
  'x'.repeat(2_000),
  [],
  [1],
  ['text'],
  {},
  { text: 'text' },
]

/** Rules that no schema expresses: operation, change to a valid body, and the field that the detail names. */
export const BAD_FIELDS: readonly (readonly [operation: string, change: object, field: string])[] = [
  ['createApiKey', { name: '   ' }, 'body.name'],
  ['createApiKey', { name: 'a\u0000b' }, 'body.name'],
  ['createApiKey', { description: '\ud800' }, 'body.description'],
  ['createApiKey', { expires_at: 'tomorrow' }, 'body.expires_at'],
  ['createApiKey', { expires_at: inOneYear().replace('Z', '') }, 'body.expires_at'],
  ['createApiKey', { expires_at: '2020-01-01T00:00:00Z' }, 'body.expires_at'],
  ['createApiKey', { expires_at: '2027-02-30T00:00:00Z' }, 'body.expires_at'],
  ['createApiKey', { expires_at: '2099-01-01T00:00:00Z' }, 'body.expires_at'],
  ['createApiKey', { permissions: ['chat', 'chat'] }, 'body.permissions'],
  ['createApiKey', { permissions: ['chat', 'root'] }, 'body.permissions[1]'],
  ['createApiKey', { owner_id: '00000000-0000-7000-8000-000000000000' }, 'body.owner_id'],
  ['createApiKey', { allowed_agents: [] }, 'body.allowed_agents'],
  ['createApiKey', { allowed_agents: ['openai', 'nobody/app'] }, 'body.allowed_agents[1]'],
  ['createApiKey', { limits: { chat_per_minute: 0 } }, 'body.limits.chat_per_minute'],
  ['createApiKey', { limits: { upload_per_minute: '5' } }, 'body.limits'],
  ['updateApiKey', { name: '\n' }, 'body.name'],
  ['updateApiKey', { expires_at: '2020-01-01T00:00:00Z' }, 'body.expires_at'],
  ['updateApiKey', { expires_at: '2099-01-01' }, 'body.expires_at'],
  ['updateApiKey', { limits: { chat_per_minute: 1_000_000 } }, 'body.limits.chat_per_minute'],
  ['createUser', { username: 'ab' }, 'body.username'],
  ['createUser', { username: 'a b c' }, 'body.username'],
  ['createUser', { username: 'x'.repeat(65) }, 'body.username'],
  ['createUser', { password: 'x'.repeat(7) }, 'body.password'],
  ['createUser', { password: 'x'.repeat(257) }, 'body.password'],
  ['setPassword', { password: 'x'.repeat(7) }, 'body.password'],
  ['changeOwnPassword', { current_password: 'another' }, 'body.current_password'],
  ['createCompletion', { messages: [{ role: 'robot', content: 'Hello' }] }, 'body.messages[0].role'],
  ['createCompletion', { n: 2 }, 'body.n'],
  ['createResponse', { input: [{ role: 'robot', content: 'Hello' }] }, 'body.input[0].role'],
  ['createResponse', { background: true }, 'body.background'],
  ['createResponse', { conversation: {} }, 'body.conversation'],
  ...['computer_call', 'file_search_call', 'code_interpreter_call'].map(
    (type) => ['createResponse', { input: [{ type }] }, 'body.input[0].type'] as const,
  ),
  ['createResponse', { tools: [{ type: 'function', name: 'f' }] }, 'body.tools'],
  ['createCompletion', { tools: [{ type: 'function', function: { name: 'f' } }] }, 'body.tools'],
]

/** Invalid credentials, as header lines. */
export const BAD_CREDENTIALS: readonly (readonly [what: string, lines: readonly string[], reason: string])[] =
  [
    ['none', [], 'credential_missing'],
    ['an empty one', ['Authorization:'], 'credential_malformed'],
    ['the scheme alone', ['Authorization: Bearer'], 'credential_malformed'],
    ['another scheme', ['Authorization: Basic dXNlcjpwYXNz'], 'credential_malformed'],
    ['two words', ['Authorization: Bearer a b'], 'credential_malformed'],
    ['one beyond any size', [`Authorization: Bearer ${'x'.repeat(5_000)}`], 'credential_malformed'],
    ['one that is no key', ['Authorization: Bearer tl_mistyped'], 'credential_malformed'],
    ['two', ['Authorization: Bearer a', 'Authorization: Bearer a'], 'credential_malformed'],
  ]

export const BAD_QUERIES: readonly (readonly [query: string, field: string])[] = [
  ['limit=0', 'query.limit'],
  ['limit=101', 'query.limit'],
  ['limit=abc', 'query.limit'],
  ['limit=', 'query.limit'],
  ['limit=1.5', 'query.limit'],
  ['limit=1&limit=2', 'query.limit'],
  ['cursor=', 'query.cursor'],
  ['cursor=bad', 'query.cursor'],
  ['cursor=%00', 'query.cursor'],
  [`cursor=${'x'.repeat(201)}`, 'query.cursor'],
]

/** Query strings that usage reports reject, with the field that the detail names. */
export const BAD_RANGES: readonly (readonly [operationId: string, query: string])[] = [
  'from=2026-11-20&to=2026-11-19',
  'from=2026-11-20T10:00:00.001Z&to=2026-11-20T10:00:00Z',
  'from=2026-11-20T10:00:00Z&to=2026-11-20T11:00:00%2B02:00',
].flatMap((range) =>
  ['readUsage', 'listCalls', 'listRefusals', 'countRefusals', 'listAuditEvents'].flatMap((id) => [
    [id, range] as const,
    [id, `format=csv&${range}`] as const,
  ]),
)

export const BAD_REPORTS: readonly (readonly [query: string, field: string])[] = [
  ['granularity=week', 'query.granularity'],
  ['colour=red', 'query.colour'],
  ['agent=nobody', 'query.agent'],
  ['key_id=%00', 'query.key_id'],
  ['from=2026-02-30', 'query.from'],
  ['from=1969-12-31', 'query.from'],
  ['timezone=Mars/Olympus', 'query.timezone'],
  ['timezone=Asia/Kolkata', 'query.timezone'],
  ['group_by=colour', 'query.group_by'],
  ['from=yesterday', 'query.from'],
  ['from=2026-11-20T10:00:00', 'query.from'],
  ['from=2026-11-20&to=2026-11-19', 'query.from'],
  ['to=2026-13-01', 'query.to'],
  ['from=1990-01-01&granularity=hour', 'query.granularity'],
  ['format=xml', 'query.format'],
]

/** Ids that identify nothing, encoded for a path. */
export const UNKNOWN_IDS = [
  '1',
  'none',
  '%00',
  'a%2Fb',
  '%F0%9F%98%80',
  '00000000-0000-0000-0000-000000000000',
  "'--",
]
/** Path segments that do not decode to valid text. */
export const BROKEN_IDS = ['%', '%zz', '%ff', 'a%f0%28']

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}
