import Type, { type Static } from 'typebox'
import type { History } from '#core/conversations/conversation-history.ts'
import type { Conversation } from '#core/conversations/conversation-rows.ts'
import { OUTCOMES } from '#core/ledger/call-kinds.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { nullable, oneOf, openOneOf, Timestamp, timestamp, Uuid, uuid } from '#http/response/schemas.ts'

export const ConversationSchema = Type.Object(
  {
    id: uuid(CONVERSATION_DESCRIPTIONS.id),
    conversation: Type.String({ description: CONVERSATION_DESCRIPTIONS.conversation }),
    agent: Type.String({ description: CONVERSATION_DESCRIPTIONS.agent }),
    app: Type.String({ description: CONVERSATION_DESCRIPTIONS.app }),
    owner_id: uuid(CONVERSATION_DESCRIPTIONS.ownerId),
    end_user: Type.String({ description: CONVERSATION_DESCRIPTIONS.endUser }),
    name: nullable(Type.String(), CONVERSATION_DESCRIPTIONS.name),
    created_at: timestamp(CONVERSATION_DESCRIPTIONS.createdAt),
    last_activity_at: timestamp(CONVERSATION_DESCRIPTIONS.lastActivityAt),
    turns: Type.Integer({ description: CONVERSATION_DESCRIPTIONS.turns }),
    last_outcome: nullable(openOneOf(OUTCOMES), CONVERSATION_DESCRIPTIONS.lastOutcome),
    paused: Type.Boolean({ description: CONVERSATION_DESCRIPTIONS.paused }),
  },
  {
    $id: 'ListedConversation',
    description: CONVERSATION_DESCRIPTIONS.resource,
    examples: [
      {
        id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        conversation: 'chat-1',
        agent: 'fastgpt',
        app: 'demo',
        owner_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
        end_user: 'ann',
        name: 'Holiday plans',
        created_at: '2026-11-20T08:30:00.000Z',
        last_activity_at: '2026-11-20T09:02:00.000Z',
        turns: 4,
        last_outcome: 'done',
        paused: false,
      },
    ],
  },
)

export function conversationRecord(conversation: Conversation): Static<typeof ConversationSchema> {
  return {
    id: conversation.id,
    conversation: conversation.conversation,
    agent: conversation.agent,
    app: conversation.app,
    owner_id: conversation.ownerId,
    end_user: conversation.endUser,
    name: conversation.name,
    created_at: conversation.createdAt.toISOString(),
    last_activity_at: conversation.lastActivityAt.toISOString(),
    turns: conversation.turns,
    last_outcome: conversation.lastOutcome,
    paused: conversation.pauseId !== null,
  }
}

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
    feedback: nullable(oneOf(['up', 'down']), CONVERSATION_DESCRIPTIONS.rating),
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
            feedback: 'up',
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
      feedback: rating,
    })),
    has_more: before !== null,
    before,
    complete: isComplete,
  }
}
