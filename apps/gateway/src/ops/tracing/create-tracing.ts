import { type Link, ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Traced } from '#core/requests/request-trace.ts'
import { CONVENTIONAL, SPANS } from './names.ts'
import { CallSpans, RequestSpans, TreeClock } from './request-spans.ts'
import { samplerOf } from './sampler.ts'
import { SpanQueue } from './span-queue.ts'
import { originReader } from './trace-parent.ts'
import type { Tracing, TracingDeps, TracingSettings } from './tracing.ts'

/** Longer values are cut. None of ours is as long, but a platform may call its model anything. */
const VALUE_CHARACTERS_MAX = 200
/** As many calls as a batch of the ledger may have. */
const LINKS_MAX = 1_000

/** Starts tracing. It registers nothing globally, and hands its contexts on as values. */
export function createTracing(
  config: TracingSettings,
  { identity, observer }: TracingDeps,
  exporter: SpanExporter = new OTLPTraceExporter({ url: config.url, timeoutMillis: config.timeoutMs }),
): Tracing {
  const queue = new SpanQueue(exporter, config, observer)
  const own = resourceFromAttributes({
    [CONVENTIONAL.serviceName]: 'trunkline',
    [CONVENTIONAL.serviceVersion]: identity.version,
    [CONVENTIONAL.serviceInstance]: identity.id,
  })
  const provider = new TracerProvider({
    sampler: samplerOf(config),
    // The variables take precedence.
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [queue],
    spanLimits: { attributeValueLengthLimit: VALUE_CHARACTERS_MAX, linkCountLimit: LINKS_MAX },
  })
  const deps = {
    tracer: provider.getTracer('trunkline', identity.version),
    propagator: new W3CTraceContextPropagator(),
  }
  const originOf = originReader(deps.propagator, config.trustedProxies)

  return {
    request({ method, route, headers, peer }) {
      const clock = new TreeClock()
      const { parent, links } = originOf({ headers, peer })
      const span = deps.tracer.startSpan(
        SPANS.request(method, route),
        {
          kind: SpanKind.SERVER,
          startTime: clock.now(),
          attributes: {
            [CONVENTIONAL.method]: method,
            ...(route !== undefined && { [CONVENTIONAL.route]: route }),
          },
          ...(links !== undefined && { links }),
        },
        parent,
      )
      return new RequestSpans(deps, span, clock)
    },
    call(event) {
      if (event.type === 'limited' || event.type === 'tools_ignored' || event.type === 'history_left_out')
        return
      const { trace } = event.call
      if (trace instanceof CallSpans && trace.request.isRecorded) trace.see(event)
    },
    ledgerBatch(statement, calls, ms, error) {
      const links = linksTo(calls)
      if (links.length === 0) return
      const endTime = new TreeClock().now()
      const span = deps.tracer.startSpan(
        SPANS.batch(statement),
        {
          kind: SpanKind.INTERNAL,
          startTime: endTime - ms,
          attributes: { [CONVENTIONAL.batchSize]: calls.length },
          links,
        },
        ROOT_CONTEXT,
      )
      if (error !== undefined) {
        span.setAttribute(CONVENTIONAL.error, error)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end(endTime)
    },
    close: (timeoutMs) => queue.close(timeoutMs),
  }
}

function linksTo(calls: readonly Traced[]): Link[] {
  const links: Link[] = []
  for (const { trace } of calls) {
    if (trace instanceof CallSpans && trace.traceId !== undefined)
      links.push({ context: trace.request.spanContext })
  }
  return links
}
