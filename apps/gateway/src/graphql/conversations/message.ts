import type { History } from '#core/conversations/conversation-history.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { MESSAGE } from '#resources/conversation-messages.ts'
import { builder } from '../builder.ts'
import { resourceType } from '../resources/resource-type.ts'
import { PAGES_BACKWARDS } from '../serving/pages-in-one-direction.ts'

export const Message = resourceType(MESSAGE)

export const MessageConnection = builder.connectionObject(
  {
    type: Message,
    name: 'MessageConnection',
    extensions: PAGES_BACKWARDS,
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
