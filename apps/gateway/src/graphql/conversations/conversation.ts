import { PAGE_ITEMS_DEFAULT } from '#core/requests/input/pagination.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { CONVERSATION, CONVERSATIONS, VISIBLE_CONVERSATIONS } from '#resources/conversation.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { foundOr } from '../reads/found-or.ts'
import { cursorConnection } from '../reads/ordered-connection.ts'
import { TOTAL_COUNT } from '../reads/total-count.ts'
import { conditionsIn, filterInput } from '../resources/list-field.ts'
import { resourceType } from '../resources/resource-type.ts'
import { Call } from '../types/call.ts'
import { OPEN_QUESTION, Pause } from '../types/chat/chat-pause.ts'
import { UsageGroup } from '../types/usage.ts'
import { Message, MessageConnection } from './message.ts'

export const Conversation = resourceType(
  CONVERSATION,
  (t) => ({
    pause: t.field({
      type: Pause,
      nullable: true,
      description: `${OPEN_QUESTION} Null if there is none, or if it is not yours to answer.`,
      resolve: ({ pauseId }, _args, { loaders }) => (pauseId === null ? null : loaders.pause(pauseId)),
    }),
    messages: t.connection(
      {
        type: Message,
        nullable: true,
        description: `${CONVERSATION_DESCRIPTIONS.messages} Pages go backwards only. Where the platform of its agent keeps them, it is asked for each conversation; if it does not answer, this field alone is null, with the error. Takes one point of the limit for reports.`,
        resolve: async ({ id }, { last, before }, context) => {
          const page = { limit: last ?? PAGE_ITEMS_DEFAULT, before: before ?? undefined }
          const { services, signal, reply } = context
          const caller = callerOf(context)
          const history = await services.conversations.messages(caller, id, page, showLimit(reply), signal)
          const edges = history.items.map((node, n) => ({
            node,
            cursor: (n === 0 && history.before) || node.id,
          }))
          return {
            edges,
            pageInfo: {
              startCursor: edges[0]?.cursor ?? null,
              endCursor: edges.at(-1)?.cursor ?? null,
              hasPreviousPage: history.before !== null,
              hasNextPage: before != null,
            },
            isComplete: history.isComplete,
          }
        },
      },
      MessageConnection,
    ),
  }),
  { isNode: true },
)

builder.prismaObjectField(Call, 'conversation', (t) =>
  t.field({
    type: Conversation,
    nullable: true,
    description:
      'The conversation of a chat; null if it is not listed, was deleted since or is not yours to see. It is listed within a second of the end of its first call.',
    select: { id: true },
    resolve: ({ id }, _args, { loaders }) => loaders.conversationOfCall(id),
  }),
)

builder.objectField(UsageGroup, 'conversation', (t) =>
  t.field({
    type: Conversation,
    nullable: true,
    description:
      'The conversation, if the report is grouped by `CONVERSATION`; null if it was deleted since or is not yours to see.',
    resolve: ({ entry: { group } }, _args, { loaders }) =>
      group.conversation === undefined ? null : loaders.conversation(group.conversation),
  }),
)

const ConversationConnection = builder.connectionObject(
  {
    type: Conversation,
    name: 'ConversationConnection',
    description: 'A page of conversations.',
    fields: (t) => ({ totalCount: t.int(TOTAL_COUNT) }),
  },
  { name: 'ConversationEdge', description: 'A conversation and its place in the list.' },
)

const ConversationFilter = filterInput(
  'ConversationFilter',
  'Which conversations to list.',
  CONVERSATIONS.conditions,
)

export const TAKES = 'Takes an access token, or an API key with the permission `CHAT` or `ADMIN`.'

builder.queryFields((t) => ({
  conversations: t.connection(
    {
      type: Conversation,
      nullable: true,
      description: `Lists conversations, the most recently used first. ${VISIBLE_CONVERSATIONS} ${TAKES}`,
      args: { filter: t.arg({ type: ConversationFilter, description: 'Which conversations to list.' }) },
      resolve: (_root, { filter, ...page }, context, info) => {
        const { services, signal } = context
        const input = conditionsIn(CONVERSATIONS.conditions, filter)
        const caller = callerOf(context)
        return cursorConnection(page, info, {
          read: (query) => services.conversations.list(caller, { ...query, signal }, input),
          count: () => services.conversations.count(caller, input, signal),
        })
      },
    },
    ConversationConnection,
  ),
  conversation: t.field({
    type: Conversation,
    nullable: true,
    description: `The conversation with this id. ${VISIBLE_CONVERSATIONS} ${TAKES}`,
    args: { id: t.arg.id({ required: true, description: CONVERSATION.fields.id.description }) },
    resolve: (_root, { id }, { loaders }) => foundOr(loaders.conversation(id), 'conversation_not_found'),
  }),
}))
