import Type from 'typebox'
import type { ConversationMessage, History } from '#core/conversations/conversation-history.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { nullable as schemaOrNull } from '#http/response/schemas.ts'
import { RATING } from './call-words.ts'
import { MESSAGE_ROLE } from './conversation-words.ts'
import { defineResource } from './define/define-resource.ts'
import { derivedFrom, id, localId, nullable, objects, text, time, words } from './define/fields.ts'

type File = ConversationMessage['files'][number]

const FILE = defineResource<File>()('MessageFile', 'A file of a message.', {
  url: text('Where the file is.'),
  name: derivedFrom<File>().computed(
    nullable(text('Its name; null if the platform gives none.')),
    ['name'],
    ({ name }) => name ?? null,
  ),
})

export const MESSAGE = defineResource<ConversationMessage>()('Message', 'A message of a conversation.', {
  id: localId('The id of the message, unique within its conversation.'),
  role: words(MESSAGE_ROLE, 'Who said it.'),
  text: text('The text.'),
  files: objects(FILE, 'The files, as the platform names them. Their URLs may expire.'),
  createdAt: nullable(time('When it was said; null where the platform does not tell.')),
  callId: nullable(
    id('The id of the call whose answer it is, where that is known: it can be rated by this id.'),
  ),
  rating: nullable(words(RATING, CONVERSATION_DESCRIPTIONS.rating)),
})

export const ConversationMessagesSchema = Type.Object(
  {
    items: Type.Array(MESSAGE.schema, { description: 'In the order in which they were said.' }),
    has_more: Type.Boolean({ description: 'Whether there are older messages.' }),
    before: schemaOrNull(
      Type.String(),
      'Names the page before this one; null at the beginning of the conversation.',
    ),
    complete: Type.Boolean({ description: CONVERSATION_DESCRIPTIONS.complete }),
  },
  {
    $id: 'ConversationMessages',
    description: CONVERSATION_DESCRIPTIONS.messages,
    examples: [
      {
        items: [
          {
            id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10.1',
            role: 'assistant',
            text: 'To the sea.',
            files: [],
            created_at: '2026-11-20T08:30:00.000Z',
            call_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
            rating: 'up',
          },
        ],
        has_more: false,
        before: null,
        complete: true,
      },
    ],
  },
)

export function messagesRecord({ items, before, isComplete }: History) {
  return { items: items.map(MESSAGE.record), has_more: before !== null, before, complete: isComplete }
}
