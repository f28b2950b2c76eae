import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AGENT_STATUSES } from '#core/agents/directory.ts'
import type { Services } from '#core/services/services.ts'
import { AGENT_DESCRIPTIONS } from '#http/descriptions/agent-descriptions.ts'
import { ANY_PROBLEMS, optionalPrincipal } from '#http/guards/credentials.ts'
import { limitHeaders } from '#http/reply/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/reply/response-headers.ts'
import { envelope, listQuery, oneOf, page, problems, ref, success } from '#http/reply/schemas.ts'

export function agentRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'agents' | 'authentication'>,
  platforms: readonly string[],
): void {
  const agent = agentSchema(platforms)
  app.addSchema(agent)

  const onRequest = optionalPrincipal(services)
  const response = { ...listSchema.response, 200: envelope(page(ref(agent))) }
  const schema = { ...listSchema, response }
  const listing = { schema, config: { anonymousNeedsNoDatabase: true }, onRequest }
  app.get('/api/v1/agents', listing, async ({ principal, ip }, reply) => {
    const items = await services.agents.list(principal, ip, (verdict) => limitHeaders(reply, verdict))
    return success({ items, next_cursor: null })
  })
}

function agentSchema(platforms: readonly string[]) {
  return Type.Object(
    {
      id: Type.String({ description: 'The id of the agent: the value of the `Agent` header of a chat.' }),
      name: Type.String({ description: AGENT_DESCRIPTIONS.name }),
      platform: oneOf(platforms, AGENT_DESCRIPTIONS.platform),
      description: Type.String({ description: AGENT_DESCRIPTIONS.description }),
      status: oneOf(
        AGENT_STATUSES,
        'The result of a probe that is a few seconds old. `degraded` means that the platform answers but refuses the credentials of the gateway.',
      ),
      requires: Type.Array(Type.String(), {
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
          requires: ['app_id'],
          features: { stream: true, detail: true, files: true, conversation: true, usage: true, stop: true },
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
  querystring: listQuery({}),
  response: {
    ...problems('invalid_request', ...ANY_PROBLEMS),
  },
}
