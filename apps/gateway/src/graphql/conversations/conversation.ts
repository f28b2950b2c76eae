import type { Conversation as ListedConversation } from '#core/conversations/conversation-rows.ts'
import { OUTCOMES } from '#core/ledger/call-kinds.ts'
import { PAGE_ITEMS_DEFAULT } from '#core/requests/input/pagination.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { knownOrOther } from '../enum-of.ts'
import { foundOr } from '../reads/found-or.ts'
import { cursorConnection } from '../reads/ordered-connection.ts'
import { relatedQuery } from '../reads/related-query.ts'
import { TOTAL_COUNT } from '../reads/total-count.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { Agent } from '../types/agent.ts'
import { Call } from '../types/call.ts'
import { CallOutcome } from '../types/call-outcome.ts'
import { OPEN_QUESTION, Pause } from '../types/chat/chat-pause.ts'
import { Node } from '../types/node.ts'
import { UsageGroup } from '../types/usage.ts'
import { User } from '../types/user.ts'
import { Message, MessageConnection } from './message.ts'

export const Conversation = builder.objectRef<ListedConversation>('Conversation').implement({
  description: CONVERSATION_DESCRIPTIONS.resource,
  interfaces: [Node],
  fields: (t) => ({
    conversationId: t.exposeString('conversation', { description: CONVERSATION_DESCRIPTIONS.conversation }),
    agentId: t.exposeString('agent', { description: CONVERSATION_DESCRIPTIONS.agent }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The agent; null if it is not configured any more or your key may not use it.',
      resolve: ({ agent }, _args, { loaders }) => loaders.agent(agent),
    }),
    appId: t.exposeString('app', { description: CONVERSATION_DESCRIPTIONS.app }),
    ownerId: t.exposeID('ownerId', { description: CONVERSATION_DESCRIPTIONS.ownerId }),
    owner: t.field({
      type: User,
      nullable: true,
      description: 'The user whom the API keys of its calls belong to; null if it is not yours to see.',
      resolve: ({ ownerId }, _args, context, info) =>
        context.loaders.user(ownerId, relatedQuery(context, info)),
    }),
    endUser: t.exposeString('endUser', { description: CONVERSATION_DESCRIPTIONS.endUser }),
    name: t.exposeString('name', { nullable: true, description: CONVERSATION_DESCRIPTIONS.name }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: CONVERSATION_DESCRIPTIONS.createdAt }),
    lastActivityAt: t.expose('lastActivityAt', {
      type: 'DateTime',
      description: CONVERSATION_DESCRIPTIONS.lastActivityAt,
    }),
    turns: t.exposeInt('turns', { description: CONVERSATION_DESCRIPTIONS.turns }),
    lastOutcome: t.field({
      type: CallOutcome,
      nullable: true,
      description: CONVERSATION_DESCRIPTIONS.lastOutcome,
      resolve: ({ lastOutcome }) => (lastOutcome === null ? null : knownOrOther(OUTCOMES, lastOutcome)),
    }),
    isPaused: t.boolean({
      description: CONVERSATION_DESCRIPTIONS.paused,
      resolve: ({ pauseId }) => pauseId !== null,
    }),
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
})

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

const ConversationFilter = builder.inputType('ConversationFilter', {
  description: 'Which conversations to list. All conditions must hold.',
  fields: (t) => ({
    agentId: t.string({ description: CONVERSATION_DESCRIPTIONS.ofAgent }),
    appId: t.string({ description: CONVERSATION_DESCRIPTIONS.ofApp }),
    endUser: t.string({ description: CONVERSATION_DESCRIPTIONS.ofUser }),
    conversationId: t.string({ description: CONVERSATION_DESCRIPTIONS.ofConversation }),
    ownerId: t.id({ description: CONVERSATION_DESCRIPTIONS.ofOwner }),
    search: t.string({ description: CONVERSATION_DESCRIPTIONS.search }),
  }),
})

export const TAKES = 'Takes an access token, or an API key with the permission `CHAT` or `ADMIN`.'

builder.queryFields((t) => ({
  conversations: t.connection(
    {
      type: Conversation,
      nullable: true,
      description: `Lists conversations, the most recently used first. ${CONVERSATION_DESCRIPTIONS.visible} ${TAKES}`,
      args: { filter: t.arg({ type: ConversationFilter, description: 'Which conversations to list.' }) },
      resolve: (_root, { filter, ...page }, context, info) => {
        const { services, signal } = context
        const { agentId, appId, conversationId, ...others } = withoutNulls(filter) ?? {}
        const input = { agent: agentId, app: appId, conversation: conversationId, ...others }
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
    description: `The conversation with this id. ${CONVERSATION_DESCRIPTIONS.visible} ${TAKES}`,
    args: { id: t.arg.id({ required: true, description: CONVERSATION_DESCRIPTIONS.id }) },
    resolve: (_root, { id }, { loaders }) => foundOr(loaders.conversation(id), 'conversation_not_found'),
  }),
}))
