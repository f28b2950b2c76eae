import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import {
  type Context,
  defaultTextMapGetter,
  type Link,
  ROOT_CONTEXT,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api'
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
  const trusted = new BlockList()
  for (const range of trustedProxies) {
    const [address = '', prefix] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    trusted.addSubnet(address, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family)
  }
  const isTrusted = (peer: string | undefined) =>
    peer !== undefined && trusted.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4')

  return ({ headers, peer }) => {
    if (headers.traceparent === undefined) return NONE
    const parent = propagator.extract(ROOT_CONTEXT, headersOf(headers), defaultTextMapGetter)
    const named = trace.getSpanContext(parent)
    if (named === undefined) return NONE
    if (isTrusted(peer)) return { parent, links: undefined }
    const { traceId, spanId, traceFlags } = named
    return { parent: ROOT_CONTEXT, links: [{ context: { traceId, spanId, traceFlags } }] }
  }
}

function headersOf({ traceparent, tracestate }: IncomingHttpHeaders) {
  return { traceparent, tracestate }
}
