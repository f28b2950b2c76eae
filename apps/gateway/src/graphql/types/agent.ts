import type { AgentFeatures } from '#core/agents/adapter.ts'
import { AGENT_STATUSES, type AgentInfo, type AgentStatus } from '#core/agents/directory.ts'
import { builder } from '../builder.ts'
import { callerOf, optionalCallerOf } from '../context.ts'
import { enumOf } from '../enum-of.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import { showLimit } from '../serving/show-limit.ts'
import type { ChatFields } from '../streams/start-chat.ts'

const AgentStatusType = enumOf('AgentStatus', AGENT_STATUSES, {
  description: 'The result of a probe of the platform that is a few seconds old.',
  values: {
    available: 'The platform answers.',
    degraded: 'The platform answers, but refuses the credentials of the gateway.',
    unavailable: 'The platform does not answer.',
  },
})

const Features = builder.objectRef<AgentFeatures>('AgentFeatures').implement({
  description: 'What an agent supports.',
  fields: (t) => ({
    stream: t.exposeBoolean('stream', { description: 'Replies can be streamed.' }),
    detail: t.exposeBoolean('detail', {
      description: "The platform's progress can be requested with `detail`.",
    }),
    files: t.exposeBoolean('files', { description: 'The agent accepts files.' }),
    conversation: t.exposeBoolean('conversation', { description: 'The agent can continue a conversation.' }),
    usage: t.exposeBoolean('usage', { description: 'The platform reports tokens.' }),
    stop: t.exposeBoolean('stop', {
      description: 'A call can be stopped on the platform before it ends.',
    }),
  }),
})

const App = builder.objectRef<AgentInfo['apps'][number]>('AgentApp').implement({
  description: 'An app of an agent.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The value of `appId` in a chat.' }),
    name: t.exposeString('name', { description: 'The name to show to people.' }),
  }),
})

/** The names in `ChatInput` of what agents may require. */
const INPUT_FIELDS = {
  app_id: 'appId',
  conversation_id: 'conversationId',
} as const satisfies Record<AgentInfo['requires'][number], keyof ChatFields>

export const Agent = builder.objectRef<AgentInfo & { readonly status?: AgentStatus }>('Agent').implement({
  description: 'An agent that can be called.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the agent, such as `fastgpt`: its name in a chat.' }),
    name: t.exposeString('name', { description: 'The name to show to people.' }),
    platform: t.exposeString('platform', {
      description: 'The platform on which the agent runs, such as `dify`.',
    }),
    description: t.exposeString('description', {
      description: 'What the agent does, as its operator describes it.',
    }),
    status: t.field({
      type: AgentStatusType,
      description: 'Whether the platform answers.',
      resolve: ({ id, status }, _args, context) =>
        status ?? context.services.agents.statusOf(callerOf(context), id),
    }),
    requires: t.stringList({
      description: 'The fields of `ChatInput` that must not be empty for this agent, such as `appId`.',
      resolve: ({ requires }) => requires.map((field) => INPUT_FIELDS[field]),
    }),
    features: t.expose('features', { type: Features, description: 'What the agent supports.' }),
    apps: t.expose('apps', { type: [App], description: "The agent's apps, as far as they are configured." }),
    sandbox: t.exposeBoolean('sandbox', {
      description: 'True for an emulator that is part of the gateway, false for a real platform.',
    }),
  }),
})

builder.queryField('agents', (t) =>
  t.field({
    type: [Agent],
    extensions: HAS_OWN_LIMIT,
    nullable: { list: true, items: false },
    description:
      'The agents that you may use. An API key that is restricted to some agents gets only those. Takes an access token or any API key, or no credential where the configuration makes the list public.',
    resolve: (_root, _args, context) =>
      context.services.agents.list(optionalCallerOf(context), context.http.ip, showLimit(context)),
  }),
)
