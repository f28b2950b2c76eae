import { readFileSync } from 'node:fs'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { paragraphBreak } from '#core/agents/made-file.ts'
import { textOfPause } from '#core/agents/pause.ts'
import { parseLenientJson } from '#core/base/values/lenient-json.ts'
import type {
  Adapter,
  Agent,
  AgentCall,
  AgentSettings,
  EmptyReply,
  EntrySchemas,
  HelperCall,
  PlatformConversation,
  ReplyState,
  UpstreamEvent,
  UpstreamRequest,
} from './adapter.ts'
import { createAgent } from './create-agent.ts'
import type { ChatEvent, Failure, FinishReason, TokenCounts } from './events.ts'
import { PLATFORMS } from './registry.ts'
import { type ServedAgent, servedBySelf } from './served-agent.ts'
import { ReplyEnds } from './translate/replies/reply-ends.ts'
import { WellFormedText } from './translate/replies/well-formed-text.ts'
import { EventReader } from './upstream/event-reader.ts'

export interface Transcript {
  readonly name: string
  readonly bytes: Buffer
  readonly http_status: number
  /** Empty if the platform sends none. */
  readonly content_type: string
  readonly extra_headers: Readonly<Record<string, string>>
  readonly outcome: string
  readonly expect_text: string | null
  /** The text of a stream where it differs from a JSON reply, because sent text cannot be withdrawn. */
  readonly expect_text_stream?: string
  readonly expect_finish_reason: string | null
  readonly expect_usage: Readonly<Record<string, number>> | null
  readonly expect_error?: { readonly status: number; readonly reason: string }
  /** Where such a reply is documented or was reported. */
  readonly source?: string
  /** What the platform answers when it is asked how the reply has ended, one after the other, to the request that contains `about`. */
  readonly concluded?: Concluded | readonly Concluded[]
  /** `none` if the platform refuses before it stores anything. */
  readonly turn?: 'none'
}

interface Concluded {
  readonly about: string
  readonly body: unknown
}

/** The parent folder of the built-in platforms. */
const PLATFORMS_FOLDER = new URL('./platforms/', import.meta.url)

/**
 * Returns the recorded replies of a platform, named like `dify/plain-stream.txt`. The owner `generic` holds
 * replies that any platform may send.
 *
 * @param folders - the parent folder of the platform's folder
 */
export function transcriptsOf(owner: string, folders = PLATFORMS_FOLDER): readonly Transcript[] {
  const folder =
    owner === 'generic' ? new URL('./translate/', import.meta.url) : new URL(`${owner}/`, folders)
  const manifest: (Transcript & { file: string })[] = JSON.parse(
    readFileSync(new URL('manifest.json', folder), 'utf8'),
  )
  return manifest.map((entry) => ({
    ...entry,
    name: `${owner}/${entry.file}`,
    bytes: readFileSync(new URL(`transcripts/${entry.file}`, folder)),
  }))
}

export function transcriptNamed(name: string, folders = PLATFORMS_FOLDER): Transcript {
  const [owner = ''] = name.split('/')
  const found = transcriptsOf(owner, folders).find((transcript) => transcript.name === name)
  if (found === undefined) throw new Error(`no transcript ${name}`)
  return found
}

/** Returns the body as the upstream client does: parsed JSON, or the text if it is not JSON. */
export function bodyOf({ bytes }: Transcript): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return parseLenientJson(bytes.toString()) ?? bytes.toString()
  }
}

