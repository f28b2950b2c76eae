import type { UpstreamRequest } from '#core/agents/adapter.ts'
import type { Traced } from '#core/requests/request-trace.ts'

/** Sends the trace of a call on to its platform, in the header `traceparent`, if the call is traced. */
export function withTraceparent(
  request: UpstreamRequest,
  call: (Traced & { readonly callId: string }) | undefined,
): UpstreamRequest {
  if (call?.trace === undefined) return request
  return { ...request, headers: { ...request.headers, ...call.trace.headers(call.callId) } }
}
