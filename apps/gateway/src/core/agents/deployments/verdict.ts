import type { Failure } from '#core/agents/events.ts'
export type Verdict = 'failed' | 'credential' | 'works' | 'none'
export function verdictOf({
  failure,
  httpStatus,
}: {
  failure: Failure
  httpStatus: number | undefined
}): Verdict {
  switch (failure.reason) {
    case 'agent_credentials':
    case 'agent_quota':
    case 'agent_rate_limited':
      return 'credential'
    case 'agent_unreachable':
    case 'agent_timeout':
    case 'agent_malformed':
    case 'agent_truncated':
      return 'failed'
    case 'agent_error':
      return (httpStatus ?? failure.platformStatus ?? 200) >= 500 ? 'failed' : 'works'
    default:
      return failure.reason.startsWith('agent_') ? 'works' : 'none'
  }
}
