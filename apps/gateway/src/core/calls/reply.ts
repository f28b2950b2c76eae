import type { ChatEvent, ChatEvents, Failure, TakeEvents } from '#core/agents/events.ts'
import type { OfferedPause } from '#core/agents/pause.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { ERRORS, type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import type { AttemptEnd } from '#core/ledger/settlement/settlement-row.ts'
import type { ReplyEnding } from '#core/reply-log/kept-run.ts'
import { Attempt, type NextAttempt } from './attempt.ts'
import type { AttemptDeps, AttemptedCall } from './attempted-call.ts'
import { ATTEMPTS_LISTED_MAX, type CallObserver, type CallRecord } from './call-events.ts'
import { CallPause, type PauseKeeper } from './pauses/call-pause.ts'
import type { PauseHolder } from './pauses/pauses.ts'
import type { Place } from './places.ts'
import type { PlatformReply } from './platform-reply.ts'
import type { StopRequests } from './platform-stops.ts'
import type { Route } from './routing/route.ts'
import type { EndedEarly, RunningCall } from './running-call.ts'
import type { InTurn } from './stop-run.ts'

export interface ReplyDeps {
  readonly runtime: Runtime
  readonly observe: CallObserver
  readonly stops: Pick<StopRequests, 'add' | 'inTurn'>
}

/** What a reply is made of. */
export interface ReplyParts {
  readonly attempts: AttemptDeps
  readonly chat: AttemptedCall['chat']
  readonly route: Route
  readonly place: Pick<Place, 'leave'>
  /** When the call has arrived, on the clock of `elapsedMs`. */
  readonly arrivedMs: number
  /** Of a kept call: called before each attempt, since its stop may have been requested. */
  readonly beforeAttempt?: ((reply: Reply) => Promise<void>) | undefined
  /** Of a call that goes on from a pause, which it has claimed. */
  readonly pause?: CallPause | undefined
  /** Where the pause of any other call is kept, if it ends with one, and whose it is. */
  readonly pauses: PauseKeeper
  readonly holder: PauseHolder
}

/** A second reader would send the request to the platform again, and both would be settled as one call. */
const READ_TWICE = 'A reply can be read only once.'

/**
 * The reply to an admitted call, produced by its attempts and read in batches of events, each of which holds what one read of
 * the platform's socket returned. The request is sent when reading begins. A complete reply ends with exactly one `end`
 * event; a failed one rejects {@link Reply.read} with a {@link Problem}. It ends with its only reader, and is settled once.
 */
export class Reply implements ChatEvents, RunningCall {
  readonly #deps: ReplyDeps
  readonly #call: CallRecord
  readonly #place: Pick<Place, 'leave'>
  readonly #route: Route
  readonly #arrivedMs: number
  readonly #startedMs: number
  readonly #beforeAttempt: ReplyParts['beforeAttempt']
  readonly #pauses: PauseKeeper
  readonly #holder: PauseHolder
  #pause: CallPause | undefined
  #attempt: Attempt
  /** When it was sent or, before that, when it began. */
  #attemptStartedMs = 0
  /** Undefined until an attempt has failed. */
  #attemptList: AttemptEnd[] | undefined
  #ending: ReplyEnding | undefined
  #isRead = false
  #isOver = false
  /** Ends the reader's wait for other work than the platform's response: that its conversation is entered or stored. */
  #interruptWork: ((problem: Problem) => void) | undefined
  /** Resolves when the turn of a failed call has been ended in its conversation. */
  #released: Promise<void> | undefined
  /** The error with which reading rejects. */
  #problem: Problem | undefined
  /** Whether the reader has seen any event. */
  #hasPassedOn = false
  #hasText = false

