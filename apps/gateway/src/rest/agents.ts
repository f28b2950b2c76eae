import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Services } from '#core/services/services.ts'
import { ANY_PROBLEMS, optionalPrincipal } from '#http/credentials.ts'
import { limitHeaders } from '#http/limit-headers.ts'
import { envelope, oneOf, page, problems, ref, success } from '#http/schemas.ts'

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
      id: Type.String({ description: 'The value of the `Agent` header.' }),
      name: Type.String(),
      platform: oneOf(platforms),
      description: Type.String(),
      status: oneOf(
        ['available', 'degraded', 'unavailable'],
        'From a probe a few seconds old; degraded: it answers, but not to our credentials.',
      ),
      requires: Type.Array(Type.String(), { description: 'Request fields that need a real value.' }),
      features: Type.Object({
        stream: Type.Boolean(),
        detail: Type.Boolean(),
        files: Type.Boolean(),
        conversation: Type.Boolean(),
        usage: Type.Boolean(),
        stop: Type.Boolean(),
      }),
      apps: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
      sandbox: Type.Boolean({ description: 'true: an emulator that comes with the gateway.' }),
    },
    {
      $id: 'Agent',
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
  summary: 'List the agents',
  description: 'With a credential: those that it may use.',
  security: [{}, { apiKey: [] }, { accessToken: [] }],
  response: {
    ...problems(...ANY_PROBLEMS),
  },
}
