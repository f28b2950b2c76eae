import type { Agent } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { OpeningFailed } from '#core/agents/upstream/opening-failed.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart } from '#core/agents/upstream/upstream-reply.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { KeepingCall } from '#core/uploads/kept-files/call-files.ts'
import type { AttemptDeps, AttemptedCall } from './attempted-call.ts'
import type { TurnState } from './call-events.ts'
import type { AdmittedChat, CallEnding, Entered } from './conversation/enter-conversation.ts'
import { followConversation } from './conversation/follow-conversation.ts'
import type { FilesOfReply } from './files/files-of-reply.ts'
import { keepFiles } from './files/keep-files.ts'
import { PlatformReply } from './platform-reply.ts'
import { ReplyContent } from './reply-content.ts'
import { timeoutsOfAttempt } from './reply-deadlines.ts'
import type { UnroutedCall } from './request/call.ts'
import type { DeployedCall } from './request/deployed-call.ts'
import { hasSeveralStates } from './routing/residence.ts'
import type { FailedAttempt, Route } from './routing/route.ts'
import { withTraceparent } from './send-traceparent.ts'
import { type InTurn, stopRun } from './stop-run.ts'

/**
 * What an attempt begins with: it enters the conversation, after the attempt before it has left it, or it goes on in the
 * conversation that the attempt before it has entered.
 */
type Beginning =
  | { readonly kind: 'enter'; readonly after?: Promise<void> }
  | { readonly kind: 'bring files anew'; readonly entered: Entered }

/** An attempt that may succeed after one that has failed. */
export interface NextAttempt {
  readonly attempt: Attempt
  /** How long to wait before. */
  readonly delayMs: number
  /** Fields that it leaves out since they were refused, which was not known before. */
  readonly newlyRefused?: readonly string[]
}

/**
 * One request of a call at its platform. It enters the conversation, sends the request, has what comes back translated, and ends
 * knowing the state of the turn. It alone holds the call's texts, and drops them when no other attempt can need them.
 */