/** Translates a recorded reply whose bytes arrive in the given chunks. */
export function read(
  adapter: Adapter,
  call: AgentCall,
  transcript: Transcript,
  chunks: readonly Uint8Array[] = [transcript.bytes],
  state: ReplyState = adapter.start(call),
): ChatEvent[] {
  const { http_status: status, extra_headers: headers, bytes } = transcript
  const lowered = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (status >= 400) {
    return [
      { type: 'error', failure: adapter.toFailure(status, bodyOf(transcript), (name) => lowered.get(name)) },
    ]
  }
  const translated = /^\s*[{<]/.test(bytes.toString())
    ? adapter.translateBody(bodyOf(transcript), state)
    : eventsOf(chunks).flatMap((event) => adapter.translate(event, state))
  const hasFailed = translated.some(({ type }) => type === 'error')
  const concluded = hasFailed ? [] : conclusionOf(adapter, call, transcript, state)
  return [...translated, ...concluded, ...adapter.finish(state)]
}

/** What the platform says after the end: as the transcript has it, and nothing beyond. */
function conclusionOf(
  adapter: Adapter,
  call: AgentCall,
  { concluded = [] }: Transcript,
  state: ReplyState,
): readonly ChatEvent[] {
  for (const { body } of [...[concluded].flat(), { body: {} }]) {
    const result = adapter.conclude?.(call, state)?.read(200, body, () => undefined)
    if (result === undefined || 'failure' in result) return []
    if (typeof result.ok !== 'string') return result.ok
  }
  return []
}

/** Parses the server-sent events of a stream. */
export function eventsOf(chunks: readonly Uint8Array[]): UpstreamEvent[] {
  const events: UpstreamEvent[] = []
  const reader = new EventReader(Number.POSITIVE_INFINITY, (event) => events.push(event))
  for (const chunk of chunks) reader.feed(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
  reader.end()
  return events
}

interface Reply {
  readonly text: string
  readonly streamText: string
  readonly finishReason: FinishReason | undefined
  readonly usage: TokenCounts | undefined
  readonly failure: Failure | undefined
}

/** Reduces events to the reply that a client receives, by the rules that the chat service applies. */
export function fold(
  events: readonly ChatEvent[],
  mayBeEmpty: (reply: EmptyReply) => boolean = () => false,
): Reply {
  const failed = events.findIndex(({ type }) => type === 'error')
  const texts = new WellFormedText()
  const read = (failed === -1 ? events : events.slice(0, failed)).flatMap((event) => texts.take(event))
  const delivered = [...read, ...texts.end()]
  const error = events[failed]
  let text = ''
  let streamText = ''
  let isAfterFile = false
  for (const event of delivered) {
    if (event.type === 'replace') text = ''
    const added = paragraphOf(event)
    if (added === '') continue
    const begins = event.type !== 'text' || isAfterFile
    const breaks = (before: string) => (begins ? paragraphBreak(before, added) : '')
    text += breaks(text) + added
    streamText += breaks(streamText) + added
    isAfterFile = event.type === 'file'
  }
  const ends = new ReplyEnds()
  for (const event of delivered)
    if (event.type === 'end') ends.report(event.reason)
    else if (event.type === 'tool_calls') ends.goesOn(true)
  const finishReason = ends.reason
  const usage = delivered.findLast((event) => event.type === 'usage')?.usage
  const hasReasoning = delivered.some(({ type }) => type === 'reasoning')
  const hasContent = text !== '' || delivered.some(({ type }) => type === 'tool_calls' || type === 'file')
  const isEmpty =
    finishReason !== undefined && !hasContent && !mayBeEmpty({ reason: finishReason, hasReasoning, usage })
  const failure: Failure | undefined =
    error?.type === 'error'
      ? error.failure
      : finishReason === undefined
        ? { reason: 'agent_truncated' }
        : isEmpty
          ? { reason: 'agent_empty_reply' }
          : undefined
  return { text, streamText, finishReason: failure === undefined ? finishReason : undefined, usage, failure }
}

function paragraphOf(event: ChatEvent): string {
  switch (event.type) {
    case 'text':
    case 'replace':
      return event.text
    case 'file':
      // What is not at an address is shown by its name.
      return event.file.url?.startsWith('data:')
        ? (event.file.name ?? event.file.type)
        : `![${event.file.name ?? ''}](${event.file.url})`
    case 'pause':
      return textOfPause(event.pause)
    default:
      return ''
  }
}

/** Distance between two cuts in one variant; large enough that no character or line end is cut twice. */
const CUT_EVERY = 256

/**
 * Yields variants of how the bytes may be chunked: whole, byte by byte, and cut after every byte, so that
 * every character, line end and event is cut somewhere. One variant cuts a long reply in several places,
 * because a variant per byte would take seconds; with SOAK each variant has a single cut.
 */
export function* cutsOf(bytes: Uint8Array): Generator<readonly Uint8Array[]> {
  yield [bytes]
  yield Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1))
  const every = process.env.SOAK ? bytes.length : Math.min(CUT_EVERY, bytes.length)
  for (let first = 1; first <= every; first++) {
    const chunks = [bytes.subarray(0, first)]
    for (let start = first; start < bytes.length; start += every)
      chunks.push(bytes.subarray(start, start + every))
    yield chunks
  }
}

