import type { RunEnd } from '#core/chat/run.ts'
import type { CallInFlight } from '#core/chat/service.ts'

/** The log line of a failed call: what the platform's support needs to find it, and nothing of the chat's content. */
export function callLine(call: CallInFlight, callId: string, end: RunEnd): Record<string, unknown> {
  const { failure, cause } = end
  return {
    call: callId,
    reqId: call.requestId,
    agent: call.target.id,
    outcome: end.outcome,
    reason: failure?.reason,
    platformStatus: failure?.platformStatus,
    platformCode: failure?.platformCode,
    platformLogId: failure?.platformLogId,
    ms: Math.round(end.durationMs),
    ...(cause !== undefined && { err: cause }),
  }
}