export class Attempt implements CallEnding {
  /** The first attempt of a call is number 1. */
  readonly number: number
  /** The id of the deployment that it is sent to. */
  deployment: string
  /** The agent as that deployment serves it. */
  agent: Agent
  /** What the reply consists of, as far as it has come. */
  readonly content: ReplyContent
  /** The conversation, once the request has been prepared. */
  entered: Entered | undefined
  /** Once the request has been sent. */
  reply: PlatformReply | undefined
  readonly #deps: AttemptDeps
  readonly #route: Route
  readonly #startedMs: number
  /** Until no other attempt can need it, because it has the texts of the call. */
  #chat: AdmittedChat<UnroutedCall> | undefined
  #beginning: Beginning | undefined
  /** Fields of the request that the adapter has added, and could leave out. */
  #addedFields: readonly string[] = []
  /** Whose files those of the reply are; only where they are kept. */
  readonly #files: Omit<KeepingCall, 'agent' | 'signal'> | undefined
  #isOver = false
  #isSuperseded = false
  #ended: AbortController | undefined
  #hasPassedOn = false

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
    this.agent = route.deployment.agent
    this.content = new ReplyContent(deps, this.agent)
    this.#beginning = beginning
    const { callId, ownerId, keyId = '' } = chat
    const { endUser } = chat.call
    this.#files = this.agent.keepFiles ? { callId, ownerId, keyId, endUser } : undefined
    this.#ended = ended
    this.number = route.attempts + 1
    this.deployment = route.deployment.id
  }

  /** The derived id of the conversation, until the request has been sent. It is computed each time. */
  get conversation(): string | undefined {
    return this.#chat === undefined ? undefined : this.#deps.conversationOf(this.#chat)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get signal(): AbortSignal {
    this.#ended ??= new AbortController()
    if (this.#isOver) this.#ended.abort()
    return this.#ended.signal
  }

  get turnState(): TurnState {
    return this.reply?.turn(this.#hasPassedOn) ?? 'none'
  }

  /**
   * Prepares the request. Undefined if there is nothing to wait for. If the call has ended when a conversation is entered at
   * last, it is left at once.
   *
   * @throws OpeningFailed if the platform has no card that can be used, fails to create a conversation or refuses a file
   * @throws Problem
   */
  prepare(): Promise<void> | undefined {
    const beginning = this.#beginning
    if (beginning === undefined) throw new Error('an attempt is made once')
    this.#beginning = undefined
    this.#route.beginAttempt()
    if (beginning.kind === 'bring files anew') return this.#bringAnew(beginning.entered)
    if (beginning.after !== undefined) return beginning.after.then(() => this.#entersLater(this.#enterHere()))
    const entering = markRejectionHandled(this.#enterHere())
    if (entering instanceof Promise) return this.#entersLater(entering)
    this.entered = entering
    return undefined
  }

  /** Sends the request, after {@link Attempt.prepare}. */
  send(): PlatformReply {
    const { agent, entered } = this
    if (entered === undefined) throw new Error('the conversation has not been entered')
    const { agentCall, knownFiles, turn } = entered
    const sentAtMs = this.#deps.runtime.elapsedMs()
    const passedMs = this.number === 1 ? 0 : sentAtMs - this.#startedMs
    const { refusedFields, firstByteMs } = this.#route
    const sent = refusedFields === undefined ? agentCall : { ...agentCall, refusedFields }
    const request = agent.adapter.buildRequest(sent)
    this.#addedFields = request.addedFields ?? []
    const reply = new PlatformReply(this.#deps, {
      agent,
      agentCall,
      request: agent.propagate ? withTraceparent(request, this.#chat) : request,
      sentAtMs,
      timeouts:
        firstByteMs === agent.timeouts.firstByteMs && passedMs === 0
          ? agent.timeouts
          : timeoutsOfAttempt(agent.timeouts, firstByteMs, passedMs),
      content: this.content,
      turn,
      isSilent: this.#chat?.isSilent === true,
    })
    this.reply = reply
    // What a refusal of fields needs even after the last attempt.
    if (this.#route.isLastAttempt && this.#addedFields.length === 0) this.#chat = undefined
    if (knownFiles === undefined) this.entered = { ...entered, agentCall: reply.call }
    return reply
  }

  /** The events of a part, up to the first failure. After the last part it is known whether the reply is complete. */
  translate(reply: PlatformReply, part: UpstreamPart): readonly ChatEvent[] {
    const batch = reply.translate(part)
    const { failure } = this.content
    // An error that comes together with other events is one within a run, which shows that the deployment works.
    if (reply.sawTurn && (failure === undefined || batch.length > 0)) this.#route.answered()
    if (batch.length > 0) this.#passOn(batch)
    return batch
  }

  /**
   * Keeps the failure with which {@link Attempt.prepare} or {@link PlatformReply.next} has rejected, and returns no events. After a
   * reported end it is none: servers and proxies close the connection without the last bytes of their encoding.
   *
   * @throws the error itself if the platform is not its cause
   */
  brokeOff(error: unknown): readonly ChatEvent[] {
    if (!(error instanceof UpstreamError || error instanceof OpeningFailed)) throw error
    const content = this.content
    const batch: ChatEvent[] = []
    if (error instanceof UpstreamError && error.isAboutEnd) this.reply?.translateBroken(batch)
    if (!content.isComplete) content.failure ??= error.failure
    // What an adapter has held back changes nothing as long as the reader has seen nothing.
    if (!content.isComplete && !this.#hasPassedOn) return []
    if (batch.length > 0) this.#passOn(batch)
    return batch
  }

  /** The attempt that may succeed after the failure of this one, of which the reader has seen nothing. */
  another(): NextAttempt | undefined {
    const failure = this.content.failure
    const chat = this.#chat
    // Also where this call is not sent again, for the next one.
    const hasNewCard = failure?.outdatesCard === true && this.#deps.upstream.cards.renew(this.agent)
    if (failure === undefined || chat === undefined || this.#hasPassedOn) return undefined
    const call = { chat, route: this.#route, startedMs: this.#startedMs }
    const entered = this.entered
    const turn = this.turnState
    // The platform no longer knows a file that an earlier call brought there, so the files are brought anew.
    if (turn === 'none' && entered?.knownFiles?.mayBeForgotten(failure) === true) {
      this.#route.noteFailure(this.#failed(failure))
      // The conversation stays entered, for the next attempt, which also ends the work for the files.
      this.#supersede()
      this.entered = undefined
      const beginning = { kind: 'bring files anew', entered } as const
      return { attempt: new Attempt(this.#deps, call, beginning, this.#ended), delayMs: 0 }
    }
    const failed = this.#failed(failure)
    const next = this.#mended(failed, hasNewCard) ?? this.#route.afterFailure(failed)
    if (next === undefined) return undefined
    this.#supersede()
    const after = this.entered === undefined ? undefined : this.#endTurn(failure, turn).catch(ignored)
    const beginning = { kind: 'enter', ...(after !== undefined && { after }) } as const
    return { ...next, attempt: new Attempt(this.#deps, call, beginning, this.#ended) }
  }

  /** After a refusal that cannot come again: the same once more, without fields that the gateway has added, or by a new card. */
  #mended(failed: FailedAttempt, hasNewCard: boolean): Omit<NextAttempt, 'attempt'> | undefined {
    const { refusedFields = [] } = failed.failure
    const own = refusedFields.filter((field) => this.#addedFields.includes(field))
    if (own.length === 0 && !hasNewCard) return undefined
    this.#route.noteFailure(failed)
    return { delayMs: 0, newlyRefused: this.#route.rememberRefused(own) }
  }

  /** The time that the reader takes does not count as the platform's idle time. */
  pauseIdle(): void {
    this.reply?.deadlines.pauseIdle()
  }

  resumeIdle(): void {
    this.reply?.deadlines.resumeIdle()
  }

  /** Keeps the files of a complete reply. Resolves with what shows them; undefined if there is nothing to wait for. */
  keepFiles(files: FilesOfReply): Promise<readonly ChatEvent[]> | undefined {
    if (this.#files === undefined || files.all.length === 0) return undefined
    const kept = this.#deps.filesOf({ ...this.#files, agent: this.agent, signal: this.signal })
    return keepFiles(files, kept, (events) => this.entered?.turn.saw(events))
  }

  /** Stores the turn of a complete reply. Undefined if there is nothing to wait for. */
  complete(): Promise<void> | undefined {
    this.reply?.upstreamReply.finish()
    this.entered?.memory?.release()
    return this.entered?.turn.complete()
  }

  /** Rejects the pending {@link Attempt.next}, while {@link Attempt.stop} still reads what the platform sends. */
  interrupt(cause: Error): void {
    this.reply?.interrupt(cause)
  }

  /** Closes the connection to the platform. */
  cancel(cause: Error): void {
    this.reply?.cancel(cause)
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
    this.reply?.deadlines.stop()
    if (this.content.failure !== undefined) this.#route.noteFailure(this.#failed(this.content.failure))
    if (isDone || this.entered === undefined) return undefined
    const ending = this.#endTurn(failure, turn).catch(ignored)
    const forgetting = markRejectionHandled(this.#forgetFiles())
    return forgetting === undefined ? ending : Promise.all([ending, forgetting]).then(ignored)
  }

  /**
   * Stops the run at the platform, if it can be stopped, and closes the connection. Resolves when the platform has been told.
   *
   * @param inTurn - decides when the request is sent; the connection is closed at once
   */
  async stop(inTurn: InTurn): Promise<void> {
    if (this.reply === undefined) return
    // There is no run, or one that waits for an answer that was not sent, and goes on waiting.
    if (this.reply.steps?.turn === 'none' || !this.reply.upstreamReply.wasBegun)
      return this.reply.upstreamReply.cancel(new UpstreamError('agent_truncated'))
    await stopRun(this.#deps.upstream, this.agent, this.reply, inTurn)
  }

  async #bringAnew({ knownFiles, ...entered }: Entered): Promise<void> {
    // Kept first, so that the conversation is left if the files cannot be brought.
    this.entered = entered
    const { agentCall } = entered
    const files = (await knownFiles?.bringAnew())?.files ?? []
    this.entered = { ...entered, agentCall: { ...agentCall, files } }
  }

  /** What the deployment gets of the call. */
  #enterHere(): Entered | Promise<Entered> {
    const chat = this.#chat
    if (chat === undefined) throw new Error('an attempt is made once')
    const { deployment } = this.#route
    this.agent = deployment.agent
    this.deployment = deployment.id
    const card = this.agent.adapter.card && this.#deps.upstream.cards.of(this.agent)
    return card instanceof Promise
      ? card.then((known: unknown) => this.#enterWith(chat, known))
      : this.#enterWith(chat, card)
  }

  #enterWith(chat: AdmittedChat<UnroutedCall>, card: unknown): Entered | Promise<Entered> {
    const { call } = chat
    const route = this.#route
    const deployed: DeployedCall = {
      ...call,
      agent: this.agent,
      app: call.app && route.app,
      deployment: route.deployment,
      card,
      isPlaced: call.agent.deployments.length > 1 && hasSeveralStates(call.agent),
      canContinue: (residence) => route.canContinue(residence),
    }
    return this.#deps.enter({ ...chat, call: deployed }, this)
  }

  /** Enters the conversation, at another deployment if it turns out to live there. */
  async #entersLater(entering: Entered | Promise<Entered>): Promise<void> {
    const enterAgain = () => this.#enterHere()
    this.entered = await followConversation(entering, { ending: this, route: this.#route, enterAgain })
    if (this.#isOver && !this.#isSuperseded) this.#endTurn(undefined, 'none').catch(ignored)
  }

  /** After a refusal of files with which the call cannot be sent again, so that the next call brings them anew. */
  #forgetFiles(): Promise<void> | undefined {
    const knownFiles = this.entered?.knownFiles
    if (this.content.failure === undefined || knownFiles?.mayBeForgotten(this.content.failure) !== true)
      return undefined
    return knownFiles.forget().catch(ignored)
  }

  #failed(failure: Failure): FailedAttempt {
    return { failure, turn: this.turnState, httpStatus: this.reply?.upstreamReply.status }
  }

  /** Another attempt takes the place of this one. */
  #supersede(): void {
    this.#isOver = true
    this.#isSuperseded = true
    this.#chat = undefined
    this.reply?.deadlines.stop()
    this.reply?.cancel(new UpstreamError('agent_truncated'))
  }

  #endTurn(failure: Failure | undefined, state: TurnState): Promise<void> {
    this.entered?.memory?.release()
    return this.entered?.turn.failed(failure, state) ?? Promise.resolve()
  }

  #passOn(batch: readonly ChatEvent[]): void {
    this.#hasPassedOn = true
    this.#chat = undefined
    const { entered, reply } = this
    // What the reader has seen part of is not sent again.
    if (reply !== undefined && entered?.knownFiles !== undefined) {
      const { knownFiles: _dropped, ...rest } = entered
      this.entered = { ...rest, agentCall: reply.call }
    }
    entered?.turn.saw(batch)
  }
}

/** For failures that change nothing for this call, such as that of releasing a lease, which expires by itself. */
function ignored(): void {}
