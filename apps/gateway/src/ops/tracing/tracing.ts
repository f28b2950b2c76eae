import type { IncomingHttpHeaders } from 'node:http'
import type { CallObserver } from '#core/calls/call-events.ts'
import type { ProcessIdentity } from '#core/ledger/instances.ts'
import type { RequestTrace, Traced } from '#core/requests/request-trace.ts'

/** How traces are recorded and sent. */
export interface TracingSettings {
  /** Where traces are sent. */
  readonly url: string
  readonly timeoutMs: number
  /** One of OpenTelemetry's names. */
  readonly sampler: `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`
  /** For the samplers that trace a share of the requests. */
  readonly ratio: number
  readonly scheduleDelayMs: number
  readonly exportTimeoutMs: number
  readonly queueMax: number
  readonly batchMax: number
  /** The addresses and ranges of proxies whose `traceparent` is the parent of a request. */
  readonly trustedProxies: readonly string[]
}

/** What records the traces of a process. */
export interface Tracing {
  /** Begins the span of a request. */
  request(request: TracedRequest): RequestSpan
  /** Follows the calls whose records have a trace. */
  readonly call: CallObserver
  /** A statement of the ledger has ended. It has a span if one of its calls is traced, which is linked to all of these. */
  ledgerBatch(statement: string, calls: readonly Traced[], ms: number, error?: string): void
  /** Sends what is recorded, for at most so long. Nothing is recorded afterwards. */
  close(timeoutMs: number): Promise<void>
}

/** What the span of a request begins with. */
export interface TracedRequest {
  readonly method: string
  /** The template of its route; undefined for a path that none has. */
  readonly route: string | undefined
  readonly headers: IncomingHttpHeaders
  /** The address of the other end of the connection. */
  readonly peer: string | undefined
}

/** The span of a request. It ends with the last byte of the response, or with the last of the request's calls if that is later. */
export interface RequestSpan extends RequestTrace {
  /** The response has ended, or its client has left. */
  answered(answer: Answer): void
}

/** The error of a request whose client left before the end of the response. */
export const CLIENT_GONE = 'client_gone'

export interface Answer {
  /** Undefined if the client left before the response began. */
  readonly status: number | undefined
  /** The stable word of the error, or {@link CLIENT_GONE}. */
  readonly error: string | undefined
  readonly callId: string | undefined
}

export interface TracingObserver {
  dropped(spans: number): void
  /** The collector takes spans again, or does not take them. */
  collectorAnswers(answers: boolean, error?: unknown): void
}

export interface TracingDeps {
  readonly identity: ProcessIdentity
  readonly observer: TracingObserver
}
