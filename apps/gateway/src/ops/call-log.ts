import type { Logger } from 'pino'
import type { CallFollower, CallRecord, EventOf, Settled } from '#core/calls/call-events.ts'
import type { FileNotKept } from '#core/uploads/kept-files/call-files.ts'

type CallLog = Pick<Logger, 'debug' | 'info' | 'isLevelEnabled' | 'warn'>

/** Logs the calls that failed, and each attempt that failed, whether or not another one follows it. */
export function logCalls(log: CallLog): CallFollower {
  return {
    chat: {
      // The line of the call is the warning: a call whose attempt failed may have gone well with the next one.
      attempt_ended(event) {
        if (event.failure !== undefined) log.info(attemptLine(event), 'attempt failed')
        else if (log.isLevelEnabled('debug')) log.debug(attemptLine(event), 'attempt ended')
      },
      fields_refused({ call, deployment, fields }) {
        const setting = `omit: [${fields.join(', ')}]`
        log.warn(
          { ...callIds(call), deployment, fields, setting },
          `the platform refuses fields that the gateway adds: they are left out for an hour, and always with ${setting} in the agent's entry`,
        )
      },
      files_unreachable({ call, deployment }) {
        log.warn(
          { ...callIds(call), deployment, setting: 'filesUrl' },
          "the agent has made files without an address that clients reach: set filesUrl in the agent's entry to where they are",
        )
      },
      reply_noted({ call, deployment, note }) {
        log.info({ ...callIds(call), deployment }, note)
      },
      settled({ call, settled }) {
        if (settled.failure !== undefined || settled.cause !== undefined)
          log.warn(callLine(call, settled), 'call failed')
      },
    },
    upload: {
      settled({ call, settled }) {
        if (settled.outcome === 'upstream_error') log.warn(callLine(call, settled), 'upload failed')
      },
    },
  }
}

function callIds({ callId, requestId, agent }: CallRecord) {
  return { call: callId, reqId: requestId, agent }
}

/** Logs the files of agents that keep the URLs of their platforms although they were to be stored. */
export function logFilesNotKept(log: Pick<Logger, 'warn'>): (file: FileNotKept) => void {
  return ({ callId, agentId, reason, origin, detail, cause }) =>
    log.warn(
      { call: callId, agent: agentId, reason, origin, ...(cause !== undefined && { err: cause }) },
      `a file of the agent was not kept: ${detail}`,
    )
}

function attemptLine({
  call,
  deployment,
  attempt,
  turn,
  failure,
  exchange,
}: EventOf<'attempt_ended'>): Record<string, unknown> {
  return {
    call: call.callId,
    reqId: call.requestId,
    trace_id: call.trace?.traceId,
    agent: call.agent,
    deployment,
    attempt,
    turn,
    reason: failure?.reason,
    platformStatus: failure?.platformStatus,
    platformCode: failure?.platformCode,
    platformLogId: failure?.platformLogId,
    note: failure?.note,
    // A word for the end that the gateway does not know, so that an operator sees new ones.
    unknownFinishWord: exchange?.unknownFinishWord,
  }
}

/** What the platform's support needs to find a call; neither a chat's content nor the name of a file is in it. */
export function callLine(
  { callId, requestId, agent, trace }: CallRecord,
  settled: Settled,
): Record<string, unknown> {
  const { outcome, deployment, attempts, queuedMs, failure, cause, bytes, durationMs } = settled
  return {
    call: callId,
    reqId: requestId,
    trace_id: trace?.traceId,
    agent,
    deployment,
    attempts,
    outcome,
    reason: failure?.reason,
    platformStatus: failure?.platformStatus,
    platformCode: failure?.platformCode,
    platformLogId: failure?.platformLogId,
    note: failure?.note,
    bytes,
    queuedMs: queuedMs === undefined ? undefined : Math.round(queuedMs),
    ms: Math.round(durationMs),
    ...(cause !== undefined && { err: cause }),
  }
}