  constructor(
    deps: ReplyDeps,
    call: CallRecord,
    { attempts, chat, route, place, arrivedMs, beforeAttempt, pause, pauses, holder }: ReplyParts,
  ) {
    this.#deps = deps
    this.#call = call
    this.#place = place
    this.#route = route
    this.#beforeAttempt = beforeAttempt
    this.#pause = pause
    this.#pauses = pauses
    this.#holder = holder
    this.#arrivedMs = arrivedMs
    this.#startedMs = deps.runtime.elapsedMs()
    this.#attempt = new Attempt(attempts, { chat, route, startedMs: this.#startedMs })
  }

  get callId(): string {
    return this.#call.callId
  }

  /** Undefined while the call runs. */
  get ending(): ReplyEnding | undefined {
    return this.#ending
  }

  async read(take: TakeEvents): Promise<void> {
    if (this.#isRead) throw new Error(READ_TWICE)
    this.#isRead = true
    try {
      while (!this.#isOver) {
        const attempt = this.#attempt
        let batch: readonly ChatEvent[]
        try {
          const reply = attempt.reply ?? (await this.#send(attempt))
          batch = attempt.translate(reply, await reply.next())
        } catch (error) {
          batch = attempt.brokeOff(error)
        }
        const next = batch.length === 0 && !this.#hasPassedOn ? attempt.another() : undefined
        if (next !== undefined) {
          this.#replaceAttempt(next)
          if (next.delayMs > 0) await this.#unlessEnded(sleep(next.delayMs))
          continue
        }
        const { content } = attempt
        if (!this.#hasText && content.firstTextAtMs !== undefined) {
          this.#hasText = true
          const afterMs = content.firstTextAtMs - this.#startedMs
          this.#deps.observe({ type: 'first_text', call: this.#call, afterMs })
        }
        if (content.isComplete) batch = await this.#complete(attempt, batch)
        // The end event means success, so it is not passed on for a call that was ended while its turn was stored.
        if (content.isComplete && this.#problem !== undefined) break
        this.#hasPassedOn ||= batch.length > 0
        const taking = markRejectionHandled(batch.length > 0 ? take(batch) : undefined)
        if (taking !== undefined) await this.#served(taking, attempt)
        if (content.failure !== undefined) this.#fail(this.#withStatus(content.failure))
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
    this.end('client_gone')
  }

  /** Ends a kept call because its client has requested it. */
  stop(): void {
    this.end('client_gone', 'stopped')
  }

  end(outcome: EndedEarly, reason: ErrorReason = 'draining'): void {
    if (this.#isOver) return
    const attempt = this.#attempt
    this.#problem = new Problem(reason)
    const isPlainLeave = outcome === 'client_gone' && reason !== 'stopped'
    this.#conclude(outcome, isPlainLeave ? {} : { failure: { reason } })
    // The reader of a rejected call does not wait until its conversation is free: its key can use it no more, or was told to stop.
    if (outcome === 'rejected') this.#released = undefined
    this.#interruptWork?.(this.#problem)
    attempt.interrupt(this.#problem)
    const { stops } = this.#deps
    this.#stopRun(attempt, outcome === 'rejected' ? stops.inTurn.bind(stops) : AT_ONCE)
  }

  #stopRun(attempt: Attempt, inTurn: InTurn): void {
    this.#deps.stops.add(markRejectionHandled(attempt.stop(inTurn)))
  }

  /** Rejects when the call is ended, because such work may go on for minutes. */
  #unlessEnded<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#interruptWork = reject
      work.then(resolve, reject)
    })
  }

  /**
   * Prepares the attempt and sends its request. Separate from `read`, whose local variables would keep the whole call in memory as long
   * as the reply takes.
   */
  async #send(attempt: Attempt): Promise<PlatformReply> {
    const { runtime, observe } = this.#deps
    if (this.#beforeAttempt !== undefined) await this.#unlessEnded(this.#beforeAttempt(this))
    if (this.#isOver) throw this.#problem ?? new Problem('draining')
    this.#attemptStartedMs = runtime.elapsedMs()
    const preparing = markRejectionHandled(attempt.prepare())
    if (preparing !== undefined) await this.#unlessEnded(preparing)
    if (this.#isOver) throw this.#problem ?? new Problem('draining')
    const { number, deployment, agent, entered } = attempt
    const { queuedMs } = this.#route
    this.#attemptStartedMs = runtime.elapsedMs()
    const ownMs = this.#attemptStartedMs - this.#arrivedMs - (queuedMs ?? 0)
    observe({
      type: 'attempt_started',
      call: this.#call,
      attempt: number,
      deployment,
      platform: agent.adapter.platform,
      conversation: this.#call.trace?.traceId === undefined ? undefined : attempt.conversation,
      queuedMs,
      ownMs: number > 1 || entered?.askedPlatform === true ? undefined : ownMs,
    })
    return attempt.send()
  }

  #replaceAttempt({ attempt, newlyRefused: fields = [] }: NextAttempt): void {
    const { failure } = this.#attempt.content
    if (failure !== undefined) this.#attemptEnded(outcomeOf(failure), this.#withStatus(failure))
    if (fields.length > 0) {
      const { deployment } = this.#attempt
      this.#deps.observe({ type: 'fields_refused', call: this.#call, deployment, fields })
    }
    this.#attempt = attempt
  }

  async #served(taking: Promise<void>, attempt: Attempt): Promise<void> {
    attempt.pauseIdle()
    await taking
    attempt.resumeIdle()
  }

  /** Stores the turn before the end is passed on, so that the client's next turn can see it. */
  async #complete(attempt: Attempt, batch: readonly ChatEvent[]): Promise<readonly ChatEvent[]> {
    const { content, deployment } = attempt
    let cause: unknown
    let offered: OfferedPause | undefined
    let made: readonly ChatEvent[] = []
    try {
      // Before the turn is stored, since what shows the files is part of the answer.
      const keeping = content.files && markRejectionHandled(attempt.keepFiles(content.files))
      if (keeping !== undefined) made = await this.#unlessEnded(keeping)
      const storing = markRejectionHandled(attempt.complete())
      if (storing !== undefined) await this.#unlessEnded(storing)
      if (content.pauses !== undefined) {
        this.#pause ??= new CallPause(this.#pauses, this.#holder)
        const stopIds = attempt.reply?.stopIds ?? {}
        offered = await this.#unlessEnded(this.#pause.keep(content.pauses, stopIds, this.#route))
      }
    } catch (error) {
      cause = error
    }
    if (!this.#isOver) this.#conclude('done', { cause, ...(offered !== undefined && { paused: true }) })
    const note = attempt.reply?.state.note
    if (note !== undefined) this.#deps.observe({ type: 'reply_noted', call: this.#call, deployment, note })
    if (offered === undefined && content.files === undefined) return batch
    if (content.files?.lacksFilesUrl)
      this.#deps.observe({ type: 'files_unreachable', call: this.#call, deployment })
    const files = content.files?.offered ?? []
    return batch.flatMap((event) =>
      event.type === 'end'
        ? [...made, { ...event, ...(offered && { pause: offered }), ...(files.length > 0 && { files }) }]
        : event,
    )
  }

  #problemOf(error: unknown): Problem {
    const problem = problemOf(error)
    this.#problem ??= problem
    const { reason } = problem
    const cause = error === problem ? undefined : problem.cause
    return this.#fail({ reason }, cause)
  }

  /**
   * Adds the HTTP status of the platform's response, for the ledger: many platforms reject requests with status 200. A status
   * that the adapter took from the body is kept.
   */
  #withStatus(failure: Failure): Failure {
    const platformStatus = failure.platformStatus ?? this.#attempt.reply?.upstreamReply.status
    return platformStatus === undefined ? failure : { ...failure, platformStatus }
  }

  #fail(failure: Failure, cause?: unknown): Problem {
    this.#problem ??= toProblem(failure, cause)
    if (!this.#isOver) {
      this.#conclude(outcomeOf(failure), { failure, cause })
      if (mayGoOn(failure)) this.#stopRun(this.#attempt, AT_ONCE)
      else this.#attempt.cancel(this.#problem)
    }
    return this.#problem
  }

