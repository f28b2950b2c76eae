import type { Agent, EmptyReply } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure, FinishReason, TokenCounts } from '#core/agents/events.ts'
import type { MadeFile } from '#core/agents/made-file.ts'
import type { Pause } from '#core/agents/pause.ts'
import { ReplyEnds } from '#core/agents/translate/replies/reply-ends.ts'
import { ThinkTags } from '#core/agents/translate/replies/think-tags.ts'
import { WellFormedText } from '#core/agents/translate/replies/well-formed-text.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { toJson } from '#core/base/values/json.ts'
import { FilesOfReply } from './files/files-of-reply.ts'
import { exceededPauseBound } from './pauses/pause-bounds.ts'

export interface ReplyContentDeps {
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** A reply with more text than this fails with `agent_malformed`, which bounds models that never stop. */
  readonly streamBytesMax: number
}

const NO_PAUSES: readonly Pause[] = []

/** What is known of the events of one reply, and whether they are a whole one. */
export class ReplyContent {
  /** A failure that was found in the reply; it is raised after the events that came before it. */
  failure: Failure | undefined
  readonly #deps: ReplyContentDeps
  readonly #ends = new ReplyEnds()
  readonly #texts = new WellFormedText()
  readonly #files: FilesOfReply
  /** Whether the gateway keeps them, so that they are shown at the end. */
  readonly #keepsFiles: boolean
  /** Undefined where tags are text. */
  readonly #tags: ThinkTags | undefined
  #unknownFinishWord: string | undefined
  #isComplete = false
  #hasContent = false
  #hasReasoning = false
  #carriedBytes = 0
  #usage: TokenCounts | undefined
  #model: string | undefined
  #firstTextAtMs: number | undefined
  #pauses: Pause[] | undefined
  #pauseBytes = 0

  constructor(
    deps: ReplyContentDeps,
    agent: Pick<Agent, 'thinkTags' | 'baseUrl' | 'filesUrl' | 'keepFiles'>,
  ) {
    this.#deps = deps
    // What stands between tags at the beginning of the text is reasoning then.
    this.#tags = agent.thinkTags ? new ThinkTags() : undefined
    this.#keepsFiles = agent.keepFiles
    this.#files = new FilesOfReply(agent)
  }

  /** Whether the platform has reported an end, and nothing of the answer after it. */
  get hasEnd(): boolean {
    return this.#ends.stands
  }

  /** Whether a part of the answer has come. */
  get hasContent(): boolean {
    return this.#hasContent
  }

  /** How often the answer went on after a reported end. */
  get withdrawnEnds(): number {
    return this.#ends.withdrawn
  }

  /** Provisional until the reply is complete. */
  get finishReason(): FinishReason | undefined {
    return this.#ends.reason
  }

  /** The first word of the platform for an end that the gateway does not know. */
  get unknownFinishWord(): string | undefined {
    return this.#unknownFinishWord
  }

  /** Whether the whole reply has been read; its last event is `end`. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  get usage(): TokenCounts | undefined {
    return this.#usage
  }

  get model(): string | undefined {
    return this.#model
  }

  /** Where the run waits, in the order in which it was reported. Several branches of a run may wait at once. */
  get pauses(): readonly Pause[] {
    return this.#pauses ?? NO_PAUSES
  }

  get files(): FilesOfReply {
    return this.#files
  }

  /** When the first part of the answer came, on the clock of `elapsedMs`. */
  get firstTextAtMs(): number | undefined {
    return this.#firstTextAtMs
  }

