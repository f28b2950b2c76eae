import type { Agent, AgentCall, ReplyState, Timeouts } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure, FinishReason, TokenCounts } from '#core/agents/events.ts'
import { isPlatformId } from '#core/agents/translate/platform-id.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import type { Runtime } from '#core/runtime.ts'
import type { TurnState } from './call-events.ts'
import {
  type AdmittedChat,
  type CallEnding,
  type Entered,
  LivesElsewhere,
} from './conversation/enter-conversation.ts'
import { type ReplyDeadlines, startReplyDeadlines } from './reply-deadlines.ts'
import type { UnroutedCall } from './request/call.ts'
import type { DeployedCall } from './request/deployed-call.ts'
import { OpeningFailed } from './request/opening-failed.ts'
import { hasSeveralStates } from './routing/residence.ts'
import type { FailedAttempt, Route } from './routing/route.ts'

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
  | {
      readonly kind: 'enter' /** Resolves when the attempt before has left the conversation. */
      readonly after?: Promise<void>
    }
  | { readonly kind: 'bring files anew'; readonly entered: Entered }

/** What the attempts of a call have in common. */
export interface AttemptedCall {
  readonly chat: AdmittedChat<UnroutedCall>
  readonly route: Route
  /** When the call has begun, on the clock of `elapsedMs`. */
  readonly startedMs: number
}

/** An attempt that may succeed after one that has failed. */
export interface NextAttempt {
  readonly attempt: Attempt
  /** How long to wait before. */
  readonly delayMs: number
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
  /** The id of the deployment that it is sent to. */
  deployment: string
  readonly #deps: AttemptDeps
  readonly #route: Route
  readonly #startedMs: number
  /** Until no other attempt can need it, because it has the texts of the call. */
  #chat: AdmittedChat<UnroutedCall> | undefined
  #beginning: Beginning | undefined
  #agent: Agent
  #entered: Entered | undefined
  #exchange: Exchange | undefined
  #isOver = false
  #isSuperseded = false
  #ended: AbortController | undefined

  /** A failure that was found in the reply; it is raised after the events that came before it. */
  #failure: Failure | undefined
  /** The finish reason that the platform reported, provisional until the end of its response. */
  #end: FinishReason | undefined
  #isComplete = false
  /** Whether the platform has sent anything that it sends only for a turn that it has taken. */
  #sawTurn = false
  #hasPassedOn = false
  #hasContent = false
  #carriedBytes = 0
  #usage: TokenCounts | undefined
  #model: string | undefined
  #firstTextAtMs: number | undefined