  #conclude(
    outcome: CallOutcome,
    { failure, cause, paused }: { failure?: Failure; cause?: unknown; paused?: true },
  ): void {
    this.#isOver = true
    const attempt = this.#attempt
    const leftNoTurn = attempt.turnState === 'none'
    this.#ending = { outcome, leftNoTurn }
    const finished = markRejectionHandled(attempt.finish(outcome === 'done', failure))
    const isOpenAgain = leftNoTurn && failure?.reason !== 'pause_over'
    const unclaimed = markRejectionHandled(
      paused === true ? undefined : this.#pause?.endClaim(isOpenAgain ? 'open' : 'over'),
    )
    this.#released =
      unclaimed === undefined
        ? finished
        : markRejectionHandled(Promise.all([finished, unclaimed]).then(() => undefined))
    this.#place.leave()
    this.#route.leave()
    this.#attemptEnded(outcome, failure)
    const { firstTextAtMs, usage, model } = attempt.content
    const { attempts, queuedMs } = this.#route
    this.#deps.observe({
      type: 'settled',
      call: this.#call,
      settled: {
        outcome,
        durationMs: this.#deps.runtime.elapsedMs() - this.#startedMs,
        failure,
        cause,
        usage,
        model,
        hasTurn: !leftNoTurn,
        paused,
        answerId: outcome === 'done' ? attempt.reply?.state.answerId : undefined,
        queuedMs,
        // A call that has ended before its reply was read went nowhere.
        ...(attempts > 0 && {
          attempts,
          attemptList: this.#attemptList,
          deployment: attempt.deployment,
        }),
        firstTextMs: firstTextAtMs === undefined ? undefined : firstTextAtMs - this.#startedMs,
      },
    })
  }

  #attemptEnded(outcome: CallOutcome, failure: Failure | undefined): void {
    const { number, turnState, deployment, agent, content, reply } = this.#attempt
    // The platform may have failed before the chat itself, such as when a file was brought to it.
    if (reply === undefined && content.failure === undefined) return
    const nowMs = this.#deps.runtime.elapsedMs()
    const end: AttemptEnd = {
      deployment,
      startMs: this.#attemptStartedMs - this.#startedMs,
      durationMs: nowMs - this.#attemptStartedMs,
      outcome,
      reason: failure?.reason,
      platformStatus: failure?.platformStatus,
    }
    if (failure !== undefined) this.#attemptList ??= []
    if (this.#attemptList !== undefined && this.#attemptList.length < ATTEMPTS_LISTED_MAX)
      this.#attemptList.push(end)
    this.#deps.observe({
      type: 'attempt_ended',
      call: this.#call,
      attempt: number,
      deployment,
      platform: agent.adapter.platform,
      end,
      turn: turnState,
      isComplete: content.isComplete,
      failure,
      exchange: reply?.exchange(nowMs),
    })
  }
}

/** The failures after which the run may go on at the platform: for nobody, since its reply has been given up. */
const MAY_GO_ON: ReadonlySet<ErrorReason> = new Set([
  'agent_timeout',
  'agent_truncated',
  'agent_malformed',
  'agent_requires_action',
])

/** A run that the platform has stopped itself is truncated too, and the platform says so by its own word. */
function mayGoOn({ reason, platformCode, turn }: Failure): boolean {
  return (
    turn === undefined &&
    MAY_GO_ON.has(reason) &&
    !(reason === 'agent_truncated' && platformCode !== undefined)
  )
}

const AT_ONCE = <Result>(send: () => Promise<Result>): Promise<Result> => send()

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
