/** Words in a query that make an emulator misbehave. The README repeats this table. */
export const FAULTS = {
  'sandbox:slow-first': 'Sends the first byte after 3 s; `=N`: after N ms.',
  'sandbox:slow': 'Waits 100 ms between two fragments; `=N`: N ms.',
  'sandbox:long': 'Sends a reply of 1,000 numbered fragments; `=N`: of N fragments, at most 1,000,000.',
  'sandbox:echo':
    'Must be the last word: replies with the text after it and one space, byte for byte, in fragments.',
  'sandbox:length':
    'Cuts the reply in the middle; a platform that can report this gives the reason `length`.',
  'sandbox:empty': 'Finishes the run successfully without any text.',
  'sandbox:hang': 'Sends no byte and keeps the connection open.',
  'sandbox:pings': "Sends nothing but the platform's heartbeats, one per second; `=N`: one every N ms.",
  'sandbox:silence': 'Sends nothing after the first fragment and keeps the connection open.',
  'sandbox:reset-first': 'Begins the run and resets the socket before the first byte.',
  'sandbox:reset': 'Resets the socket in the middle of the reply.',
  'sandbox:truncate': 'Ends the reply in the middle, without an error but also without its end marker.',
  'sandbox:malformed': 'Sends a frame in the middle that is not JSON.',
  'sandbox:endless-line': 'Begins a line in the middle that does not end before 64 MiB.',
  'sandbox:html':
    "Replies with a proxy's HTML page and status 502 after the run has begun; `=N`: with status N.",
  'sandbox:html-200': 'Replies with an HTML page and status 200.',
  'sandbox:error':
    "`=<kind>`: rejects the call before the run, with the platform's own code and status. The kinds are below.",
  'sandbox:error-stored':
    'Begins the run, and then sends what `sandbox:error=server` sends: the platform has kept the turn.',
  'sandbox:error-first': 'Begins the run and fails it in the first event of the stream.',
  'sandbox:error-midstream': 'Fails the run after half of the text.',
  'sandbox:node-failed': 'Fails the model node, which each reports in its own way.',
  'sandbox:interactive':
    'Pauses with a question and waits for its answer; `=<kind>`: in another way. The kinds are below.',
  'sandbox:eager':
    'When a paused run is answered, generates all that follows before the response to the answer.',
  'sandbox:replace': 'Replaces the whole answer at its end, as moderation does.',
  'sandbox:forget-files': 'Forgets all uploads before the files of the query are looked up.',
  'sandbox:file': 'Makes a picture beside the text; `=<kind>`: other files. The kinds are below.',
  'sandbox:multi': 'Sends two answer messages in one run.',
  'sandbox:requires-action': "Ends the run with a request for a tool's output.",
} as const satisfies Record<string, string>

/** A word that makes an emulator misbehave. */
export type FaultWord = keyof typeof FAULTS

/** The kinds of `sandbox:error=<kind>`. The README repeats this table. */
export const ERROR_KINDS = {
  credentials: 'The key is rejected.',
  quota: 'Points, tokens or balance are used up.',
  'rate-limit': 'There were too many requests.',
  busy: 'Another run is active in the conversation, or the platform is overloaded.',
  'not-found': 'The conversation does not exist or belongs to another user.',
  'app-not-found': 'The app, bot or model does not exist.',
  rejected: 'The input is not valid.',
  filtered: 'Moderation rejects the input.',
  misconfigured: 'The app is not published or not set up.',
  server: 'The platform itself fails.',
} as const satisfies Record<string, string>

/** A kind of refusal, whose code and status are those of the platform. */
export type ErrorKind = keyof typeof ERROR_KINDS

/** The kinds of `sandbox:interactive=<kind>`. The README repeats this table. */
export const PAUSE_KINDS = {
  choice: 'A question with two options, or on HiAgent without any; also without a kind.',
  form: 'A form with fields of several types; Dify has two actions beside them.',
  text: 'One field of text; Dify has one action beside it.',
  expired: 'A choice that has expired already, so that its answer gets 412.',
  twice: 'A choice whose answer is followed by another choice.',
  both: 'Two choices that wait at once, in parallel branches.',
  email: 'A choice that is delivered by e-mail, so that its `form_token` is null.',
  empty: 'A choice of which the events tell nothing (`data: {}`), as 1.14.0-rc1 sends them.',
} as const satisfies Record<string, string>

/** A way in which a run pauses. */
export type PauseKind = keyof typeof PAUSE_KINDS

/** The kinds of `sandbox:file=<kind>`. The README repeats this table. */
export const FILE_KINDS = {
  beside: 'A picture beside the text; also without a kind.',
  alone: 'A picture and no text.',
  ten: 'Five pictures and five PDF documents beside the text.',
  relative: 'A picture whose URL is relative to the platform’s address.',
  mine: "The user's own file, which the platform repeats, and no text.",
  bytes: 'A picture in a `data:` URL.',
} as const satisfies Record<string, string>

/** A way in which a reply has files. */
export type FileKind = keyof typeof FILE_KINDS

