import type { AgentStanding } from '#core/agents/deployments/describe-deployments.ts'
import type { AgentInfo, AgentRecord } from '#core/agents/directory.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { AGENT, AGENT_INFO } from '#resources/agent.ts'
import { AGENT_STATUS } from '#resources/deployment-words.ts'
import { builder } from '../builder.ts'
import { callerOf, type GraphqlContext, optionalCallerOf } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { resourceType } from '../resources/resource-type.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import type { ChatFields } from '../streams/chat-request.ts'

/** The names in `ChatInput` of what agents may require. */
const INPUT_FIELDS = {
  app_id: 'appId',
  conversation_id: 'conversationId',
} as const satisfies Record<AgentInfo['requires'][number], keyof ChatFields>

export const Agent = resourceType<AgentInfo & Partial<AgentStanding>>(
  AGENT_INFO,
  (t) => ({
    status: t.field({
      type: vocabularyEnum(AGENT_STATUS),
      description: AGENT.fields.status.description,
      resolve: async (agent, _args, context) => (await standingOf(agent, context)).status,
    }),
    statusSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: AGENT.fields.statusSince.description,
      resolve: async (agent, _args, context) => (await standingOf(agent, context)).statusSince,
    }),
    statusReason: t.string({
      nullable: true,
      description: AGENT.fields.statusReason.description,
      resolve: async (agent, _args, context) => (await standingOf(agent, context)).statusReason,
    }),
    requires: t.stringList({
      description: 'The fields of `ChatInput` that must not be empty for this agent, such as `appId`.',
      resolve: ({ requires }) => requires.map((field) => INPUT_FIELDS[field]),
    }),
  }),
  { isNode: true },
)

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
