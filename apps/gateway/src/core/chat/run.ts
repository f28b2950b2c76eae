import type { Adapter, Agent, AgentCall, ReplyState } from '#core/agents/adapter.ts'
import type {
  ChatEvent,
  ChatEvents,
  Failure,
  FinishReason,
  TakeEvents,
  TokenCounts,
} from '#core/agents/events.ts'
import { isPlatformId } from '#core/agents/translate/platform-id.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import { handled } from '#core/async/handled.ts'
import { ERRORS, type ErrorReason, Problem } from '#core/errors.ts'
import type { CallOutcome } from '#core/ledger/ledger.ts'
import { problemOf } from '#core/problem-of.ts'
import type { Runtime } from '#core/runtime.ts'
import type { CallEnding, ConversationTurn } from './conversation-turn.ts'
import { OpeningFailed } from './opening-failed.ts'
import { type ReplyDeadlines, startReplyDeadlines } from './reply-deadlines.ts'

/** How a reply ended; reported exactly once. */
export interface RunEnd {
  readonly outcome: CallOutcome
  readonly failure: Failure | undefined
  /** An unexpected error inside the gateway, for the log. */
  readonly cause: unknown
  readonly usage: TokenCounts | undefined
  readonly model: string | undefined
  readonly firstChunkMs: number | undefined
  readonly durationMs: number
}

/** How a call ends that its platform has not ended: `rejected` if its key is no longer valid. */
export type CancelOutcome = Extract<CallOutcome, 'client_gone' | 'drained' | 'rejected'>

/** Decides when a stop request is sent. */
export type StopTurn = <Result>(stop: () => Promise<Result>) => Promise<Result>

const AT_ONCE: StopTurn = (stop) => stop()

export interface RunOptions {
  readonly agent: Agent
  readonly adapter: Adapter
  readonly upstream: Upstream
  readonly runtime: Runtime
  /** A reply with more text than this fails with `agent_malformed`, which bounds models that never stop. */
  readonly streamBytesMax: number
  /** Enters the conversation; the request is sent to the platform once this has resolved. */
  open(ending: CallEnding): ConversationTurn | Promise<ConversationTurn>
  onEnd(end: RunEnd): void
  /** Called when the reader leaves before the end; must call {@link Run.cancel}. */
  onLeave(run: Run): void
}

/** The state of a run whose request has been sent to the platform. */
interface ReplyInProgress {
  readonly turn: ConversationTurn
  readonly state: ReplyState
  readonly reply: UpstreamReply
  readonly deadlines: ReplyDeadlines
}

/** How long to wait for the id that a stop call needs if the client leaves before the platform has sent it. */
const STOP_WITHIN_MS = 5_000

/** A second read would send the request to the platform again, and both would be settled as one call. */
const READ_TWICE = 'A reply can be read only once.'

/**
 * One reply, read in batches of events, each of which holds what one read of the platform's socket returned. A complete
 * reply ends with exactly one `end` event; a failed one rejects {@link Run.read} with a {@link Problem}.
 */
export class Run implements ChatEvents {
  readonly #options: Omit<RunOptions, 'open'>
  readonly #startedMs: number
  #inProgress: ReplyInProgress | undefined

  /** Cleared when reading begins, because it holds the whole call in memory. */
  #openTurn: RunOptions['open'] | undefined
  #isOver = false
  #onOver: (() => void) | undefined
  /** Ends the reader's wait for other work than the platform's reply: that its conversation is entered or stored. */
  #interruptWork: ((problem: Problem) => void) | undefined
  /** Resolves when the turn of a failed call has been ended in its conversation. */
  #released: Promise<void> | undefined
  /** The error with which reading rejects. */
  #problem: Problem | undefined
  /** A failure that was found in the reply; it is raised after the events that came before it. */
  #failure: Failure | undefined
  /** The finish reason that the platform reported, provisional until the end of its response. */
  #end: FinishReason | undefined
  #isComplete = false
  /** Whether the reader has seen any event. */
  #hasPassedOn = false
  #hasContent = false
  #carriedBytes = 0
  #usage: TokenCounts | undefined
  #model: string | undefined
  #firstChunkMs: number | undefined

  constructor({ open, ...options }: RunOptions) {
    this.#options = options
    this.#openTurn = open
    this.#startedMs = options.runtime.elapsedMs()
  }

