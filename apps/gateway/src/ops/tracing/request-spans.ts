import type { ServerResponse } from 'node:http'
import * as api from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { FastifyRequest } from 'fastify'
import type { CallEvent } from '#core/calls/call-events.ts'
import { FAILED_OUTCOMES } from '#core/ledger/call-kinds.ts'
import type { RequestTrace } from '#core/requests/request-trace.ts'

/** Of W3C's `traceparent` and `tracestate`. */
export const PROPAGATOR = new W3CTraceContextPropagator()
const FAILED: ReadonlySet<string> = new Set(FAILED_OUTCOMES)
/** Longer than a call takes to be admitted, unless it waits long for a slot of its agent. */
const LATE_MS = 15_000

/** What http notes on a request, which this room does not know. */
interface SeenByHttp {
  readonly problem?: { readonly reason: string } | undefined
  readonly callId?: string | undefined
}

/** The spans of one request that is sampled, and of its calls. They refer to nothing of the request. */
export class RequestSpans implements RequestTrace {
  readonly traceId: string
  readonly span: api.Span
  readonly #tracer: api.Tracer
  /** Monotonic. The SDK's own clock begins a span at a whole millisecond, so that a child could seem to outlive its parent. */
  readonly #clockOffsetMs = Date.now() - performance.now()
  /** The admitted calls, which must end before the request does, each with its open span: of an attempt, or of a file that is stored. */
  readonly #calls = new Map<string, api.Span | undefined>()
  /** A request may have several calls, such as a GraphQL mutation with several fields; its span names the first. */
  #callId: string | undefined
  #answeredMs: number | undefined

  constructor(span: api.Span, tracer: api.Tracer) {
    this.traceId = span.spanContext().traceId
    this.span = span
    this.#tracer = tracer
  }

  headers(callId: string): Readonly<Record<string, string>> {
    return headersOf(this.#calls.get(callId) ?? this.span)
  }

  /** The response has ended, or its client has left. */
  answered(request: FastifyRequest, response: ServerResponse): void {
    const { problem, callId } = request as FastifyRequest & SeenByHttp
    const status = response.headersSent ? response.statusCode : undefined
    const error = response.writableFinished ? problem?.reason : 'client_gone'
    this.#callId ??= callId
    this.#answeredMs = this.#now()
    this.span.setAttributes({ 'http.response.status_code': status, 'error.type': error })
    if (status !== undefined && status >= 500) this.span.setStatus({ code: api.SpanStatusCode.ERROR })
    // What was read of the request may become a call although its client has left.
    if (error !== 'client_gone' || this.#calls.size > 0) this.#endIfOver()
    else setTimeout(() => this.#endIfOver(), LATE_MS).unref()
  }

  see(event: CallEvent, callId: string): void {
    const span = this.#calls.get(callId)
    switch (event.type) {
      case 'admitted':
        this.#callId ??= callId
        this.#calls.set(callId, undefined)
        break
      case 'attempt_started':
        this.#startAttempt(event)
        break
      case 'first_text':
        span?.addEvent('first_chunk', this.#now())
        break
      case 'attempt_ended':
        this.#endAttempt(event)
        break
      case 'storing_started':
        this.#start(callId, 'store file', { attributes: { 'trunkline.storage': event.storage } })
        break
      case 'storing_ended':
        this.#end(callId, event.isStored ? undefined : 'not_stored', {
          'trunkline.upload.bytes': event.bytes,
        })
        break
      case 'settled':
        // A stream has answered 200 before its call fails.
        this.span.setAttributes({ 'error.type': event.settled.failure?.reason })
        if (FAILED.has(event.settled.outcome)) this.span.setStatus({ code: api.SpanStatusCode.ERROR })
        this.#calls.delete(callId)
        if (this.#answeredMs !== undefined) this.#answeredMs = this.#now()
        this.#endIfOver()
    }
  }

  #startAttempt(event: Of<'attempt_started' | 'attempt_ended'>): void {
    const { call, attempt, deployment, platform } = event
    const { conversation, queuedMs } = event.type === 'attempt_started' ? event : {}
    const startTime = this.#now() - (event.type === 'attempt_ended' ? event.end.durationMs : 0)
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': platform,
      'gen_ai.agent.id': call.agent,
      'gen_ai.conversation.id': conversation,
      'trunkline.deployment': deployment,
      'trunkline.attempt': attempt,
    }
    const options = { kind: api.SpanKind.CLIENT, startTime, attributes }
    this.#start(call.callId, `invoke_agent ${call.agent}`, options)
    if (attempt > 1 || queuedMs === undefined) return
    const waited = { 'trunkline.queued_ms': Math.round(queuedMs) }
    this.#calls.get(call.callId)?.addEvent('queued', waited, startTime)
  }

  #endAttempt(event: Of<'attempt_ended'>): void {
    const { callId } = event.call
    const { finishReason, model, usage } = event.exchange ?? {}
    // An attempt that failed before its request was sent has no span yet.
    if (this.#calls.get(callId) === undefined) this.#startAttempt(event)
    this.#end(callId, event.failure?.reason, {
      'trunkline.outcome': event.end.outcome,
      'gen_ai.response.model': model,
      'gen_ai.response.finish_reasons': event.isComplete && finishReason ? [finishReason] : undefined,
      'gen_ai.usage.input_tokens': usage?.promptTokens,
      'gen_ai.usage.output_tokens': usage?.completionTokens,
    })
  }

  #start(callId: string, name: string, options: api.SpanOptions): void {
    const parent = api.trace.setSpan(api.ROOT_CONTEXT, this.span)
    const span = this.#tracer.startSpan(name, { startTime: this.#now(), ...options }, parent)
    this.#calls.set(callId, span.setAttribute('trunkline.call_id', callId))
  }

  #end(callId: string, error: string | undefined, attributes: api.Attributes): void {
    const span = this.#calls.get(callId)
    if (span !== undefined) endSpan(span, error, attributes, this.#now())
    this.#calls.set(callId, undefined)
  }

  #endIfOver(): void {
    if (this.#calls.size > 0 || this.#answeredMs === undefined || !this.span.isRecording()) return
    this.span.setAttributes({ 'trunkline.call_id': this.#callId }).end(this.#answeredMs)
  }

  #now(): number {
    return this.#clockOffsetMs + performance.now()
  }
}

type Of<Type extends CallEvent['type']> = Extract<CallEvent, { type: Type }>

/** Attributes that are undefined are left out. */
export function endSpan(
  span: api.Span,
  error: string | undefined,
  more: api.Attributes,
  endTime: number,
): void {
  span.setAttributes({ ...more, 'error.type': error })
  if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR })
  span.end(endTime)
}

/** The headers by which a platform continues the trace below this span. */
export function headersOf(span: api.Span): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  PROPAGATOR.inject(api.trace.setSpan(api.ROOT_CONTEXT, span), headers, api.defaultTextMapSetter)
  return headers
}
