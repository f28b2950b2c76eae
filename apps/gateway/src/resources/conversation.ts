import type { ConversationFilter } from '#core/conversations/conversation-filter.ts'
import type { Conversation } from '#core/conversations/conversation-rows.ts'
import { SEARCH_LENGTH_MAX } from '#core/lists/search.ts'
import { CALL_OUTCOME } from './call-words.ts'
import { byName, byText, byUser, type ConditionsOf, type ListDefinition } from './define/define-list.ts'
import { defineResource } from './define/define-resource.ts'
import { agent, count, flag, id, name, nullable, text, time, user, words } from './define/fields.ts'

export const CONVERSATION = defineResource<Conversation>()(
  'Conversation',
  'A conversation of an end user with an agent and its app. It is listed within a second after its first call has ended, and as long after its last use as `conversations.mappingRetentionDays` says.',
  {
    id: id('The id of the conversation, made by the gateway.'),
    conversation: name(
      'The id by which the client names the conversation: `chat_id`, `conversation_id` or `X-Conversation-Id` of its calls. The same id of another user, end user, agent or app is another conversation.',
    ),
    agent: agent(
      'The id of the agent.',
      'The agent; null if it is not configured any more or your key may not use it.',
    ),
    app: name('The id of the app of the agent; empty if there is none.'),
    ownerId: user(
      'The id of the user whom the API keys of its calls belong to.',
      'The user whom the API keys of its calls belong to; null if it is not yours to see.',
    ),
    endUser: text('The end user that the calls named; empty if they named none.'),
    name: nullable(text('The name; null as long as nobody has named it.')),
    createdAt: time('When its first call was admitted, as far as conversations were listed at that time.'),
    lastActivityAt: time('When its last call ended, accurate to a minute.'),
    turns: count('The complete answers, as far as the ledger still has their calls; counted up to 1,000.'),
    lastOutcome: nullable(
      words(
        CALL_OUTCOME,
        'How its last call ended; null while that is running, and once the ledger has no call of it any more.',
      ),
    ),
    paused: flag('Whether a run waits for its user.'),
  },
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
)

export const VISIBLE_CONVERSATIONS =
  'An API key that may chat sees those of its owner with the agents that it may use, a user its own, and administrators all. A request that a trusted proxy has bound to an end user sees those of that one alone.'

const TEXT_LENGTH_MAX = 256

export const CONVERSATIONS: ListDefinition<Conversation> = {
  of: CONVERSATION,
  path: 'conversations',
  operationId: 'listConversations',
  summary: 'List conversations',
  description: `Returns conversations, the most recently used first. ${VISIBLE_CONVERSATIONS} The CSV format returns all of them at once, without pages.`,
  conditions: {
    agent: byName('Only conversations with this agent.', TEXT_LENGTH_MAX),
    app: byName('Only conversations with this app; empty for those without one.', TEXT_LENGTH_MAX),
    endUser: byText('Only conversations of this end user; empty for those without one.', TEXT_LENGTH_MAX),
    conversation: byName('Only conversations that the client names by this id.', TEXT_LENGTH_MAX),
    ownerId: byUser('Only conversations of this user. Only administrators see those of others.'),
    search: byText(
      'Only conversations with this in their name, in the id of the client or in the end user, without regard to case. Every character stands for itself. A blank text selects all.',
      SEARCH_LENGTH_MAX,
    ),
  } satisfies ConditionsOf<ConversationFilter>,
}
