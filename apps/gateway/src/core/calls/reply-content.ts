import type { ChatEvent, Failure, FinishReason, TokenCounts } from '#core/agents/events.ts'
import type { Runtime } from '#core/runtime.ts'

export interface ReplyContentDeps {
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** A reply with more text than this fails with `agent_malformed`, which bounds models that never stop. */
  readonly streamBytesMax: number
}

/** What is known of the events of one reply, and whether they are a whole one. */
export class ReplyContent {
  /** A failure that was found in the reply; it is raised after the events that came before it. */
  failure: Failure | undefined
  readonly #deps: ReplyContentDeps
  /** The finish reason that the platform reported, provisional until the end of its response. */
  #end: FinishReason | undefined
  #isComplete = false
  #hasContent = false
  #carriedBytes = 0
  #usage: TokenCounts | undefined
  #model: string | undefined
  #firstTextAtMs: number | undefined

  constructor(deps: ReplyContentDeps) {
    this.#deps = deps
  }

  /** Whether the platform has reported an end. */
  get hasEnd(): boolean {
    return this.#end !== undefined
  }

  /** Provisional until the reply is complete. */
  get finishReason(): FinishReason | undefined {
    return this.#end
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

  /** When the first part of the answer came, on the clock of `elapsedMs`. */
  get firstTextAtMs(): number | undefined {
    return this.#firstTextAtMs
  }

  /** Keeps what settling the call needs and adds to the batch what the reader needs, up to the first failure. */
  sift(events: readonly ChatEvent[], batch: ChatEvent[]): void {
    for (const event of events) {
      if (this.failure !== undefined) return
      switch (event.type) {
        case 'error':
          this.failure = event.failure
          return
        case 'end':
          // A more specific reason such as `length` is kept, because some platforms send `stop` after it.
          if (this.#end === undefined || this.#end === 'stop') this.#end = event.reason
          continue
        case 'usage':
          this.#usage = event.usage
          break
        case 'model':
          this.#model = event.model
          break
        case 'text':
        case 'replace':
        case 'interaction':
        case 'tool_calls':
          this.#firstTextAtMs ??= this.#deps.runtime.elapsedMs()
          this.#hasContent = true
          break
      }
      if (!this.#isWithinBound(event)) return
      batch.push(event)
    }
  }

  /**
   * Decides what the end of the response means: a complete reply, a truncated one or an empty one.
   *
   * @param mayBeEmpty - whether a reply without any text is one
   */
  close(batch: ChatEvent[], mayBeEmpty: boolean): void {
    if (this.failure !== undefined) return
    if (this.#end === undefined) {
      this.failure = { reason: 'agent_truncated' }
    } else if (!this.#hasContent && !mayBeEmpty) {
      this.failure = { reason: 'agent_empty_reply' }
    } else {
      batch.push({ type: 'end', reason: this.#end })
      this.#isComplete = true
    }
  }

  /** Counts the text of an event. Returns false, and fails the reply, if the event exceeds the bound. */
  #isWithinBound(event: ChatEvent): boolean {
    const { streamBytesMax } = this.#deps
    this.#carriedBytes += textBytes(event)
    if (this.#carriedBytes <= streamBytesMax) return true
    const message = `The reply carries more than ${streamBytesMax} bytes of text.`
    this.failure = { reason: 'agent_malformed', message, isTooLarge: true }
    return false
  }
}

/** The bytes of text in an event. Progress details are not counted, because they are passed on or dropped, never collected. */
function textBytes(event: ChatEvent): number {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'replace':
      return Buffer.byteLength(event.text)
    case 'interaction':
      return Buffer.byteLength(event.question + event.options.join(''))
    case 'tool_calls':
      return Buffer.byteLength(JSON.stringify(event.delta))
    default:
      return 0
  }
}
