import type { Agent, ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure, TokenCounts } from '#core/agents/events.ts'
import type { MadeFile } from '#core/agents/made-file.ts'
import type { Pause } from '#core/agents/pause.ts'
import { ReplyEnds } from '#core/agents/translate/replies/reply-ends.ts'
import { ThinkTags } from '#core/agents/translate/replies/think-tags.ts'
import { WellFormedText } from '#core/agents/translate/replies/well-formed-text.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { toJson } from '#core/base/values/json.ts'
import { FilesOfReply } from './files/files-of-reply.ts'
import { SCHEME_CHARACTERS } from './files/seen-urls.ts'
import { exceededPauseBound } from './pauses/pause-bounds.ts'

export interface ReplyContentDeps {
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** A reply with more text than this fails with `agent_malformed`, which bounds models that never stop. */
  readonly streamBytesMax: number
}

type AgentOfContent = Pick<Agent, 'thinkTags' | 'baseUrl' | 'filesUrl' | 'keepFiles'>

/** What is known of the events of one reply, and whether they are a whole one. Only its own methods change it, and `failure`. */
export class ReplyContent {
  /** A failure that was found in the reply; it is raised after the events that came before it. */
  failure: Failure | undefined
  /** The ends that the platform has reported, provisional until the reply is complete. */
  readonly ends = new ReplyEnds()
  /** The first word of the platform for an end that the gateway does not know. */
  unknownFinishWord: string | undefined
  /** Whether the whole reply has been read; its last event is `end`. */
  isComplete = false
  /** Whether a part of the answer has come. */
  hasContent = false
  usage: TokenCounts | undefined
  model: string | undefined
  /** When the first part of the answer came, on the clock of `elapsedMs`. */
  firstTextAtMs: number | undefined
  /** Where the run waits, in the order in which it was reported. Several branches of a run may wait at once. */
  pauses: Pause[] | undefined
  /** Undefined as long as there is none, nor a URL in the text that may be the one of a file. */
  files: FilesOfReply | undefined
  readonly #deps: ReplyContentDeps
  readonly #agent: AgentOfContent
  /** Undefined as long as all texts were well-formed. */
  #texts: WellFormedText | undefined
  /** Undefined where tags are text. */
  readonly #tags: ThinkTags | undefined
  /** The end of a text in which there was no slash, and so no URL: what may precede its first one. */
  #tail = ''
  #hasReasoning = false
  #carriedBytes = 0
  #pauseBytes = 0

  constructor(deps: ReplyContentDeps, agent: AgentOfContent) {
    this.#deps = deps
    this.#agent = agent
    // What stands between tags at the beginning of the text is reasoning then.
    this.#tags = agent.thinkTags ? new ThinkTags() : undefined
  }

