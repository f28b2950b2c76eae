import type { ConversationMessage, History } from '#core/conversations/conversation-history.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { RATING } from '#resources/call-words.ts'
import { MESSAGE_ROLE } from '#resources/conversation-words.ts'
import { builder } from '../builder.ts'
import { vocabularyEnum } from '../enum-of.ts'

const MessageFile = builder.objectRef<ConversationMessage['files'][number]>('MessageFile').implement({
  description: 'A file of a message.',
  fields: (t) => ({
    url: t.exposeString('url', { description: CONVERSATION_DESCRIPTIONS.fileUrl }),
    name: t.exposeString('name', { nullable: true, description: CONVERSATION_DESCRIPTIONS.fileName }),
  }),
})

export const Message = builder.objectRef<ConversationMessage>('Message').implement({
  description: CONVERSATION_DESCRIPTIONS.message,
  fields: (t) => ({
    messageId: t.exposeString('id', { description: CONVERSATION_DESCRIPTIONS.messageId }),
    role: t.expose('role', {
      type: vocabularyEnum(MESSAGE_ROLE),
      description: CONVERSATION_DESCRIPTIONS.role,
    }),
    text: t.exposeString('text', { description: CONVERSATION_DESCRIPTIONS.text }),
    files: t.field({
      type: [MessageFile],
      description: CONVERSATION_DESCRIPTIONS.files,
      resolve: ({ files }) => [...files],
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: CONVERSATION_DESCRIPTIONS.messageAt,
    }),
    callId: t.exposeID('callId', { nullable: true, description: CONVERSATION_DESCRIPTIONS.messageCall }),
    rating: t.expose('rating', {
      type: vocabularyEnum(RATING),
      nullable: true,
      description: CONVERSATION_DESCRIPTIONS.rating,
    }),
  }),
})

export const MessageConnection = builder.connectionObject(
  {
    type: Message,
    name: 'MessageConnection',
    description: CONVERSATION_DESCRIPTIONS.messages,
    fields: (t) => ({
      isComplete: t.boolean({
        description: CONVERSATION_DESCRIPTIONS.complete,
        resolve: (connection) => (connection as unknown as Pick<History, 'isComplete'>).isComplete,
      }),
    }),
  },
  { name: 'MessageEdge', description: 'A message and its place in the conversation.' },
)
