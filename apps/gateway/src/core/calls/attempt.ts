import type { Agent, AgentCall, ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure, FinishReason, TokenCounts } from '#core/agents/events.ts'
import { isPlatformId } from '#core/agents/translate/platform-id.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import type { Runtime } from '#core/runtime.ts'
import type { TurnState } from './call-events.ts'
import type { AdmittedChat, CallEnding, Entered } from './conversation/enter-conversation.ts'
import { type ReplyDeadlines, startReplyDeadlines } from './reply-deadlines.ts'

export interface AttemptDeps {
  readonly upstream: Upstream
  readonly runtime: Runtime
  /** A reply with more text than this fails with `agent_malformed`, which bounds models that never stop. */
  readonly streamBytesMax: number
  /** Enters the conversation of a call; the request is sent once this has resolved. */
  readonly enter: (chat: AdmittedChat, ending: CallEnding) => Entered | Promise<Entered>
}

/** What an attempt begins with: a chat whose conversation it enters, or the conversation that the attempt before it had entered. */
type Beginning =
  | { readonly kind: 'enter'; readonly chat: AdmittedChat }
  | {
      readonly kind: 'bring files anew'
      readonly entered: Entered
      readonly ended: AbortController | undefined
    }

/** The exchange with the platform, once the request has been sent. */
interface Exchange {
  readonly upstreamReply: UpstreamReply
  readonly state: ReplyState
  readonly deadlines: ReplyDeadlines
  /** The call without its texts, for the stop request. */
  readonly call: AgentCall
}

/** How long to wait for the id that a stop call needs if the call ends before the platform has sent it. */
const STOP_WITHIN_MS = 5_000

/**
 * One request of a call at its platform. It enters the conversation, sends the request, translates what comes back, and ends
 * knowing the state of the turn. It alone holds the call's texts, and drops them when no other attempt can need them.
 */
export class Attempt implements CallEnding {
  /** The first attempt of a call is number 1. */
  readonly number: number
  readonly #deps: AttemptDeps
  readonly #agent: Agent
  #beginning: Beginning | undefined
  #entered: Entered | undefined
  #exchange: Exchange | undefined
  #isOver = false
  #ended: AbortController | undefined

  /** A failure that was found in the reply; it is raised after the events that came before it. */
  #failure: Failure | undefined
  /** The finish reason that the platform reported, provisional until the end of its response. */
  #end: FinishReason | undefined
  #isComplete = false
  #hasContent = false
  #carriedBytes = 0
  #usage: TokenCounts | undefined
  #model: string | undefined
  #firstTextAtMs: number | undefined

