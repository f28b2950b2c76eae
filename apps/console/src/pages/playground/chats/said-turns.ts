import type { ConversationFieldsFragment, ConversationMessagesQuery } from '../../../generated/graphql.ts'
import { EMPTY_TURN, type Turn } from './turn.ts'

type Messages = NonNullable<NonNullable<ConversationMessagesQuery['conversation']>['messages']>['nodes']

const RATINGS = { UP: 'up', DOWN: 'down' } as const

/** Each question of a conversation with what was answered. An answer whose question is not among the messages is left out. */
export function turnsOf(
  messages: Messages,
  { conversationId, createdAt }: Pick<ConversationFieldsFragment, 'conversationId' | 'createdAt'>,
): readonly Turn[] {
  const turns: Turn[] = []
  // Turns are kept in the order of their times, which not every platform tells.
  let startedAtMs = Date.parse(createdAt)
  for (const { messageId: id, role, text, files, createdAt: at, callId, rating } of messages) {
    const turn = turns.at(-1)
    startedAtMs = Math.max(at === null ? 0 : Date.parse(at), startedAtMs + 1)
    const named = files.map(({ url, name }) => ({ id: url, name: name ?? url, url }))
    const asked = { ...EMPTY_TURN, id, conversationId, query: text, files: named, startedAtMs }
    if (role === 'USER') turns.push({ ...asked, state: 'done' })
    else if (turn !== undefined)
      turns[turns.length - 1] = {
        ...turn,
        text: [turn.text, text].filter((part) => part !== '').join('\n\n'),
        callId: callId ?? turn.callId,
        rating: rating === null ? turn.rating : RATINGS[rating],
        madeFiles: named.map(({ url, name }) => ({ type: 'document', url, name })),
      }
  }
  return turns
}

/** The turns that this browser has, with the steps of each, and those that were said elsewhere. */
export function mergedTurns(own: readonly Turn[], said: readonly Turn[]): readonly Turn[] {
  const isSame = (one: Turn, other: Turn) =>
    one.callId !== undefined && other.callId !== undefined
      ? one.callId === other.callId
      : one.query === other.query && one.text === other.text
  const unseen = said.filter((turn) => !own.some((known) => isSame(known, turn)))
  return [...own, ...unseen].sort((one, other) => one.startedAtMs - other.startedAtMs)
}
