import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Services } from '#core/services/services.ts'
import {
  ANY_PROBLEMS,
  callerOf,
  MANAGER_PROBLEMS,
  managerOnly,
  optionalPrincipal,
} from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, oneOf, page, problems, ref, success } from '#http/response/schemas.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { AGENT } from '#resources/agent.ts'
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
    return success({ items: items.map(AGENT.record), next_cursor: null })
  })

  app.addSchema(AGENT_DEPLOYMENT.schema)
  const reading = { schema: deploymentsSchema, onRequest: managerOnly(services), ...smallRead(services) }
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  routes.get('/api/v1/agents/:id/deployments', reading, async (request) => {
    const deployments = await services.agents.deploymentsOf(callerOf(request), request.params.id)
    return success({ items: deployments.map(AGENT_DEPLOYMENT.record), next_cursor: null })
  })
}

/** The platforms are those of the configuration. */
function agentSchema(platforms: readonly string[]) {
  const { properties } = AGENT.schema
  const platform = oneOf(platforms, AGENT.fields.platform.description)
  return { ...AGENT.schema, properties: { ...properties, platform } }
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
