import type { ServerResponse } from 'node:http'
import * as api from '@opentelemetry/api'
import { ExportResultCode } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import * as sdk from '@opentelemetry/sdk-trace'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sleep } from '#core/base/async/sleep.ts'
import type { CallObserver } from '#core/calls/call-events.ts'
import type { ProcessIdentity } from '#core/ledger/instances.ts'
import { addressMatcher } from '#core/limits/address-ranges.ts'
import type { RequestTrace, Traced } from '#core/requests/request-trace.ts'
import { endSpan, headersOf, PROPAGATOR, RequestSpans } from './request-spans.ts'

/** Longer values are cut. None of ours is as long, but a platform may call its model anything. */
const VALUE_CHARACTERS_MAX = 200
/** As many calls as a batch of the ledger may have. */
const LINKS_MAX = 1_000
/** Only these: the files of the console, health and metrics would drown what is of interest. */
const IS_TRACED = /^\/(?:api\/|graphql)/

/** How traces are recorded. The exporter reads how they are sent from the variables of OpenTelemetry. */
export interface TracingSettings {
  /** One of OpenTelemetry's names. */
  readonly sampler: `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`
  /** For the samplers that trace a share of the requests. */
  readonly ratio: number
  /** What waits for the exporter. */
  readonly queue: Omit<sdk.BatchSpanProcessorOptions, 'exporter'>
  /** The addresses and ranges of proxies whose `traceparent` is the parent of a request. */
  readonly trustedProxies: readonly string[]
}

interface TracingDeps {
  readonly identity: ProcessIdentity
  /** Counts spans that were dropped. */
  dropped(spans: number): void
  /** Called after each batch: whether the collector has taken it. */
  readonly sent: (isTaken: boolean, error?: unknown) => void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined where the gateway does not trace. */
    trace: RequestTrace | undefined
  }
}

/** What records the traces of a process. */
export type Tracing = ReturnType<typeof createTracing>

/** Starts tracing. It registers nothing globally, and hands its contexts on as values. */
export function createTracing(
  { sampler, ratio, queue, trustedProxies }: TracingSettings,
  { identity, dropped, sent }: TracingDeps,
  exporter: sdk.SpanExporter = new OTLPTraceExporter(),
) {
  const { id, version } = identity
  const own = { 'service.name': 'trunkline', 'service.version': version, 'service.instance.id': id }
  // The processor counts each span with which it is done, with the type of an error if it was dropped.
  const add = (spans: number, attributes?: api.Attributes) => {
    if (attributes?.['error.type'] !== undefined) dropped(spans)
  }
  const meter = Object.assign(api.createNoopMeter(), { createCounter: () => ({ add }) })
  const processor = new sdk.BatchSpanProcessor({
    ...queue,
    exporter: {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          sent(result.code === ExportResultCode.SUCCESS, result.error)
          done(result)
        }),
      shutdown: () => exporter.shutdown(),
    },
    selfObsMeterProvider: { getMeter: () => meter },
  })
  const tracerWith = (sampler: sdk.Sampler) =>
    new sdk.TracerProvider({
      sampler,
      // The variables take precedence.
      resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [processor],
      spanLimits: { attributeValueLengthLimit: VALUE_CHARACTERS_MAX, linkCountLimit: LINKS_MAX },
    }).getTracer('trunkline', version)
  const ofRequests = tracerWith(samplerOf(sampler, ratio))
  // What is below a request that is sampled, and a batch of the ledger that has a call of such a request, is sampled too.
  const ofSampled = tracerWith(new sdk.AlwaysOnSampler())
  const isTrusted = addressMatcher(trustedProxies)

  /**
   * `traceparent` is the parent only if a trusted proxy has sent it, since it decides what is recorded; of a stranger it becomes a
   * link, without `tracestate`, which is text of its own choice.
   */
  function begin(request: FastifyRequest, response: ServerResponse): RequestTrace {
    const { method, headers, routeOptions, socket } = request
    const { traceparent, tracestate } = headers
    const isParent = isTrusted(socket.remoteAddress ?? '')
    const carrier = isParent ? { traceparent, tracestate } : { traceparent }
    const named = PROPAGATOR.extract(api.ROOT_CONTEXT, carrier, api.defaultTextMapGetter)
    const context = isParent ? undefined : api.trace.getSpanContext(named)
    const options = {
      kind: api.SpanKind.SERVER,
      attributes: { 'http.request.method': method, 'http.route': routeOptions.url },
      links: context === undefined ? [] : [{ context }],
    }
    const name = routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`
    const span = ofRequests.startSpan(name, options, isParent ? named : api.ROOT_CONTEXT)
    if (!span.isRecording()) return notSampled(span)
    const spans = new RequestSpans(span, ofSampled)
    response.once('close', () => spans.answered(request, response))
    return spans
  }

  return {
    /** Begins the span of a request. It must run before what may refuse or log a request. */
    onRequest(request: FastifyRequest, { raw }: FastifyReply, done: () => void): void {
      if (IS_TRACED.test(request.url)) request.trace = begin(request, raw)
      done()
    },
    /** Follows the calls whose records have a trace. */
    call: ((event) => {
      const { call } = event
      if ('trace' in call && call.trace instanceof RequestSpans) call.trace.see(event, call.callId)
    }) satisfies CallObserver,
    /** A statement of the ledger has ended. It has a span if one of its calls is traced, which is linked to all of these. */
    ledgerBatch(statement: string, calls: readonly Traced[], ms: number, error?: string): void {
      const traced = calls.flatMap(({ trace }) => (trace instanceof RequestSpans ? trace.span : []))
      if (traced.length === 0) return
      const endTime = Date.now()
      const links = traced.map((span) => ({ context: span.spanContext() }))
      const options = { startTime: endTime - ms, links }
      const span = ofSampled.startSpan(`ledger ${statement}`, options, api.ROOT_CONTEXT)
      endSpan(span, error, { 'db.operation.batch.size': calls.length }, endTime)
    },
    /** Sends what is recorded, for at most so long. Nothing is recorded afterwards. */
    async close(timeoutMs: number): Promise<void> {
      await Promise.race([processor.shutdown().catch(() => undefined), sleep(timeoutMs)])
    },
  }
}

/** The trace of a request that is not sampled. Only the decision is passed on, to platforms that want it. */
function notSampled(span: api.Span): RequestTrace {
  return { traceId: undefined, headers: () => headersOf(span) }
}

function samplerOf(name: TracingSettings['sampler'], ratio: number): sdk.Sampler {
  const share = name.endsWith('always_on') ? 1 : name.endsWith('always_off') ? 0 : ratio
  const root = new sdk.TraceIdRatioBasedSampler(share)
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root
}
