import type { AgentFeatures, ConversationFeatures } from '#core/agents/adapter.ts'
import type { AgentStanding } from '#core/agents/deployments/describe-deployments.ts'
import type { AgentInfo, AgentRecord } from '#core/agents/directory.ts'
import { AGENT_DESCRIPTIONS } from '#http/descriptions/agent-descriptions.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { AGENT_STATUS } from '#resources/deployment-words.ts'
import { builder } from '../builder.ts'
import { callerOf, type GraphqlContext, optionalCallerOf } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import type { ChatFields } from '../streams/chat-request.ts'
import { Node } from './node.ts'

const Conversations = builder.objectRef<ConversationFeatures>('ConversationFeatures').implement({
  description: AGENT_DESCRIPTIONS.conversations,
  fields: (t) => ({
    history: t.exposeBoolean('history', { description: AGENT_DESCRIPTIONS.history }),
    rename: t.exposeBoolean('rename', { description: AGENT_DESCRIPTIONS.rename }),
    delete: t.exposeBoolean('delete', { description: AGENT_DESCRIPTIONS.delete }),
    feedback: t.exposeBoolean('feedback', { description: AGENT_DESCRIPTIONS.feedback }),
  }),
})

const Features = builder.objectRef<AgentFeatures>('AgentFeatures').implement({
  description: 'What an agent supports.',
  fields: (t) => ({
    stream: t.exposeBoolean('stream', { description: AGENT_DESCRIPTIONS.stream }),
    detail: t.exposeBoolean('detail', {
      description: AGENT_DESCRIPTIONS.detail,
    }),
    files: t.exposeBoolean('files', { description: AGENT_DESCRIPTIONS.files }),
    conversation: t.exposeBoolean('conversation', { description: AGENT_DESCRIPTIONS.conversation }),
    usage: t.exposeBoolean('usage', { description: AGENT_DESCRIPTIONS.usage }),
    stop: t.exposeBoolean('stop', {
      description: AGENT_DESCRIPTIONS.stop,
    }),
    conversations: t.expose('conversations', {
      type: Conversations,
      description: AGENT_DESCRIPTIONS.conversations,
    }),
  }),
})

const App = builder.objectRef<AgentInfo['apps'][number]>('AgentApp').implement({
  description: 'An app of an agent.',
  fields: (t) => ({
    appId: t.exposeString('id', {
      description: 'The value of `appId` in a chat: an id among the apps of the agent.',
    }),
    name: t.exposeString('name', { description: AGENT_DESCRIPTIONS.name }),
  }),
})

/** The names in `ChatInput` of what agents may require. */
const INPUT_FIELDS = {
  app_id: 'appId',
  conversation_id: 'conversationId',
} as const satisfies Record<AgentInfo['requires'][number], keyof ChatFields>

export const Agent = builder.objectRef<AgentInfo & Partial<AgentStanding>>('Agent').implement({
  description: AGENT_DESCRIPTIONS.resource,
  interfaces: [Node],
  fields: (t) => ({
    name: t.exposeString('name', { description: AGENT_DESCRIPTIONS.name }),
    platform: t.exposeString('platform', {
      description: AGENT_DESCRIPTIONS.platform,
    }),
    description: t.exposeString('description', {
      description: AGENT_DESCRIPTIONS.description,
    }),
    status: t.field({
      type: vocabularyEnum(AGENT_STATUS),
      description: 'Whether the agent can serve calls.',
      resolve: async (agent, _args, context) => (await standingOf(agent, context)).status,
    }),
    statusSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: AGENT_DESCRIPTIONS.statusSince,
      resolve: async (agent, _args, context) => (await standingOf(agent, context)).statusSince,
    }),
    statusReason: t.string({
      nullable: true,
      description: AGENT_DESCRIPTIONS.statusReason,
      resolve: async (agent, _args, context) => (await standingOf(agent, context)).statusReason,
    }),
    requires: t.stringList({
      description: 'The fields of `ChatInput` that must not be empty for this agent, such as `appId`.',
      resolve: ({ requires }) => requires.map((field) => INPUT_FIELDS[field]),
    }),
    features: t.expose('features', { type: Features, description: AGENT_DESCRIPTIONS.features }),
    apps: t.expose('apps', { type: [App], description: AGENT_DESCRIPTIONS.apps }),
    sandbox: t.exposeBoolean('sandbox', {
      description: AGENT_DESCRIPTIONS.sandbox,
    }),
  }),
})

/** Of the agents of the list it is known already. */
async function standingOf(
  agent: AgentInfo & Partial<AgentStanding>,
  context: GraphqlContext,
): Promise<AgentStanding> {
  if (isListed(agent)) return agent
  return context.services.agents.statusOf(callerOf(context), agent.id)
}

function isListed(agent: AgentInfo & Partial<AgentStanding>): agent is AgentRecord {
  return agent.status !== undefined
}

builder.queryField('agents', (t) =>
  t.field({
    type: [Agent],
    extensions: HAS_OWN_LIMIT,
    nullable: { list: true, items: false },
    description:
      'The agents that you may use. An API key that is restricted to some agents gets only those. Takes an access token or any API key, or no credential where the configuration makes the list public.',
    resolve: (_root, _args, context) =>
      context.services.agents.list(optionalCallerOf(context), context.http.ip, showLimit(context.reply)),
  }),
)
