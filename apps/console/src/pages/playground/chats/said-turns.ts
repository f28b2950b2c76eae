import type { Pause } from '@trunkline/sdk'
import type { ConversationMessagesQuery, PauseFieldsFragment } from '../../../generated/graphql.ts'
import { EMPTY_TURN, type Turn } from './turn.ts'

type Messages = NonNullable<NonNullable<ConversationMessagesQuery['conversation']>['messages']>['nodes']

const RATINGS = { UP: 'up', DOWN: 'down' } as const

/**
 * Each question of a conversation with what was answered. An answer whose question is not among the messages is left out.
 *
 * @param pause the question of the agent that is open
 * @param unfinished the turn whose reply was being read when the page was left
 */
export function turnsOf(messages: Messages, pause?: Pause, unfinished?: Turn): readonly Turn[] {
  const turns: Turn[] = []
  for (const { messageId: id, role, text, files, callId, rating } of messages) {
    const turn = turns.at(-1)
    const named = files.map(({ url, name }) => ({ id: url, name: name ?? url, url }))
    if (role === 'USER') turns.push({ ...EMPTY_TURN, id, query: text, files: named, state: 'done' })
    else if (turn !== undefined)
      turns[turns.length - 1] = {
        ...turn,
        text: [turn.text, text].filter((part) => part !== '').join('\n\n'),
        callId: callId ?? turn.callId,
        rating: rating === null ? turn.rating : RATINGS[rating],
        madeFiles: named.map(({ url, name }) => ({ type: 'document', url, name })),
      }
  }
  if (unfinished !== undefined) {
    const last = turns.at(-1)
    // The platform may have its question already.
    if (last?.callId === undefined ? last?.query === unfinished.query : last.callId === unfinished.callId)
      turns.pop()
    turns.push(unfinished)
  } else if (pause !== undefined) {
    const last = turns.at(-1)
    // Not every platform shows the message at which a run waits, or its question.
    const isLast = last?.callId === pause.id || last?.text === '' || last?.text.includes(pause.question)
    const asking = (isLast && turns.pop()) || { ...EMPTY_TURN, id: pause.id }
    turns.push({ ...asking, state: 'done', text: asking.text || pause.question, callId: pause.id, pause })
  }
  return turns
}

/** A question as replies have it. */
export function pauseOf({ pauseId, question, options, fields, expiresAt }: PauseFieldsFragment): Pause {
  return {
    id: pauseId,
    question,
    options: options.map(({ optionId: id, title }) => ({ id, title })),
    fields: fields.map(({ label, type, default: preset, ...field }) => ({
      ...field,
      type: type.toLowerCase().replace('_', '-'),
      ...(label !== null && { label }),
      ...(preset !== null && { default: preset }),
    })) as Pause['fields'],
    ...(expiresAt !== null && { expires_at: expiresAt }),
  }
}
