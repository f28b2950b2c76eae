import type { RunEnd } from '#core/chat/run.ts'
import type { CallInFlight } from '#core/chat/service.ts'
import type { UploadEnd } from '#core/uploads/receive-upload.ts'

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

/** The log line of an upload that the storage or the gateway failed; the name of the file is not in it. */
export function uploadLine(end: UploadEnd): Record<string, unknown> {
  const { callId, requestId, agent, outcome, problem, bytes, durationMs } = end
  return {
    call: callId,
    reqId: requestId,
    agent,
    outcome,
    reason: problem?.reason,
    bytes,
    ms: Math.round(durationMs),
    ...(problem?.cause !== undefined && { err: problem.cause }),
  }
}