  /** Keeps what settling the call needs and adds to the batch what the reader needs, up to the first failure. */
  sift(events: readonly ChatEvent[], batch: ChatEvent[]): void {
    for (const event of events) {
      if (this.failure !== undefined) return
      if (event.type === 'error') this.failure = event.failure
      else if (event.type === 'end') {
        this.ends.report(event.reason)
        this.unknownFinishWord ??= event.unknownWord
      } else {
        if (ANSWERS.has(event.type)) this.ends.goesOn(event.type === 'tool_calls')
        if (this.#texts === undefined && isWhole(event)) this.#keepParts(event, batch)
        else {
          this.#texts ??= new WellFormedText()
          for (const whole of this.#texts.take(event)) this.#keepParts(whole, batch)
        }
      }
    }
  }

  /**
   * Decides what the end of the response means: a complete reply, a truncated one or an empty one.
   *
   * @param adapter - says whether a reply without any text is one
   */
  close(batch: ChatEvent[], adapter: Pick<Agent['adapter'], 'mayBeEmpty'>, state: ReplyState): void {
    if (this.failure !== undefined) return
    const { reason } = this.ends
    if (reason === undefined) {
      this.failure = { reason: 'agent_truncated' }
      return
    }
    if (this.#texts !== undefined) for (const held of this.#texts.end()) this.#keepParts(held, batch)
    if (this.#tags !== undefined) for (const held of this.#tags.end()) this.#keep(held, batch)
    if (this.failure !== undefined) return
    const reply = { reason, hasReasoning: this.#hasReasoning, usage: this.usage }
    if (!this.hasContent && adapter.mayBeEmpty?.(state, reply) !== true) {
      this.failure = { reason: 'agent_empty_reply' }
    } else {
      batch.push({ type: 'end', reason })
      this.isComplete = true
    }
  }

  /** With tags, a text is several parts. */
  #keepParts(event: ChatEvent, batch: ChatEvent[]): void {
    if (this.#tags === undefined) this.#keep(event, batch)
    else for (const part of this.#tags.take(event)) this.#keep(part, batch)
  }

  /** Notes what the event is, and passes it on if it is within the bound. */
  #keep(event: ChatEvent, batch: ChatEvent[]): void {
    if (this.failure !== undefined) return
    let bytes = 0
    switch (event.type) {
      case 'usage':
        this.usage = event.usage
        break
      case 'model':
        this.model = event.model
        break
      case 'reasoning':
        this.#hasReasoning = true
        bytes = Buffer.byteLength(event.text)
        break
      case 'logprobs':
        bytes = jsonBytes(event.logprobs)
        break
      case 'citations':
        bytes = jsonBytes([event.top, event.annotations])
        break
      case 'file':
        this.#takeFile(event.file, batch)
        return
      case 'pause':
        if (!this.#takePause(event.pause)) return
        break
      case 'text':
      case 'replace':
        this.#takeText(event, batch)
        bytes = Buffer.byteLength(event.text)
        break
      case 'tool_calls':
        this.#answered()
        bytes = jsonBytes(event.delta)
        break
    }
    if (this.#isWithinBound(bytes)) batch.push(event)
  }

  #answered(): void {
    this.firstTextAtMs ??= this.#deps.runtime.elapsedMs()
    this.hasContent = true
  }

  /** Most texts have no URL, and are not looked at any further. */
  #takeText({ type, text }: Extract<ChatEvent, { type: 'text' | 'replace' }>, batch: ChatEvent[]): void {
    this.#answered()
    if (this.files === undefined && !text.includes('/')) {
      this.#tail = (this.#tail + text).slice(-SCHEME_CHARACTERS)
      return
    }
    this.files ??= new FilesOfReply(this.#agent, this.#tail)
    // A line that shows a file ends before the text goes on.
    const separator = type === 'text' ? this.files.breakBefore(text) : ''
    if (separator !== '') batch.push({ type: 'text', text: separator })
    this.files.saw(text)
  }

  /** Keeps a pause. Returns whether it is passed on, as the first one is. */
  #takePause(pause: Pause): boolean {
    this.#answered()
    const json = toJson(pause)
    this.#pauseBytes += json === undefined ? Number.POSITIVE_INFINITY : Buffer.byteLength(json)
    const exceeded = exceededPauseBound(pause, this.#pauseBytes)
    if (exceeded !== undefined) {
      this.#tooLarge(`The agent asks a question of more than ${exceeded}.`)
      return false
    }
    this.pauses ??= []
    this.pauses.push(pause)
    return this.pauses.length === 1
  }

  /** A file is shown as text at once, unless the gateway is to keep it first. */
  #takeFile(made: MadeFile, batch: ChatEvent[]): void {
    this.#answered()
    this.files ??= new FilesOfReply(this.#agent, this.#tail)
    const offered = this.files.take(made)
    if (offered === undefined) return
    if (this.#isWithinBound(Buffer.byteLength(made.url ?? '')))
      batch.push({ type: 'file', file: made, offered })
    const text = this.#agent.keepFiles ? '' : this.files.textOf(made, offered)
    if (text !== '' && this.#isWithinBound(Buffer.byteLength(text))) batch.push({ type: 'text', text })
  }

  /**
   * Counts the text of an event. Returns false, and fails the reply, if the event exceeds the bound. Progress details are not counted,
   * because they are passed on or dropped, never collected; pauses have bounds of their own.
   */
  #isWithinBound(bytes: number): boolean {
    const { streamBytesMax } = this.#deps
    this.#carriedBytes += bytes
    if (this.#carriedBytes <= streamBytesMax) return true
    this.#tooLarge(`The reply carries more than ${streamBytesMax} bytes of text.`)
    return false
  }

  #tooLarge(message: string): void {
    this.failure = { reason: 'agent_malformed', message, isTooLarge: true }
  }
}

/** A piece of the answer, or of what led to it, after which the answer has not ended yet. */
const ANSWERS: ReadonlySet<ChatEvent['type']> = new Set([
  'text',
  'reasoning',
  'tool_calls',
  'replace',
  'pause',
  'file',
])

/** Whether an event of a usual kind has no half of a character. */
function isWhole(event: ChatEvent): boolean {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return event.text.isWellFormed()
    case 'model':
      return event.model.isWellFormed()
    default:
      return event.type === 'usage'
  }
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
