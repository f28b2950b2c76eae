import type { PauseAnswer } from '#core/agents/pause.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import type { UnroutedCall } from '#core/calls/request/call.ts'
import type { RequestedAnswer } from '#core/calls/request/chat-request.ts'
import type { Residence } from '#core/calls/routing/residence.ts'
import { isOption, matchAnswer } from './match-answer.ts'
import type { KeptPause, OpenPause, Pauses } from './pauses.ts'

/** A call that goes on from a pause, which its admission is to claim. */
export interface ClaimedPause {
  readonly id: string
  /** The client's id of the conversation of the pause. */
  readonly conversation: string
  readonly residence: Residence
  readonly kept: KeptPause
  /** Undefined if the call gives the pause up. */
  readonly answer: PauseAnswer | undefined
}

interface Meeting {
  readonly call: UnroutedCall
  readonly answer: RequestedAnswer | undefined
  readonly pause: OpenPause
  /** @throws Problem for a value that is no URL of a file which the caller may send */
  requireFile(url: unknown, field: FieldPath): void
}

/**
 * Decides what a call is to the open pause of its conversation: the answer, or undefined for an ordinary call, which is admitted
 * again then, since the pause is gone.
 *
 * @throws Problem `answer_required`, `pause_over`
 */
export async function resolvePause(
  pauses: Pick<Pauses, 'drop'>,
  { call, answer, pause, requireFile }: Meeting,
): Promise<ClaimedPause | undefined> {
  const { conversation } = call
  const isElsewhere = conversation.kind !== 'new' && conversation.id !== pause.conversation
  if (isElsewhere)
    return fail('pause_over', { field: ['answer', 'pause'], detail: 'it belongs to another conversation.' })
  const query = queryOf(call)
  const { kept, isExpired } = pause
  const [first, ...waiting] = kept?.pauses ?? []
  if (kept === undefined || first === undefined || isExpired) {
    await pauses.drop(pause.id)
    const isAnswer =
      answer !== undefined || (first !== undefined && query.trim() !== '' && isOption(first, query))
    return isAnswer
      ? fail('pause_over', {
          detail: isExpired ? 'it has expired.' : 'what it was is not known any more.',
        })
      : undefined
  }
  let said: ReturnType<typeof matchAnswer>
  try {
    said = matchAnswer(first, { query, answer, queryField: queryFieldOf(call), requireFile })
  } catch (error) {
    // It cannot be answered here, and while it is open no other message of the conversation would be admitted.
    if (first.unanswerable !== undefined) await pauses.drop(pause.id)
    throw error
  }
  const { id, conversation: name, deployment, state } = pause
  const claimed = { id, conversation: name, residence: { deployment, state }, kept }
  return { ...claimed, answer: said === 'cancel' ? undefined : { ...said, waiting } }
}

function queryOf({ asks }: UnroutedCall): string {
  return asks.kind === 'question' ? (asks.lastQuery ?? asks.query) : ''
}

function queryFieldOf({ asks }: UnroutedCall): FieldPath {
  return asks.kind === 'question' && asks.lastQuery === undefined ? ['query'] : ['messages']
}