  async read(take: TakeEvents): Promise<void> {
    if (this.#openTurn === undefined) throw new Error(READ_TWICE)
    try {
      let inProgress = await this.#open()
      while (!this.#isOver) {
        const part = await inProgress.reply.next()
        inProgress.deadlines.firstByte()
        const batch = this.#translate(inProgress, part)
        const renewal = handled(batch.length === 0 ? this.#renewal(inProgress.turn) : undefined)
        if (renewal !== undefined) {
          inProgress = await this.#renew(inProgress, renewal)
          continue
        }
        if (batch.length > 0) inProgress.turn.saw(batch)
        if (this.#isComplete) await this.#complete(inProgress)
        // Of a call that was cancelled while its turn was stored, since the end event means success.
        if (this.#isComplete && this.#problem !== undefined) break
        this.#hasPassedOn ||= batch.length > 0
        const taking = handled(batch.length > 0 ? take(batch) : undefined)
        if (taking !== undefined) await this.#served(taking, inProgress.deadlines)
        if (this.#failure !== undefined) this.#fail(this.#withStatus(this.#failure))
      }
    } catch (error) {
      this.#problem = this.#problemOf(error)
    }
    if (this.#problem === undefined) return
    // A client that receives `conversation_not_found` must not find the lost conversation again when it retries.
    await this.#released
    throw this.#problem
  }

  leave(): void {
    this.#options.onLeave(this)
  }

  /**
   * Ends the run early. The reader's side ends at once; resolves when the platform has been stopped as far as possible.
   *
   * @param reason - what the reader and the ledger are given; only the reader if the client has left
   * @param stopTurn - when the platform's stop request is sent; the connection is closed at once
   */
  async cancel(
    outcome: CancelOutcome,
    reason: ErrorReason = 'draining',
    stopTurn: StopTurn = AT_ONCE,
  ): Promise<void> {
    if (this.#isOver) return
    this.#problem = new Problem(reason)
    this.#conclude(outcome, outcome === 'client_gone' ? {} : { failure: { reason } })
    // The reader of a rejected call does not wait until its conversation is free, since its key can use it no more.
    if (outcome === 'rejected') this.#released = undefined
    this.#interruptWork?.(this.#problem)
    if (this.#inProgress === undefined) return
    this.#inProgress.reply.interrupt(this.#problem)
    await this.#stopAtPlatform(this.#inProgress, stopTurn)
  }

  async #open(): Promise<ReplyInProgress> {
    const entering = handled(this.#enter())
    if (entering instanceof Promise) entering.then((late) => this.#leaveIfOver(late), ignored)
    const turn = entering instanceof Promise ? await this.#unlessCancelled(entering) : entering
    this.#requireReader()
    return this.#send(turn)
  }

  #leaveIfOver(turn: ConversationTurn): void {
    if (this.#isOver) turn.failed(undefined).catch(ignored)
  }

  /** Rejects when the call is cancelled, because such work may go on for minutes. */
  #unlessCancelled<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#interruptWork = reject
      work.then(resolve, reject)
    })
  }

  #send(turn: ConversationTurn): ReplyInProgress {
    const { agent, adapter, upstream, runtime } = this.#options
    const { call } = turn
    const reply = upstream.open(agent, adapter.buildRequest(call))
    const deadlines = startReplyDeadlines(agent.timeouts, runtime, (event) => {
      if (event === 'grace') reply.finish()
      else reply.cancel(new UpstreamError('agent_timeout'))
    })
    turn.call = withoutTexts(call)
    this.#inProgress = { turn, state: adapter.start(call), reply, deadlines }
    return this.#inProgress
  }

  /** Separate from `read`, whose local variables would keep the whole call in memory as long as the reply takes. */
  #enter(): ConversationTurn | Promise<ConversationTurn> {
    const openTurn = this.#openTurn
    if (openTurn === undefined) throw new Error(READ_TWICE)
    this.#openTurn = undefined
    this.#requireReader()
    return openTurn({
      isOver: () => this.#isOver,
      onOver: (listener) => {
        this.#onOver = listener
      },
    })
  }

  /** The new request of the turn, if the failure can be cured by one and the reader has seen nothing of the reply yet. */
  #renewal(turn: ConversationTurn): Promise<AgentCall> | undefined {
    if (this.#failure === undefined || this.#hasPassedOn) return undefined
    const renewal = handled(turn.renewed?.(this.#failure))
    delete turn.renewed
    return renewal
  }

  async #renew({ turn, reply, deadlines }: ReplyInProgress, renewal: Promise<AgentCall>) {
    deadlines.stop()
    reply.cancel(new UpstreamError('agent_truncated'))
    this.#failure = undefined
    this.#end = undefined
    turn.call = await this.#unlessCancelled(renewal)
    this.#requireReader()
    return this.#send(turn)
  }

  /** Waits for the reader; the time that it takes does not count as the platform's idle time. */
  async #served(taking: Promise<void>, deadlines: ReplyDeadlines): Promise<void> {
    deadlines.pauseIdle()
    await taking
    deadlines.resumeIdle()
  }

  #requireReader(): void {
    if (this.#isOver) throw this.#problem ?? new Problem('draining')
  }

  #translate({ turn, state, deadlines }: ReplyInProgress, part: UpstreamPart): readonly ChatEvent[] {
    const { adapter, agent } = this.#options
    const batch: ChatEvent[] = []
    if (part.kind === 'events') {
      for (const event of part.events) {
        const translated = adapter.translate(event, state)
        if (translated.length > 0) deadlines.activity()
        this.#sift(translated, batch)
        if (this.#failure !== undefined) break
      }
      this.#learn(turn, state)
      if (this.#end !== undefined) deadlines.startGrace(agent.endGraceMs)
      return batch
    }
    if (part.kind === 'body') {
      if (part.status >= 400) this.#failure = adapter.toFailure(part.status, part.body, part.header)
      else this.#sift(adapter.translateBody(part.body, state), batch)
    }
    this.#sift(adapter.finish(state), batch)
    this.#learn(turn, state)
    this.#close(batch)
    return batch
  }

  /** Checks the ids that the platform sent, before they are stored or sent anywhere. */
  #learn(turn: ConversationTurn, { platformConversationId, runId, messageId }: ReplyState): void {
    const isPlain = [platformConversationId, runId, messageId].every(
      (id) => id === undefined || isPlatformId(id),
    )
    if (!isPlain) this.#failure ??= { reason: 'agent_malformed' }
    else if (platformConversationId !== undefined) turn.named(platformConversationId)
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
          this.#firstChunkMs ??= this.#options.runtime.elapsedMs() - this.#startedMs
          this.#hasContent = true
          break
      }
      if (!this.#isWithinBound(event)) return
      batch.push(event)
    }
  }

  /** Counts the text of an event. Returns false, and fails the reply, if the event exceeds the bound. */
  #isWithinBound(event: ChatEvent): boolean {
    const { streamBytesMax } = this.#options
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
    } else if (!this.#hasContent && this.#options.adapter.emptyReplyIsError) {
      this.#failure = { reason: 'agent_empty_reply' }
    } else {
      batch.push({ type: 'end', reason: this.#end })
      this.#isComplete = true
    }
  }

  /** Stores the turn before the end is passed on, so that the client's next turn can see it. */
  async #complete({ turn, reply }: ReplyInProgress): Promise<void> {
    reply.finish()
    let cause: unknown
    try {
      const storing = handled(turn.complete())
      if (storing !== undefined) await this.#unlessCancelled(storing)
    } catch (error) {
      cause = error
    }
    if (!this.#isOver) this.#conclude('done', { cause })
  }

  #problemOf(error: unknown): Problem {
    if (error instanceof UpstreamError) return this.#fail(this.#withStatus(error.failure))
    if (error instanceof OpeningFailed) return this.#fail(error.failure)
    if (error instanceof Problem) {
      this.#problem ??= error
      return this.#fail({ reason: error.reason })
    }
    const { reason, cause } = problemOf(error)
    return this.#fail({ reason }, cause)
  }

  /**
   * Adds the HTTP status of the platform's response, for the ledger: many platforms reject requests with status 200. A status
   * that the adapter took from the body is kept.
   */
  #withStatus(failure: Failure): Failure {
    const platformStatus = failure.platformStatus ?? this.#inProgress?.reply.status
    return platformStatus === undefined ? failure : { ...failure, platformStatus }
  }

  #fail(failure: Failure, cause?: unknown): Problem {
    this.#problem ??= toProblem(failure, cause)
    if (!this.#isOver) {
      this.#conclude(outcomeOf(failure), { failure, cause })
      this.#inProgress?.reply.cancel(this.#problem)
    }
    return this.#problem
  }

