import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AGENT_STATUSES } from '#core/agents/deployments/probes.ts'
import type { AgentRecord } from '#core/agents/directory.ts'
import type { Services } from '#core/services/services.ts'
import { AGENT_DESCRIPTIONS } from '#http/descriptions/agent-descriptions.ts'
import {
  ANY_PROBLEMS,
  callerOf,
  MANAGER_PROBLEMS,
  managerOnly,
  optionalPrincipal,
} from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, nullable, oneOf, page, problems, ref, success, Timestamp } from '#http/response/schemas.ts'
import { AGENT_DEPLOYMENT } from '#resources/agent-deployment.ts'

export function agentRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'agents' | 'authentication' | 'reads'>,
  platforms: readonly string[],
): void {
  const agent = agentSchema(platforms)
  app.addSchema(agent)

  const onRequest = optionalPrincipal(services)
  const response = { ...listSchema.response, 200: envelope(page(ref(agent))) }
  const schema = { ...listSchema, response }
  const listing = { schema, config: { anonymousNeedsNoDatabase: true }, onRequest }
  app.get('/api/v1/agents', listing, async ({ principal, ip }, reply) => {
    const items = await services.agents.list(principal, ip, showLimit(reply))
    return success({ items: items.map(agentRecord), next_cursor: null })
  })

  app.addSchema(AGENT_DEPLOYMENT.schema)
  const reading = { schema: deploymentsSchema, onRequest: managerOnly(services), ...smallRead(services) }
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  routes.get('/api/v1/agents/:id/deployments', reading, async (request) => {
    const deployments = await services.agents.deploymentsOf(callerOf(request), request.params.id)
    return success({ items: deployments.map(AGENT_DEPLOYMENT.record), next_cursor: null })
  })
}

function agentRecord({ statusSince: since, statusReason: reason, ...agent }: AgentRecord) {
  return {
    ...agent,
    status_since: since?.toISOString() ?? null,
    status_reason: reason,
  }
}

function agentSchema(platforms: readonly string[]) {
  return Type.Object(
    {
      id: Type.String({ description: 'The id of the agent: the value of the `Agent` header of a chat.' }),
      name: Type.String({ description: AGENT_DESCRIPTIONS.name }),
      platform: oneOf(platforms, AGENT_DESCRIPTIONS.platform),
      description: Type.String({ description: AGENT_DESCRIPTIONS.description }),
      status: oneOf(AGENT_STATUSES, AGENT_DESCRIPTIONS.status),
      status_since: nullable(Timestamp, AGENT_DESCRIPTIONS.statusSince),
      status_reason: nullable(Type.String(), AGENT_DESCRIPTIONS.statusReason),
      requires: Type.Array(oneOf(['app_id', 'conversation_id']), {
        description: 'The fields of a chat request that must not be empty for this agent.',
      }),
      features: Type.Object(
        {
          stream: Type.Boolean({ description: AGENT_DESCRIPTIONS.stream }),
          detail: Type.Boolean({ description: AGENT_DESCRIPTIONS.detail }),
          files: Type.Boolean({ description: AGENT_DESCRIPTIONS.files }),
          conversation: Type.Boolean({ description: AGENT_DESCRIPTIONS.conversation }),
          usage: Type.Boolean({ description: AGENT_DESCRIPTIONS.usage }),
          stop: Type.Boolean({ description: AGENT_DESCRIPTIONS.stop }),
          conversations: Type.Object(
            {
              history: Type.Boolean({ description: AGENT_DESCRIPTIONS.history }),
              rename: Type.Boolean({ description: AGENT_DESCRIPTIONS.rename }),
              delete: Type.Boolean({ description: AGENT_DESCRIPTIONS.delete }),
              feedback: Type.Boolean({ description: AGENT_DESCRIPTIONS.feedback }),
            },
            { description: AGENT_DESCRIPTIONS.conversations },
          ),
        },
        { description: AGENT_DESCRIPTIONS.features },
      ),
      apps: Type.Array(
        Type.Object({
          id: Type.String({ description: 'The value of `app_id` in a chat.' }),
          name: Type.String({ description: AGENT_DESCRIPTIONS.name }),
        }),
        { description: AGENT_DESCRIPTIONS.apps },
      ),
      sandbox: Type.Boolean({
        description: AGENT_DESCRIPTIONS.sandbox,
      }),
    },
    {
      $id: 'Agent',
      description: AGENT_DESCRIPTIONS.resource,
      examples: [
        {
          id: 'fastgpt',
          name: 'FastGPT',
          platform: 'fastgpt',
          description: '',
          status: 'available',
          status_since: null,
          status_reason: null,
          requires: ['app_id'],
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
        },
      ],
    },
  )
}

const listSchema = {
  tags: ['agents'],
  operationId: 'listAgents',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List the agents',
  description:
    'Returns all agents that the caller may use. An API key that is restricted to some agents gets only those. Without a credential the list is returned only where the configuration makes it public.',
  security: [{}, { apiKey: [] }, { accessToken: [] }],
  response: {
    ...problems('invalid_request', ...ANY_PROBLEMS),
  },
}

const deploymentsSchema = {
  tags: ['agents'],
  operationId: 'listAgentDeployments',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List the deployments of an agent',
  description:
    'Returns the deployments of an agent, with their load as a sum and for each live process of the gateway. What other processes know is some seconds old, up to ten. Only administrators may read it.',
  security: [{ accessToken: [] }, { apiKey: [] }],
  params: Type.Object({ id: Type.String({ description: 'The id of the agent.' }) }),
  response: {
    200: envelope(page(ref(AGENT_DEPLOYMENT.schema))),
    ...problems('invalid_request', ...MANAGER_PROBLEMS, 'role_denied', 'object_not_found'),
  },
}