/** Creates an agent of a built-in platform with default options. */
export function agentOf(platform: string, overrides: Partial<ServedAgent> = {}): ServedAgent {
  const { deployments, retry, concurrency, ...own } = overrides
  const agent = servedBySelf(agentFor(adapterOf(platform), own))
  return {
    ...agent,
    deployments: deployments ?? agent.deployments,
    retry: retry ?? agent.retry,
    concurrency: concurrency ?? agent.concurrency,
  }
}

/** What an agent of a platform cannot do without. */
const NEEDED_OPTIONS: Readonly<Record<string, Agent['options']>> = {
  a2a: {
    card: {
      supportedInterfaces: [{ url: '/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true },
    },
  },
}

/** Creates an agent of a given adapter, with typed options. */
export function agentFor<Own extends EntrySchemas, State extends ReplyState>(
  adapter: Adapter<Own, State>,
  overrides: Partial<AgentSettings<Own>> = {},
): Agent<Own> {
  const schema: Own['agent'] = adapter.entry.agent
  const options = Value.Default(schema, NEEDED_OPTIONS[adapter.platform] ?? {})
  if (!Value.Check(schema, options)) throw new Error(`${adapter.platform}: an option has no default`)
  return createAgent({
    id: adapter.platform,
    adapter,
    name: adapter.platform,
    description: '',
    baseUrl: 'https://platform.example',
    apiKey: 'key-of-agent',
    apps: [],
    options,
    connection: { names: 'dns' },
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
    endGraceMs: 1,
    reasoning: false,
    thinkTags: false,
    tools: 'refuse',
    propagate: false,
    keepFiles: false,
    sandbox: false,
    ...overrides,
  })
}

export function adapterOf(platform: string): Adapter {
  const adapter = PLATFORMS.find(platform)
  if (adapter === undefined) throw new Error(`no platform ${platform}`)
  return adapter
}

export function callOf<Own extends EntrySchemas>(
  agent: Agent<Own>,
  overrides: Partial<AgentCall<Own>> = {},
): AgentCall<Own> {
  const card = agent.adapter.card?.(agent)
  return {
    callId: '0190a1b2-0000-7000-8000-000000000001',
    ...(card !== undefined && 'ok' in card && { card: card.ok }),
    agent,
    app: undefined,
    appId: '',
    stream: true,
    query: 'hello',
    messages: undefined,
    files: [],
    variables: {},
    platformConversationId: undefined,
    endUser: '0123456789abcdefghij',
    parameters: {},
    ...overrides,
  }
}

/** A conversation at a platform, with the ids that {@link callOf} has. */
export function conversationOf<Own extends EntrySchemas>(
  agent: Agent<Own>,
  overrides: Partial<PlatformConversation<Own>> = {},
): PlatformConversation<Own> {
  const { app, appId, endUser, card } = callOf(agent)
  return {
    agent,
    app,
    appId,
    endUser,
    platformConversationId: 'conversation-at-platform',
    ...(card !== undefined && { card }),
    ...overrides,
  }
}

/** Reads a recorded reply to a call other than a chat. */
export function readBy<Result>(
  { read }: HelperCall<Result>,
  { http_status, extra_headers, ...transcript }: Transcript,
): ReturnType<HelperCall<Result>['read']> {
  return read(
    http_status,
    bodyOf({ http_status, extra_headers, ...transcript }),
    (name) => extra_headers[name],
  )
}

/** Returns the body that an adapter sends; empty if it sends none. */
export function textSent({ body = '' }: Pick<UpstreamRequest, 'body'>): string {
  if (typeof body !== 'string') throw new Error('the body is a stream')
  return body
}

/** Returns every combination of enum options that the schema of the platform's entry allows. */
export function everyOptionsOf({ entry, platform }: Adapter): readonly Agent['options'][] {
  return Object.entries(entry.agent.properties).reduce<readonly Agent['options'][]>(
    (sets, [name, property]) =>
      Type.IsEnum(property)
        ? sets.flatMap((set) => property.enum.map((value) => ({ ...set, [name]: value })))
        : sets,
    [NEEDED_OPTIONS[platform] ?? {}],
  )
}