  #conclude(outcome: CallOutcome, { failure, cause }: { failure?: Failure; cause?: unknown }): void {
    this.#isOver = true
    this.#onOver?.()
    this.#inProgress?.deadlines.stop()
    if (outcome !== 'done' && this.#inProgress !== undefined)
      this.#released = this.#inProgress.turn.failed(failure).catch(ignored)
    this.#options.onEnd({
      outcome,
      durationMs: this.#options.runtime.elapsedMs() - this.#startedMs,
      failure,
      cause,
      usage: this.#usage,
      model: this.#model,
      firstChunkMs: this.#firstChunkMs,
    })
  }

  /** Sends the platform's stop request in its turn, if it has one, and closes the connection. */
  async #stopAtPlatform(
    { turn: { call }, state, reply }: ReplyInProgress,
    stopTurn: StopTurn,
  ): Promise<void> {
    const { adapter, upstream, agent } = this.#options
    const gone = new UpstreamError('agent_truncated')
    const timer = setTimeout(() => reply.cancel(gone), STOP_WITHIN_MS)
    let stopping: Promise<unknown> | undefined
    try {
      while (adapter.stop !== undefined) {
        const stop = adapter.stop(call, state)
        if (stop !== undefined) {
          stopping = handled(stopTurn(() => upstream.help(agent, stop, STOP_WITHIN_MS)))
          break
        }
        const part = await reply.next()
        if (part.kind !== 'events') break
        for (const event of part.events) adapter.translate(event, state)
      }
    } catch {
      // The reply has ended by itself, so there is nothing to stop.
    } finally {
      clearTimeout(timer)
      reply.cancel(gone)
    }
    await stopping?.catch(() => undefined)
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

/** Reasons with a 4xx status are errors of the caller; the others are failures of the platform. */
function outcomeOf({ reason }: Failure): CallOutcome {
  if (reason === 'agent_timeout') return 'timeout'
  return ERRORS[reason].status < 500 ? 'rejected' : 'upstream_error'
}

function toProblem(failure: Failure, cause: unknown): Problem {
  return new Problem(failure.reason, {
    ...(failure.message !== undefined && { detail: failure.message }),
    ...(failure.retryAfterSeconds !== undefined && { retryAfterSeconds: failure.retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  })
}
