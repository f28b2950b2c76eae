/** Words in a query that make an emulator misbehave, the same on every platform. */
export const FAULTS = {
  'sandbox:slow-first': 'The first byte comes after 3 s; `=N` after N ms.',
  'sandbox:slow': '100 ms between two fragments; `=N`: N ms.',
  'sandbox:long': 'A reply of 1,000 numbered fragments; `=N`: N of them, at most 1,000,000.',
  'sandbox:echo':
    'Must be the last word: what follows it and one space is the reply, byte for byte, in fragments.',
  'sandbox:length': 'The reply is cut in the middle; where the platform can say so, it says `length`.',
  'sandbox:empty': 'The run succeeds without a text.',
  'sandbox:hang': 'No byte at all; the connection is held.',
  'sandbox:pings': "Nothing but the platform's heartbeats, one a second; `=N`: one every N ms.",
  'sandbox:silence': 'Nothing more after the first fragment; the connection is held.',
  'sandbox:reset': 'The socket is reset in the middle of the reply.',
  'sandbox:truncate': 'The reply ends in the middle, in good order but without its end marker.',
  'sandbox:malformed': 'A frame in the middle is not JSON.',
  'sandbox:endless-line': 'In the middle begins a line that does not end before 64 MiB.',
  'sandbox:html': "A proxy's HTML page with status 502.",
  'sandbox:html-200': 'An HTML page with status 200.',
  'sandbox:error':
    "`=<kind>`: refused before the run, with the platform's own code and status. The kinds are below.",
  'sandbox:error-midstream': 'The run fails after half of the text.',
  'sandbox:node-failed':
    'FastGPT, Dify chatflow and workflow: the model node fails, the run says so its own way.',
  'sandbox:interactive': 'FastGPT: pauses with a choice; the next query in the chat answers it.',
  'sandbox:replace': 'Dify: moderation replaces the whole answer at its end.',
  'sandbox:multi': 'Coze: two answer messages in one run.',
  'sandbox:requires-action': "Coze: the run wants a tool's output.",
} as const satisfies Record<string, string>

export type FaultWord = keyof typeof FAULTS

/** What `sandbox:error=<kind>` stands for. */
export const ERROR_KINDS = {
  credentials: 'The key is refused.',
  quota: 'Points, tokens or balance are used up.',
  'rate-limit': 'Too many requests.',
  busy: 'Another run is going on in the conversation, or the platform is overloaded.',
  'not-found': "The conversation does not exist, or is another's.",
  'app-not-found': 'The app, bot or model does not exist.',
  rejected: 'The input is not valid.',
  filtered: 'Moderation refuses the input.',
  misconfigured: 'The app is not published, or not set up.',
  server: "The platform's own failure.",
} as const satisfies Record<string, string>

export type ErrorKind = keyof typeof ERROR_KINDS

/** A query, read: its fault words apart from its text. */
export interface Faults {
  /** The query without its fault words. */
  readonly question: string
  /** What `sandbox:echo` asks for. */
  readonly echo: string | undefined
  readonly error: ErrorKind | undefined
  has(word: FaultWord): boolean
  /** The number after `word=`, or the one given. */
  number(word: FaultWord, otherwise: number): number
}

const WORD = /(?<!\S)(sandbox:[a-z0-9-]+)(?:=(\S+))?(?!\S)\s?/g
const ECHO = /(?<!\S)sandbox:echo(?:\s|$)/

export function parseFaults(query: string): Faults {
  const echo = ECHO.exec(query)
  const head = echo ? query.slice(0, echo.index) : query
  const values = new Map<string, string>()
  const question = head.replace(WORD, (whole, word: string, value: string | undefined) => {
    if (!Object.hasOwn(FAULTS, word)) return whole
    values.set(word, value ?? '')
    return ''
  })
  const kind = values.get('sandbox:error')
  return {
    question: question.trim(),
    echo: echo ? query.slice(echo.index + echo[0].length) : undefined,
    error: kind === undefined ? undefined : isErrorKind(kind) ? kind : 'server',
    has: (word) => values.has(word),
    number: (word, otherwise) => {
      const value = Number.parseInt(values.get(word) ?? '', 10)
      return Number.isNaN(value) ? otherwise : value
    },
  }
}

function isErrorKind(kind: string): kind is ErrorKind {
  return Object.hasOwn(ERROR_KINDS, kind)
}
