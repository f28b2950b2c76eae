import type { Agent, UpstreamRequest } from '#core/agents/adapter.ts'
import type { CallTrace } from '#core/requests/request-trace.ts'

/**
 * Sends the trace of a call on to its platform, in the header `traceparent`, if the entry of the agent asks for that
 * (`propagate`) and the call is traced.
 */
export function withTraceparent(
  request: UpstreamRequest,
  { propagate }: Pick<Agent, 'propagate'>,
  trace: CallTrace | undefined,
): UpstreamRequest {
  if (!propagate || trace === undefined) return request
  return { ...request, headers: { ...request.headers, ...trace.headers() } }
}