  /** Keeps what settling the call needs and adds to the batch what the reader needs, up to the first failure. */
  sift(events: readonly ChatEvent[], batch: ChatEvent[]): void {
    for (const event of events) {
      if (this.failure !== undefined) return
      if (event.type === 'error') this.failure = event.failure
      else if (event.type === 'end') {
        this.#ends.report(event.reason)
        this.#unknownFinishWord ??= event.unknownWord
      } else {
        if (isAnswer(event)) this.#ends.goesOn(event.type === 'tool_calls')
        for (const whole of this.#texts.take(event)) this.#tagged(whole, batch)
      }
    }
  }

  /**
   * Decides what the end of the response means: a complete reply, a truncated one or an empty one.
   *
   * @param mayBeEmpty - whether a reply without any text is one
   */
  close(batch: ChatEvent[], mayBeEmpty: (reply: EmptyReply) => boolean): void {
    if (this.failure !== undefined) return
    const { reason } = this.#ends
    if (reason === undefined) {
      this.failure = { reason: 'agent_truncated' }
      return
    }
    for (const held of this.#texts.end()) this.#tagged(held, batch)
    for (const held of this.#tags?.end() ?? []) this.#keep(held, batch)
    if (this.failure !== undefined) return
    const reply = { reason, hasReasoning: this.#hasReasoning, usage: this.#usage }
    if (!this.#hasContent && !mayBeEmpty(reply)) {
      this.failure = { reason: 'agent_empty_reply' }
    } else {
      batch.push({ type: 'end', reason })
      this.#isComplete = true
    }
  }

  #tagged(event: ChatEvent, batch: ChatEvent[]): void {
    if (this.#tags === undefined) this.#keep(event, batch)
    else for (const part of this.#tags.take(event)) this.#keep(part, batch)
  }

  /** Notes what the event is, and passes it on if it is within the bound. */
  #keep(event: ChatEvent, batch: ChatEvent[]): void {
    if (this.failure !== undefined) return
    switch (event.type) {
      case 'usage':
        this.#usage = event.usage
        break
      case 'model':
        this.#model = event.model
        break
      case 'reasoning':
        this.#hasReasoning = true
        break
      case 'file':
        this.#takeFile(event.file, batch)
        return
      case 'pause':
        if (!this.#takePause(event.pause)) return
        break
      case 'text':
        this.#separate(event.text, batch)
        this.#files.saw(event.text)
        this.#firstTextAtMs ??= this.#deps.runtime.elapsedMs()
        this.#hasContent = true
        break
      case 'replace':
        this.#files.saw(event.text)
        this.#firstTextAtMs ??= this.#deps.runtime.elapsedMs()
        this.#hasContent = true
        break
      case 'tool_calls':
        this.#firstTextAtMs ??= this.#deps.runtime.elapsedMs()
        this.#hasContent = true
        break
    }
    if (this.#isWithinBound(event)) batch.push(event)
  }

  /** Keeps a pause. Returns whether it is passed on, as the first one is. */
  #takePause(pause: Pause): boolean {
    this.#firstTextAtMs ??= this.#deps.runtime.elapsedMs()
    this.#hasContent = true
    const json = toJson(pause)
    this.#pauseBytes += json === undefined ? Number.POSITIVE_INFINITY : Buffer.byteLength(json)
    const exceeded = exceededPauseBound(pause, this.#pauseBytes)
    if (exceeded !== undefined) {
      this.#tooLarge(`The agent asks a question of more than ${exceeded}.`)
      return false
    }
    this.#pauses ??= []
    this.#pauses.push(pause)
    return this.#pauses.length === 1
  }

  /** A line that shows a file ends before the text goes on. */
  #separate(next: string, batch: ChatEvent[]): void {
    const text = this.#files.breakBefore(next)
    if (text !== '') batch.push({ type: 'text', text })
  }

  /** A file is shown as text at once, unless the gateway is to keep it first. */
  #takeFile(made: MadeFile, batch: ChatEvent[]): void {
    this.#firstTextAtMs ??= this.#deps.runtime.elapsedMs()
    this.#hasContent = true
    const offered = this.#files.take(made)
    if (offered === undefined) return
    const event = { type: 'file', file: made, offered } as const
    if (this.#isWithinBound(event)) batch.push(event)
    const text = this.#keepsFiles ? '' : this.#files.textOf(made, offered)
    if (text !== '' && this.#isWithinBound({ type: 'text', text })) batch.push({ type: 'text', text })
  }

  /** Counts the text of an event. Returns false, and fails the reply, if the event exceeds the bound. */
  #isWithinBound(event: ChatEvent): boolean {
    const { streamBytesMax } = this.#deps
    this.#carriedBytes += textBytes(event)
    if (this.#carriedBytes <= streamBytesMax) return true
    this.#tooLarge(`The reply carries more than ${streamBytesMax} bytes of text.`)
    return false
  }

  #tooLarge(message: string): void {
    this.failure = { reason: 'agent_malformed', message, isTooLarge: true }
  }
}

/** Whether an event is a piece of the answer, or of what led to it, after which the answer has not ended yet. */
function isAnswer({ type }: ChatEvent): boolean {
  return (
    type === 'text' ||
    type === 'reasoning' ||
    type === 'tool_calls' ||
    type === 'replace' ||
    type === 'pause' ||
    type === 'file'
  )
}

/**
 * The bytes of text in an event. Progress details are not counted, because they are passed on or dropped, never collected; pauses have
 * bounds of their own.
 */
function textBytes(event: ChatEvent): number {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'replace':
      return Buffer.byteLength(event.text)
    case 'file':
      return Buffer.byteLength(event.file.url ?? '')
    case 'tool_calls':
      return Buffer.byteLength(JSON.stringify(event.delta))
    case 'logprobs':
      return Buffer.byteLength(JSON.stringify(event.logprobs))
    case 'citations':
      return Buffer.byteLength(JSON.stringify([event.top, event.annotations]))
    default:
      return 0
  }
}
