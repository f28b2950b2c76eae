import type { Ledger } from '#core/ledger/ledger.ts'
import type { Settlement } from '#core/ledger/settlement/settlement-row.ts'
import type { CallEvent, CallObserver } from './call-events.ts'

/** Writes the ends of calls to the ledger, which has counted them when it admitted them. */
export function settleCalls(ledger: Pick<Ledger, 'settle'>): CallObserver {
  return (event) => {
    if (event.type === 'settled') ledger.settle(settlementOf(event))
  }
}

function settlementOf({ call, settled }: Extract<CallEvent, { type: 'settled' }>): Settlement {
  const { usage, failure } = settled
  return {
    callId: call.callId,
    trace: call.trace,
    outcome: settled.outcome,
    durationMs: settled.durationMs,
    deployment: settled.deployment,
    attempts: settled.attempts,
    attemptList: settled.attemptList,
    queuedMs: settled.queuedMs,
    model: settled.model,
    firstChunkMs: settled.firstTextMs,
    promptTokens: usage?.promptTokens,
    completionTokens: usage?.completionTokens,
    totalTokens: usage?.totalTokens,
    reason: failure?.reason,
    platformStatus: failure?.platformStatus,
    platformCode: failure?.platformCode,
    platformLogId: failure?.platformLogId,
    hasTurn: settled.hasTurn,
    paused: settled.paused,
    answerId: settled.answerId,
    isListed: call.isListed,
    conversationName: call.conversationName,
  }
}

/** All events to each of these observers, in their order. */
export function eachOf(observers: readonly CallObserver[]): CallObserver {
  return (event) => {
    for (const observe of observers) observe(event)
  }
}
