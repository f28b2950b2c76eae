import type { Agent, UpstreamRequest } from '#core/agents/adapter.ts'
import type { Traced } from '#core/requests/request-trace.ts'

/**
 * Sends the trace of a call on to its platform, in the header `traceparent`, if the entry of the agent asks for that
 * (`propagate`) and the call is traced.
 */
export function withTraceparent(
  request: UpstreamRequest,
  { propagate }: Pick<Agent, 'propagate'>,
  call: (Traced & { readonly callId: string }) | undefined,
): UpstreamRequest {
  if (!propagate || call?.trace === undefined) return request
  return { ...request, headers: { ...request.headers, ...call.trace.headers(call.callId) } }
}
