import {
  type Context,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { CallEvent, Settled } from '#core/calls/call-events.ts'
import { FAILED_OUTCOMES } from '#core/ledger/call-kinds.ts'
import type { CallTrace } from '#core/requests/request-trace.ts'
import { CONVENTIONAL, EVENTS, INVOKE_AGENT, OWN, SPANS } from './names.ts'
import { type Answer, CLIENT_GONE, type RequestSpan } from './tracing.ts'

export interface SpanDeps {
  readonly tracer: Tracer
  readonly propagator: TextMapPropagator
}

/**
 * The clock of one tree: monotonic, and as near to the time of day as when the tree began. The SDK's own has whole milliseconds
 * at the beginning of each span, so that a child could seem to end after its parent.
 */
export class TreeClock {
  readonly #offsetMs = Date.now() - performance.now()

  now(): number {
    return this.#offsetMs + performance.now()
  }
}

/** The spans of one request. They refer to nothing of it. */
export class RequestSpans implements RequestSpan {
  readonly context: Context
  readonly clock: TreeClock
  readonly deps: SpanDeps
  readonly #span: Span
  /** What must end before the request does: its calls, and work that goes on after its response. */
  #open = 0
  #answeredMs: number | undefined
  #hasCallId = false

  constructor(deps: SpanDeps, span: Span, clock: TreeClock) {
    this.deps = deps
    this.clock = clock
    this.#span = span
    this.context = trace.setSpan(ROOT_CONTEXT, span)
  }

  get isRecorded(): boolean {
    return this.#span.isRecording()
  }

  get spanContext() {
    return this.#span.spanContext()
  }

  get traceId(): string | undefined {
    const { traceFlags, traceId } = this.#span.spanContext()
    return (traceFlags & SAMPLED) === 0 ? undefined : traceId
  }

  forCall(): CallSpans {
    this.#open += 1
    return new CallSpans(this)
  }

  answered({ status, error, callId }: Answer): void {
    const span = this.#span
    if (!span.isRecording()) return
    this.#answeredMs = this.clock.now()
    if (callId !== undefined) this.nameCall(callId)
    if (status !== undefined) span.setAttribute(CONVENTIONAL.status, status)
    if (error !== undefined) span.setAttribute(CONVENTIONAL.error, error)
    if (status !== undefined && status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    // What was read of the request may become a call although its client has left.
    if (error === CLIENT_GONE && this.#open === 0) setTimeout(() => this.#endIfOver(), LATE_MS).unref()
    else this.#endIfOver()
  }

  /** A request may have several calls, such as a GraphQL mutation with several fields; its span names the first. */
  nameCall(callId: string): void {
    if (this.#hasCallId) return
    this.#hasCallId = true
    this.#span.setAttribute(OWN.call, callId)
  }

  settled({ outcome, failure }: Settled): void {
    // A stream has answered 200 before its call fails.
    if (failure !== undefined) this.#span.setAttribute(CONVENTIONAL.error, failure.reason)
    if (isFailed(outcome)) this.#span.setStatus({ code: SpanStatusCode.ERROR })
    this.ended()
  }

  /** A call has ended. */
  ended(): void {
    this.#open -= 1
    if (this.#answeredMs === undefined) return
    this.#answeredMs = this.clock.now()
    this.#endIfOver()
  }

  #endIfOver(): void {
    if (this.#open === 0 && this.#span.isRecording()) this.#span.end(this.#answeredMs)
  }
}

type Of<Type extends CallEvent['type']> = Extract<CallEvent, { type: Type }>

/** The spans of one call below that of its request. */
export class CallSpans implements CallTrace {
  readonly request: RequestSpans
  #isOver = false
  /** Of the attempt, or of the file that is stored. */
  #span: Span | undefined

  constructor(request: RequestSpans) {
    this.request = request
  }

  get traceId(): string | undefined {
    return this.request.traceId
  }

  refused(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.request.ended()
  }

  headers(): Readonly<Record<string, string>> {
    const { context, deps } = this.request
    const headers: Record<string, string> = {}
    const of = this.#span === undefined ? context : trace.setSpan(context, this.#span)
    deps.propagator.inject(of, headers, defaultTextMapSetter)
    return headers
  }

  see(event: CallEvent): void {
    switch (event.type) {
      case 'admitted':
        this.request.nameCall(event.call.callId)
        break
      case 'attempt_started':
        this.#attemptStarted(event)
        break
      case 'first_text':
        this.#span?.addEvent(EVENTS.firstChunk, this.request.clock.now())
        break
      case 'attempt_ended':
        this.#attemptEnded(event)
        break
      case 'storing_started':
        this.#storingStarted(event)
        break
      case 'storing_ended':
        this.#storingEnded(event)
        break
      case 'settled':
        if (this.#isOver) break
        this.#isOver = true
        this.request.settled(event.settled)
        break
    }
  }

  #attemptStarted(event: Of<'attempt_started'>): void {
    const startTime = this.request.clock.now()
    const span = this.#startAttempt(event, startTime, event.conversation)
    this.#span = span
    if (event.attempt === 1 && event.queuedMs !== undefined)
      span.addEvent(EVENTS.queued, { [OWN.queuedMs]: Math.round(event.queuedMs) }, startTime)
  }

  #attemptEnded(event: Of<'attempt_ended'>): void {
    const { end, failure, exchange, isComplete } = event
    const { usage, model, finishReason } = exchange ?? {}
    const endTime = this.request.clock.now()
    // An attempt that failed before its request was sent has no span yet.
    const span = this.#span ?? this.#startAttempt(event, endTime - end.durationMs, undefined)
    this.#span = undefined
    span.setAttribute(OWN.outcome, end.outcome)
    if (model !== undefined) span.setAttribute(CONVENTIONAL.model, model)
    if (isComplete && finishReason !== undefined)
      span.setAttribute(CONVENTIONAL.finishReasons, [finishReason])
    if (usage !== undefined) {
      span.setAttribute(CONVENTIONAL.inputTokens, usage.promptTokens)
      span.setAttribute(CONVENTIONAL.outputTokens, usage.completionTokens)
    }
    if (failure !== undefined) fail(span, failure.reason)
    span.end(endTime)
  }

  #startAttempt(
    { call, attempt, deployment, platform }: Of<'attempt_started' | 'attempt_ended'>,
    startTime: number,
    conversation: string | undefined,
  ): Span {
    return this.#start(SPANS.attempt(call.agent), SpanKind.CLIENT, startTime, {
      [CONVENTIONAL.operation]: INVOKE_AGENT,
      [CONVENTIONAL.provider]: platform,
      [CONVENTIONAL.agent]: call.agent,
      [OWN.call]: call.callId,
      [OWN.deployment]: deployment,
      [OWN.attempt]: attempt,
      ...(conversation !== undefined && { [CONVENTIONAL.conversation]: conversation }),
    })
  }

  #storingStarted({ call, storage }: Of<'storing_started'>): void {
    this.#span = this.#start(SPANS.storing, SpanKind.INTERNAL, this.request.clock.now(), {
      [OWN.call]: call.callId,
      [OWN.storage]: storage,
    })
  }

  #storingEnded({ bytes, isStored }: Of<'storing_ended'>): void {
    this.#span?.setAttribute(OWN.bytes, bytes)
    if (this.#span !== undefined && !isStored) fail(this.#span, 'not_stored')
    this.#span?.end(this.request.clock.now())
    this.#span = undefined
  }

  #start(name: string, kind: SpanKind, startTime: number, attributes: Record<string, string | number>): Span {
    const { deps, context } = this.request
    return deps.tracer.startSpan(name, { kind, startTime, attributes }, context)
  }
}

const SAMPLED = 1
/** Longer than it takes to learn whether the credential of a request is valid. */
const LATE_MS = 5_000

function isFailed(outcome: string): boolean {
  return FAILED_OUTCOMES.some((failed) => failed === outcome)
}

function fail(span: Span, error: string): void {
  span.setAttribute(CONVENTIONAL.error, error)
  span.setStatus({ code: SpanStatusCode.ERROR })
}
