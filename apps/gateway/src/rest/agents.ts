import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AGENT_STATUSES } from '#core/agents/directory.ts'
import type { Services } from '#core/services/services.ts'
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
      name: Type.String({ description: 'The name to show to people.' }),
      platform: oneOf(platforms, 'The platform on which the agent runs.'),
      description: Type.String({ description: 'What the agent does, as its operator describes it.' }),
      status: oneOf(
        AGENT_STATUSES,
        'The result of a probe that is a few seconds old. `degraded` means that the platform answers but refuses the credentials of the gateway.',
      ),
      requires: Type.Array(Type.String(), {
        description: 'The fields of a chat request that must not be empty for this agent.',
      }),
      features: Type.Object(
        {
          stream: Type.Boolean({ description: 'Replies can be streamed.' }),
          detail: Type.Boolean({ description: "The platform's progress can be requested with `detail`." }),
          files: Type.Boolean({ description: 'The agent accepts files.' }),
          conversation: Type.Boolean({ description: 'The agent can continue a conversation.' }),
          usage: Type.Boolean({ description: 'The platform reports tokens.' }),
          stop: Type.Boolean({ description: 'A call can be stopped on the platform before it ends.' }),
        },
        { description: 'What the agent supports.' },
      ),
      apps: Type.Array(
        Type.Object({
          id: Type.String({ description: 'The value of `app_id` in a chat.' }),
          name: Type.String({ description: 'The name to show to people.' }),
        }),
        { description: "The agent's apps, as far as they are configured." },
      ),
      sandbox: Type.Boolean({
        description: 'True for an emulator that is part of the gateway, false for a real platform.',
      }),
    },
    {
      $id: 'Agent',
      description: 'An agent that can be called.',
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
