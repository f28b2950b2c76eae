import Type, { type Static } from 'typebox'
import type { History } from '#core/conversations/conversation-history.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { nullable, oneOf, Timestamp, Uuid } from '#http/response/schemas.ts'

const MessageSchema = Type.Object(
  {
    id: Type.String({ description: CONVERSATION_DESCRIPTIONS.messageId }),
    role: oneOf(['user', 'assistant'], CONVERSATION_DESCRIPTIONS.role),
    text: Type.String({ description: CONVERSATION_DESCRIPTIONS.text }),
    files: Type.Array(
      Type.Object({
        url: Type.String({ description: CONVERSATION_DESCRIPTIONS.fileUrl }),
        name: Type.Optional(Type.String({ description: CONVERSATION_DESCRIPTIONS.fileName })),
      }),
      { description: CONVERSATION_DESCRIPTIONS.files },
    ),
    created_at: nullable(Timestamp, CONVERSATION_DESCRIPTIONS.messageAt),
    call_id: nullable(Uuid, CONVERSATION_DESCRIPTIONS.messageCall),
    rating: nullable(oneOf(['up', 'down']), CONVERSATION_DESCRIPTIONS.rating),
  },
  { description: CONVERSATION_DESCRIPTIONS.message },
)

export const ConversationMessagesSchema = Type.Object(
  {
    items: Type.Array(MessageSchema, { description: CONVERSATION_DESCRIPTIONS.items }),
    has_more: Type.Boolean({ description: CONVERSATION_DESCRIPTIONS.hasMore }),
    before: nullable(Type.String(), CONVERSATION_DESCRIPTIONS.before),
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

export function messagesRecord({
  items,
  before,
  isComplete,
}: History): Static<typeof ConversationMessagesSchema> {
  return {
    items: items.map(({ id, role, text, files, createdAt, callId, rating }) => ({
      id,
      role,
      text,
      files: [...files],
      created_at: createdAt?.toISOString() ?? null,
      call_id: callId,
      rating,
    })),
    has_more: before !== null,
    before,
    complete: isComplete,
  }
}
