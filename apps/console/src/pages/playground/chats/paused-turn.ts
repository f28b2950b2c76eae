import { TrunklineError } from '@trunkline/sdk'
import type { Turn } from './turn.ts'

/** The turn whose question waits for an answer: only messages that have not arrived came after it, at least not yet. */
export function pausedTurn(turns: readonly Turn[]): Turn | undefined {
  const index = turns.findLastIndex(({ pause }) => pause !== undefined)
  return turns.slice(index + 1).every(hasNotArrived) ? turns[index] : undefined
}

/** Whether a message was refused because of the question before it, so that nothing was sent to the agent. */
export function isRefusedAnswer(error: unknown): error is TrunklineError {
  return error instanceof TrunklineError && (error.reason === 'answer_required' || isOver(error))
}

/** Whether a refusal says that the question can no longer be answered. */
export function isOver({ reason }: TrunklineError): boolean {
  return reason === 'pause_over'
}

function hasNotArrived({ state, text }: Turn): boolean {
  return text === '' && ['waiting', 'failed', 'missing'].includes(state)
}
