import type { Logger } from 'pino'
import type { CallObserver, CallRecord, Settled } from '#core/calls/call-events.ts'

/** Logs the calls that failed. */
export function logCalls(log: Pick<Logger, 'warn'>): CallObserver {
  return (event) => {
    if (event.type !== 'settled') return
    const { call, settled } = event
    if (call.kind === 'chat') {
      if (settled.failure !== undefined || settled.cause !== undefined)
        log.warn(callLine(call, settled), 'call failed')
    } else if (settled.outcome === 'upstream_error') log.warn(callLine(call, settled), 'upload failed')
  }
}

/** What the platform's support needs to find a call; neither a chat's content nor the name of a file is in it. */
export function callLine(
  { callId, requestId, agent }: CallRecord,
  settled: Settled,
): Record<string, unknown> {
  const { outcome, failure, cause, bytes, durationMs } = settled
  return {
    call: callId,
    reqId: requestId,
    agent,
    outcome,
    reason: failure?.reason,
    platformStatus: failure?.platformStatus,
    platformCode: failure?.platformCode,
    platformLogId: failure?.platformLogId,
    bytes,
    ms: Math.round(durationMs),
    ...(cause !== undefined && { err: cause }),
  }
}
