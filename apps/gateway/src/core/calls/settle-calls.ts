import { CALL_KINDS } from '#core/ledger/call-kinds.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import type { CallFollower, CallObserver, EventOf } from './call-events.ts'

/** Writes the ends of calls to the ledger, which has counted them when it admitted them. */
export function settleCalls(ledger: Pick<Ledger, 'settle'>): CallFollower {
  const settled = ({ call, settled: end }: EventOf<'settled'>) => {
    const { usage, failure } = end
    ledger.settle({
      callId: call.callId,
      trace: call.trace,
      outcome: end.outcome,
      durationMs: end.durationMs,
      deployment: end.deployment,
      attempts: end.attempts,
      attemptList: end.attemptList,
      queuedMs: end.queuedMs,
      model: end.model,
      firstChunkMs: end.firstTextMs,
      promptTokens: usage?.promptTokens,
      completionTokens: usage?.completionTokens,
      totalTokens: usage?.totalTokens,
      reason: failure?.reason,
      platformStatus: failure?.platformStatus,
      platformCode: failure?.platformCode,
      platformLogId: failure?.platformLogId,
      hasTurn: end.hasTurn,
      paused: end.paused,
      answerId: end.answerId,
      isListed: call.isListed,
      conversationName: call.conversationName,
    })
  }
  return { chat: { settled }, upload: { settled } }
}

/** Calls at each step of a call the followers of its kind that have something to do there, in their order. */
export function followCalls(followers: readonly CallFollower[]): CallObserver {
  const steps = { chat: new Map<string, CallObserver[]>(), upload: new Map<string, CallObserver[]>() }
  for (const kind of CALL_KINDS) {
    for (const [type, take] of followers.flatMap((follower) => Object.entries(follower[kind] ?? {})))
      steps[kind].set(type, [...(steps[kind].get(type) ?? []), take as CallObserver])
  }
  return (event) => {
    for (const take of steps[event.call.kind].get(event.type) ?? NONE) take(event)
  }
}

const NONE: readonly CallObserver[] = []
