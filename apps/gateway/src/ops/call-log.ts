import type { RunEnd } from '#core/chat/run.ts'
import type { CallInFlight } from '#core/chat/service.ts'

/** The line of a call that failed: what an operator takes to the platform's support, and no word of the chat. */
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
