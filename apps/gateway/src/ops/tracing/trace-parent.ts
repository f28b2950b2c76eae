import type { IncomingHttpHeaders } from 'node:http'
import {
  type Context,
  defaultTextMapGetter,
  type Link,
  ROOT_CONTEXT,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api'
import { addressMatcher } from '#core/limits/address-ranges.ts'
import type { TracedRequest } from './tracing.ts'

/** What a request says of the trace that it belongs to, as far as that counts. */
export interface TraceOrigin {
  readonly parent: Context
  readonly links: Link[] | undefined
}

const NONE: TraceOrigin = { parent: ROOT_CONTEXT, links: undefined }

/**
 * Reads `traceparent`. It is the parent only if a trusted proxy has sent it, since it decides what is recorded; of a stranger it
 * becomes a link, without `tracestate`, which is text of its own choice.
 */
export function originReader(
  propagator: TextMapPropagator,
  trustedProxies: readonly string[],
): (request: Pick<TracedRequest, 'headers' | 'peer'>) => TraceOrigin {
  const isTrusted = addressMatcher(trustedProxies)

  return ({ headers, peer }) => {
    if (headers.traceparent === undefined) return NONE
    const parent = propagator.extract(ROOT_CONTEXT, headersOf(headers), defaultTextMapGetter)
    const named = trace.getSpanContext(parent)
    if (named === undefined) return NONE
    if (peer !== undefined && isTrusted(peer)) return { parent, links: undefined }
    const { traceId, spanId, traceFlags } = named
    return { parent: ROOT_CONTEXT, links: [{ context: { traceId, spanId, traceFlags } }] }
  }
}

function headersOf({ traceparent, tracestate }: IncomingHttpHeaders) {
  return { traceparent, tracestate }
}