  constructor(deps: AttemptDeps, agent: Agent, beginning: Beginning, number = 1) {
    this.#deps = deps
    this.#agent = agent
    this.#beginning = beginning
    if (beginning.kind === 'bring files anew') this.#ended = beginning.ended
    this.number = number
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get signal(): AbortSignal {
    this.#ended ??= new AbortController()
    if (this.#isOver) this.#ended.abort()
    return this.#ended.signal
  }

  get failure(): Failure | undefined {
    return this.#failure
  }

  /** Whether the whole reply has been translated; its last event is `end`. */
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

  /** The HTTP status of the platform's response. */
  get platformStatus(): number | undefined {
    return this.#exchange?.upstreamReply.status
  }

  get wasSent(): boolean {
    return this.#exchange !== undefined
  }

  get turnState(): TurnState {
    if (!this.wasSent) return 'none'
    if (this.#isComplete) return 'stored'
    const isFileRefusal =
      this.#failure !== undefined && this.#agent.adapter.isFileRefusal?.(this.#failure) === true
    return isFileRefusal ? 'none' : 'unknown'
  }

  /**
   * Prepares the request. Undefined if there is nothing to wait for. If the call has ended when a conversation is entered at
   * last, it is left at once.
   *
   * @throws OpeningFailed if the platform fails to create a conversation or refuses a file
   * @throws Problem
   */
  prepare(): Promise<void> | undefined {
    const beginning = this.#beginning
    if (beginning === undefined) throw new Error('an attempt is made once')
    this.#beginning = undefined
    if (beginning.kind === 'bring files anew') return this.#bringAnew(beginning.entered)
    const entering = markRejectionHandled(this.#deps.enter(beginning.chat, this))
    if (!(entering instanceof Promise)) {
      this.#entered = entering
      return undefined
    }
    return entering.then((entered) => {
      this.#entered = entered
      if (this.#isOver) this.#endTurn(undefined).catch(ignored)
    })
  }

  /** Sends the request, after {@link Attempt.prepare}. */
  send(): void {
    const { upstream, runtime } = this.#deps
    const agent = this.#agent
    const entered = this.#requireEntered()
    const { agentCall, knownFiles } = entered
    const upstreamReply = upstream.open(agent, agent.adapter.buildRequest(agentCall))
    const deadlines = startReplyDeadlines(agent.timeouts, runtime, (event) => {
      if (event === 'grace') upstreamReply.finish()
      else upstreamReply.cancel(new UpstreamError('agent_timeout'))
    })
    const state = agent.adapter.start(agentCall)
    const call = withoutTexts(agentCall)
    this.#exchange = { upstreamReply, state, deadlines, call }
    if (knownFiles === undefined) this.#entered = { ...entered, agentCall: call }
  }

  /** The next part of the platform's response; rejects with an {@link UpstreamError} if there is none. */
  next(): Promise<UpstreamPart> {
    return this.#requireExchange().upstreamReply.next()
  }

  /** The events of a part, up to the first failure. After the last part it is known whether the reply is complete. */
  translate(part: UpstreamPart): readonly ChatEvent[] {
    const { state, deadlines } = this.#requireExchange()
    const { adapter, endGraceMs } = this.#agent
    deadlines.firstByte()
    const batch: ChatEvent[] = []
    if (part.kind === 'events') {
      for (const event of part.events) {
        const translated = adapter.translate(event, state)
        if (translated.length > 0) deadlines.activity()
        this.#sift(translated, batch)
        if (this.#failure !== undefined) break
      }
      this.#learn(state)
      if (this.#end !== undefined) deadlines.startGrace(endGraceMs)
    } else {
      if (part.kind === 'body') {
        if (part.status >= 400) this.#failure = adapter.toFailure(part.status, part.body, part.header)
        else this.#sift(adapter.translateBody(part.body, state), batch)
      }
      this.#sift(adapter.finish(state), batch)
      this.#learn(state)
      this.#close(batch)
    }
    if (batch.length > 0) this.#passOn(batch)
    return batch
  }

  /**
   * Keeps the failure with which {@link Attempt.next} has rejected, and returns no events.
   *
   * @throws the error itself if the platform is not its cause
   */
  brokeOff(error: unknown): readonly ChatEvent[] {
    if (!(error instanceof UpstreamError)) throw error
    this.#failure ??= error.failure
    return []
  }

  /**
   * The attempt that may succeed after the failure of this one, of which the reader has seen nothing: the platform no longer
   * knows a file that an earlier call brought there, so the files are brought anew. There is one such attempt at most.
   */
  another(): Attempt | undefined {
    const entered = this.#entered
    if (this.#failure === undefined || entered?.knownFiles?.mayBeForgotten(this.#failure) !== true)
      return undefined
    // The conversation stays entered, for the next attempt, which also ends the work for the files.
    this.#isOver = true
    this.#exchange?.deadlines.stop()
    this.#exchange?.upstreamReply.cancel(new UpstreamError('agent_truncated'))
    this.#entered = undefined
    const beginning = { kind: 'bring files anew', entered, ended: this.#ended } as const
    return new Attempt(this.#deps, this.#agent, beginning, this.number + 1)
  }

  /** The time that the reader takes does not count as the platform's idle time. */
  pauseIdle(): void {
    this.#exchange?.deadlines.pauseIdle()
  }

  resumeIdle(): void {
    this.#exchange?.deadlines.resumeIdle()
  }

  /** Stores the turn of a complete reply. Undefined if there is nothing to wait for. */
  complete(): Promise<void> | undefined {
    this.#requireExchange().upstreamReply.finish()
    const { turn, memory } = this.#requireEntered()
    memory?.release()
    return turn.complete()
  }

  /** Rejects the pending {@link Attempt.next}, while {@link Attempt.stop} still reads what the platform sends. */
  interrupt(cause: Error): void {
    this.#exchange?.upstreamReply.interrupt(cause)
  }

  /** Closes the connection to the platform. */
  cancel(cause: Error): void {
    this.#exchange?.upstreamReply.cancel(cause)
  }

  /**
   * Ends the attempt, after which nothing more is sent to the reader. Resolves when its turn has ended in its conversation;
   * undefined for a turn that {@link Attempt.complete} has stored, or that has not begun.
   *
   * @param failure - undefined for a call that was ended by its client or by the gateway
   */
  finish(isDone: boolean, failure: Failure | undefined): Promise<void> | undefined {
    this.#isOver = true
    this.#beginning = undefined
    this.#ended?.abort()
    this.#exchange?.deadlines.stop()
    return isDone || this.#entered === undefined ? undefined : this.#endTurn(failure).catch(ignored)
  }

  /**
   * Stops the run at the platform, if it can be stopped, and closes the connection. Resolves when the platform has been told.
   *
   * @param inTurn - decides when the request is sent; the connection is closed at once
   */
  async stop(inTurn: <Result>(send: () => Promise<Result>) => Promise<Result>): Promise<void> {
    if (this.#exchange === undefined) return
    const { upstreamReply, state, call } = this.#exchange
    const { adapter } = this.#agent
    const gone = new UpstreamError('agent_truncated')
    const timer = setTimeout(() => upstreamReply.cancel(gone), STOP_WITHIN_MS)
    let stopping: Promise<unknown> | undefined
    try {
      while (adapter.stop !== undefined) {
        const stop = adapter.stop(call, state)
        if (stop !== undefined) {
          stopping = markRejectionHandled(
            inTurn(() => this.#deps.upstream.help(this.#agent, stop, STOP_WITHIN_MS)),
          )
          break
        }
        const part = await upstreamReply.next()
        if (part.kind !== 'events') break
        for (const event of part.events) adapter.translate(event, state)
      }
    } catch {
      // The reply has ended by itself, so there is nothing to stop.
    } finally {
      clearTimeout(timer)
      upstreamReply.cancel(gone)
    }
    await stopping?.catch(() => undefined)
  }

  async #bringAnew({ knownFiles, ...entered }: Entered): Promise<void> {
    // Kept first, so that the conversation is left if the files cannot be brought.
    this.#entered = entered
    const { agentCall } = entered
    const files = (await knownFiles?.bringAnew())?.files ?? []
    this.#entered = { ...entered, agentCall: { ...agentCall, files } }
  }

  #endTurn(failure: Failure | undefined): Promise<void> {
    const { turn, memory } = this.#requireEntered()
    memory?.release()
    return turn.failed(failure)
  }

  #passOn(batch: readonly ChatEvent[]): void {
    const entered = this.#requireEntered()
    // What the reader has seen part of is not sent again.
    if (entered.knownFiles !== undefined) {
      const { knownFiles: _dropped, ...rest } = entered
      this.#entered = { ...rest, agentCall: this.#requireExchange().call }
    }
    entered.turn.saw(batch)
  }

  /** Checks the ids that the platform sent, before they are stored or sent anywhere. */
  #learn({ platformConversationId, runId, messageId }: ReplyState): void {
    const isPlain = [platformConversationId, runId, messageId].every(
      (id) => id === undefined || isPlatformId(id),
    )
    if (!isPlain) this.#failure ??= { reason: 'agent_malformed' }
    else if (platformConversationId !== undefined) this.#requireEntered().turn.named(platformConversationId)
  }

  /** Stores what settling the call needs and passes on what the reader needs, up to the first failure. */
  #sift(events: readonly ChatEvent[], batch: ChatEvent[]): void {
    for (const event of events) {
      if (this.#failure !== undefined) return
      switch (event.type) {
        case 'error':
          this.#failure = event.failure
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

  /** Counts the text of an event. Returns false, and fails the reply, if the event exceeds the bound. */
  #isWithinBound(event: ChatEvent): boolean {
    const { streamBytesMax } = this.#deps
    this.#carriedBytes += textBytes(event)
    if (this.#carriedBytes <= streamBytesMax) return true
    const message = `The reply carries more than ${streamBytesMax} bytes of text.`
    this.#failure = { reason: 'agent_malformed', message }
    return false
  }

  /** Decides what the end of the response means: a complete reply, a truncated one or an empty one. */
  #close(batch: ChatEvent[]): void {
    if (this.#failure !== undefined) return
    if (this.#end === undefined) {
      this.#failure = { reason: 'agent_truncated' }
    } else if (!this.#hasContent && this.#agent.adapter.emptyReplyIsError) {
      this.#failure = { reason: 'agent_empty_reply' }
    } else {
      batch.push({ type: 'end', reason: this.#end })
      this.#isComplete = true
    }
  }

  #requireEntered(): Entered {
    if (this.#entered === undefined) throw new Error('the conversation has not been entered')
    return this.#entered
  }

  #requireExchange(): Exchange {
    if (this.#exchange === undefined) throw new Error('the request has not been sent')
    return this.#exchange
  }
}

/** For failures that change nothing for this call, such as that of releasing a lease, which expires by itself. */
function ignored(): void {}

/** What a stop request may need of a call. The texts of a long conversation would otherwise stay in memory during the reply. */
function withoutTexts(call: AgentCall): AgentCall {
  return { ...call, query: '', messages: undefined, files: [], variables: {}, parameters: {} }
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