/** The kinds of the words that have some. */
export const KINDS: Readonly<Record<string, object>> = {
  'sandbox:error': ERROR_KINDS,
  'sandbox:interactive': PAUSE_KINDS,
  'sandbox:file': FILE_KINDS,
}

const FLOWS = ['Dify chatflow', 'Dify workflow'] as const
const DIFY = ['Dify', ...FLOWS] as const

/** The emulators, by the names in which their replies and the README speak of them. */
export const EMULATORS = ['FastGPT', 'HiAgent', ...DIFY, 'Coze', 'OpenAI'] as const

/** An emulated platform or, of Dify, a kind of app; `Dify` alone is its apps without a workflow. */
export type EmulatorName = (typeof EMULATORS)[number]

/** The emulators that know a word, or one of its kinds. What is not here is known to all. */
const KNOWN_TO: Readonly<Record<string, readonly EmulatorName[]>> = {
  'sandbox:node-failed': ['FastGPT', ...FLOWS],
  'sandbox:interactive': ['FastGPT', 'HiAgent', ...FLOWS],
  'sandbox:interactive=form': ['FastGPT', ...FLOWS],
  'sandbox:interactive=text': ['FastGPT', ...FLOWS],
  'sandbox:interactive=expired': FLOWS,
  'sandbox:interactive=both': FLOWS,
  'sandbox:interactive=email': FLOWS,
  'sandbox:interactive=empty': FLOWS,
  'sandbox:eager': FLOWS,
  'sandbox:replace': DIFY,
  'sandbox:forget-files': [...DIFY, 'Coze'],
  'sandbox:file': ['FastGPT', ...DIFY, 'Coze', 'OpenAI'],
  'sandbox:file=mine': DIFY,
  'sandbox:file=bytes': ['OpenAI'],
  'sandbox:multi': ['Coze'],
  'sandbox:requires-action': ['Coze'],
}

/**
 * Returns the emulators that know a command.
 *
 * @param command - a word alone or, as `<word>=<value>`, with its value
 */
export function emulatorsWith(command: string): readonly EmulatorName[] {
  const [word = '', kind] = command.split('=', 2)
  const kinds = KINDS[word]
  if (!Object.hasOwn(FAULTS, word) || (kind && kinds && !Object.hasOwn(kinds, kind))) return []
  return KNOWN_TO[command] ?? KNOWN_TO[word] ?? EMULATORS
}

/** Words, or kinds of them, that an emulator does not know. */
export interface UnknownCommands {
  readonly emulator: EmulatorName
  readonly commands: readonly string[]
}

/** A query, separated into its text and its fault words. */
export interface Faults {
  /** The query without its fault words. */
  readonly question: string
  /** The text after `sandbox:echo`; undefined without that word. */
  readonly echo: string | undefined
  /** What the emulator does not know, of which alone its reply speaks; undefined if it knows all words. */
  readonly unknown: UnknownCommands | undefined
  readonly error: ErrorKind | undefined
  /** How the run pauses; undefined if it does not. */
  readonly pause: PauseKind | undefined
  /** Which files the reply has; undefined if it has none. */
  readonly file: FileKind | undefined
  has(word: FaultWord): boolean
  /** Returns the number after `word=`, or `otherwise` if there is none. */
  number(word: FaultWord, otherwise: number): number
}

const WORD = /(?<!\S)((sandbox:[^\s=]+)(?:=(\S*))?)(?!\S)\s?/g
const ECHO = /(?<!\S)sandbox:echo(?:\s|$)/

/**
 * Reads the words of a query. A word or kind that the emulator does not know is the only one that counts: the reply says so.
 *
 * @param emulator - without it every known word is done, and what is no word is text
 */
export function parseFaults(query: string, emulator?: EmulatorName): Faults {
  const echo = ECHO.exec(query)
  const head = echo ? query.slice(0, echo.index) : query
  const values = new Map<string, string>()
  const unknown = new Set<string>()
  const question = head.replace(WORD, (whole, command: string, word: string, value = '') => {
    if (emulator !== undefined && !emulatorsWith(command).includes(emulator)) unknown.add(command)
    if (!Object.hasOwn(FAULTS, word)) return whole
    values.set(word, value)
    return ''
  })
  const isRefused = emulator !== undefined && unknown.size > 0
  if (isRefused) values.clear()
  const kind = values.get('sandbox:error')
  const pause = values.get('sandbox:interactive')
  const file = values.get('sandbox:file')
  return {
    question: question.trim(),
    echo: echo ? query.slice(echo.index + echo[0].length) : undefined,
    unknown: isRefused ? { emulator, commands: [...unknown] } : undefined,
    error: kind === undefined ? undefined : isErrorKind(kind) ? kind : 'server',
    pause: pause === undefined ? undefined : isPauseKind(pause) ? pause : 'choice',
    file: file === undefined ? undefined : isFileKind(file) ? file : 'beside',
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

function isPauseKind(kind: string): kind is PauseKind {
  return Object.hasOwn(PAUSE_KINDS, kind)
}

function isFileKind(kind: string): kind is FileKind {
  return Object.hasOwn(FILE_KINDS, kind)
}
