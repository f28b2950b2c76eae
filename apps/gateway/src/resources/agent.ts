import type { AgentFeatures, ConversationFeatures } from '#core/agents/adapter.ts'
import type { AgentInfo, AgentRecord } from '#core/agents/directory.ts'
import { defineResource } from './define/define-resource.ts'
import { flag, localId, nullable, object, objects, text, time, wordList, words } from './define/fields.ts'
import { closed } from './define/vocabulary.ts'
import { AGENT_STATUS } from './deployment-words.ts'

const CONVERSATIONS_OF_AGENT = 'What can be done with the conversations of the agent.'

const CONVERSATION_FEATURES = defineResource<ConversationFeatures>()(
  'ConversationFeatures',
  CONVERSATIONS_OF_AGENT,
  {
    history: flag('Their messages can be read.'),
    rename: flag('They can be given names.'),
    delete: flag('They can be deleted, at the platform as well if it keeps them.'),
    feedback: flag('Answers can be rated.'),
  },
)

const FEATURES = defineResource<AgentFeatures>()('AgentFeatures', 'What an agent supports.', {
  stream: flag('Replies can be streamed.'),
  detail: flag("The platform's progress can be requested with `detail`."),
  files: flag('The agent accepts files.'),
  conversation: flag('The agent can continue a conversation.'),
  usage: flag('The platform reports tokens.'),
  stop: flag('A call can be stopped on the platform before it ends.'),
  conversations: object(CONVERSATION_FEATURES, CONVERSATIONS_OF_AGENT),
})

const NAME = text('The name to show to people.')

const APP = defineResource<AgentInfo['apps'][number]>()('AgentApp', 'An app of an agent.', {
  id: localId('The id of the app among those of the agent, by which a chat names it.'),
  name: NAME,
})

const REQUIRED_FIELD = closed(
  'AgentRequirement',
  ['app_id', 'conversation_id'],
  'A field of a chat request.',
  { app_id: 'The app of the agent.', conversation_id: 'The conversation.' },
)

const DESCRIPTION = 'An agent that can be called.'

const INFO_FIELDS = {
  name: NAME,
  platform: text('The platform on which the agent runs, such as `dify`.'),
  description: text('What the agent does, as its operator describes it.'),
  features: object(FEATURES, 'What the agent supports.'),
  apps: objects(APP, "The agent's apps, as far as they are configured."),
  sandbox: flag('True for an emulator that is part of the gateway, false for a real platform.'),
}

/** An agent without what GraphQL has in words of its own, or reads only when it is selected. */
export const AGENT_INFO = defineResource<AgentInfo>()('Agent', DESCRIPTION, INFO_FIELDS)

export const AGENT = defineResource<AgentRecord>()(
  'Agent',
  DESCRIPTION,
  {
    id: text('The id of the agent: the value of the `Agent` header of a chat.'),
    ...INFO_FIELDS,
    status: words(AGENT_STATUS, 'Whether the agent can serve calls.'),
    statusSince: nullable(
      time(
        'Since when the agent is not `available`, as far as calls and probes have shown it; null if it is, or if that is unknown.',
      ),
    ),
    statusReason: nullable(
      text(
        'Why it is not `available`, as the stable word of an error, such as `agent_unreachable`; null if it is, or if that is unknown.',
      ),
    ),
    requires: wordList(REQUIRED_FIELD, 'The fields of a chat request that must not be empty for this agent.'),
  },
  {
    id: 'fastgpt',
    name: 'FastGPT',
    platform: 'fastgpt',
    description: '',
    features: {
      stream: true,
      detail: true,
      files: true,
      conversation: true,
      usage: true,
      stop: true,
      conversations: { history: true, rename: true, delete: true, feedback: true },
    },
    apps: [],
    sandbox: true,
    status: 'available',
    status_since: null,
    status_reason: null,
    requires: ['app_id'],
  },
)