  constructor(
    deps: AttemptDeps,
    { chat, route, startedMs }: AttemptedCall,
    beginning: Beginning = { kind: 'enter' },
    ended?: AbortController,
  ) {
    this.#deps = deps
    this.#chat = chat
    this.#route = route
    this.#startedMs = startedMs
    this.#agent = route.deployment.agent
    this.#beginning = beginning
    this.#ended = ended
    this.number = route.attempts + 1
    this.deployment = route.deployment.id
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
    if (this.#failure?.turn === 'none' && !this.#hasPassedOn) return 'none'
    return this.#isComplete || this.#sawTurn ? 'stored' : 'unknown'
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
    this.#route.beginAttempt()
    if (beginning.kind === 'bring files anew') return this.#bringAnew(beginning.entered)
    if (beginning.after !== undefined) return beginning.after.then(() => this.#enter())
    const entering = markRejectionHandled(this.#enterHere())
    if (entering instanceof Promise) return this.#entersLater(entering)
    this.#entered = entering
    return undefined
  }

  /** Sends the request, after {@link Attempt.prepare}. */
  send(): void {
    const { upstream, runtime } = this.#deps
    const agent = this.#agent
    const entered = this.#requireEntered()
    const { agentCall, knownFiles } = entered
    const upstreamReply = upstream.open(agent, agent.adapter.buildRequest(agentCall))
    const deadlines = startReplyDeadlines(this.#timeouts(), runtime, (event) => {
      if (event === 'grace') upstreamReply.finish()
      else upstreamReply.cancel(UpstreamError.timeout(upstreamReply.wasBegun))
    })
    const state = agent.adapter.start(agentCall)
    const call = withoutTexts(agentCall)
    this.#exchange = { upstreamReply, state, deadlines, call }
    if (this.#route.isLastAttempt) this.#chat = undefined
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
        if (translated.length > 0) {
          deadlines.activity()
          this.#sawTurn = true
        }
        this.#sift(translated, batch)
        if (this.#failure !== undefined) break
      }
      this.#sawTurn ||= state.runId !== undefined || state.messageId !== undefined
      this.#learn(state)
      if (this.#end !== undefined) deadlines.startGrace(endGraceMs)
    } else {
      if (part.kind === 'body') {
        if (part.status >= 400) this.#failure = adapter.toFailure(part.status, part.body, part.header)
        else {
          this.#sift(adapter.translateBody(part.body, state), batch)
          this.#sawTurn = batch.length > 0 || this.#failure === undefined
        }
      }
      this.#sift(adapter.finish(state), batch)
      this.#learn(state)
      this.#close(batch)
    }
    if (this.#sawTurn && this.#failure === undefined) this.#route.answered()
    if (batch.length > 0) this.#passOn(batch)
    return batch
  }

  /**
   * Keeps the failure with which {@link Attempt.prepare} or {@link Attempt.next} has rejected, and returns no events.
   *
   * @throws the error itself if the platform is not its cause
   */
  brokeOff(error: unknown): readonly ChatEvent[] {
    if (!(error instanceof UpstreamError || error instanceof OpeningFailed)) throw error
    this.#failure ??= error.failure
    return []
  }

  /** The attempt that may succeed after the failure of this one, of which the reader has seen nothing. */
  another(): NextAttempt | undefined {
    const failure = this.#failure
    const chat = this.#chat
    if (failure === undefined || chat === undefined || this.#hasPassedOn) return undefined
    const call = { chat, route: this.#route, startedMs: this.#startedMs }
    const entered = this.#entered
    const turn = this.turnState
    // The platform no longer knows a file that an earlier call brought there, so the files are brought anew.
    if (turn === 'none' && entered?.knownFiles?.mayBeForgotten(failure) === true) {
      this.#route.noteFailure(this.#failed(failure))
      // The conversation stays entered, for the next attempt, which also ends the work for the files.
      this.#supersede()
      this.#entered = undefined
      const beginning = { kind: 'bring files anew', entered } as const
      return { attempt: new Attempt(this.#deps, call, beginning, this.#ended), delayMs: 0 }
    }
    const failed = this.#failed(failure)
    const next = this.#route.afterFailure(failed)
    if (next === undefined) return undefined
    this.#supersede()
    const after = this.#entered === undefined ? undefined : this.#endTurn(failure, turn).catch(ignored)
    const beginning = { kind: 'enter', ...(after !== undefined && { after }) } as const
    return { attempt: new Attempt(this.#deps, call, beginning, this.#ended), delayMs: next.delayMs }
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
    const turn = this.turnState
    this.#isOver = true
    this.#beginning = undefined
    this.#chat = undefined
    this.#ended?.abort()
    this.#exchange?.deadlines.stop()
    if (this.#failure === undefined) this.#route.endedEarly()
    else this.#route.noteFailure(this.#failed(this.#failure))
    if (isDone || this.#entered === undefined) return undefined
    const ending = this.#endTurn(failure, turn).catch(ignored)
    const forgetting = this.#forgetFiles()
    return forgetting === undefined ? ending : Promise.all([ending, forgetting]).then(ignored)
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

  /** What the deployment gets of the call. */
  #enterHere(): Entered | Promise<Entered> {
    const chat = this.#chat
    if (chat === undefined) throw new Error('an attempt is made once')
    const route = this.#route
    const { deployment } = route
    this.#agent = deployment.agent
    this.deployment = deployment.id
    const call: DeployedCall = {
      ...chat.call,
      agent: deployment.agent,
      app: route.app,
      deployment,
      isPlaced: hasSeveralStates(chat.call.agent),
      canContinue: (residence) => route.canContinue(residence),
    }
    return this.#deps.enter({ ...chat, call }, this)
  }

  /** Enters the conversation, at another deployment if it turns out to live there. */
  async #enter(): Promise<void> {
    await this.#entersLater(Promise.resolve(this.#enterHere()))
  }

  async #entersLater(entering: Promise<Entered>): Promise<void> {
    try {
      this.#entered = await entering
    } catch (error) {
      if (!(error instanceof LivesElsewhere) || this.#isOver) throw error
      this.#route.moveTo(error.residence)
      this.#entered = await this.#enterHere()
    }
    if (this.#isOver && !this.#isSuperseded) this.#endTurn(undefined, 'none').catch(ignored)
  }

  #timeouts(): Timeouts {
    const { timeouts } = this.#agent
    const { firstByteMs } = this.#route
    const totalMs =
      timeouts.totalMs - (this.number === 1 ? 0 : this.#deps.runtime.elapsedMs() - this.#startedMs)
    return firstByteMs === timeouts.firstByteMs && totalMs === timeouts.totalMs
      ? timeouts
      : { ...timeouts, firstByteMs, totalMs: Math.max(1, totalMs) }
  }

  /** After a refusal of files with which the call cannot be sent again, so that the next call brings them anew. */
  #forgetFiles(): Promise<void> | undefined {
    const knownFiles = this.#entered?.knownFiles
    if (this.#failure === undefined || knownFiles?.mayBeForgotten(this.#failure) !== true) return undefined
    return knownFiles.forget().catch(ignored)
  }

  #failed(failure: Failure): FailedAttempt {
    return { failure, turn: this.turnState, httpStatus: this.platformStatus }
  }

  /** Another attempt takes the place of this one. */
  #supersede(): void {
    this.#isOver = true
    this.#isSuperseded = true
    this.#chat = undefined
    this.#exchange?.deadlines.stop()
    this.#exchange?.upstreamReply.cancel(new UpstreamError('agent_truncated'))
  }

  #endTurn(failure: Failure | undefined, state: TurnState): Promise<void> {
    const { turn, memory } = this.#requireEntered()
    memory?.release()
    return turn.failed(failure, state)
  }

  #passOn(batch: readonly ChatEvent[]): void {
    const entered = this.#requireEntered()
    this.#hasPassedOn = true
    this.#chat = undefined
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
    this.#failure = { reason: 'agent_malformed', message, isTooLarge: true }
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
