import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Services } from '#core/services/services.ts'
import { callerOf, MANAGER_PROBLEMS, managerOnly } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, listQuery, oneOf, page, problems, ref, success } from '#http/response/schemas.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { GATEWAY_PROCESS, IN_STATE, PROCESS_FILTER, RELOAD } from '#resources/gateway-process.ts'

export function processRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'processes' | 'configuration' | 'authentication' | 'reads'>,
): void {
  app.addSchema(GATEWAY_PROCESS.schema)
  app.addSchema(RELOAD.schema)
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const reading = { schema: listSchema, onRequest: managerOnly(services), ...smallRead(services) }
  routes.get('/api/v1/processes', reading, async (request) => {
    const processes = await services.processes.list(callerOf(request), request.query)
    return success({ items: processes.map(GATEWAY_PROCESS.record), next_cursor: null })
  })
  const reloading = { schema: reloadSchema, onRequest: managerOnly(services) }
  routes.post('/api/v1/configuration/reload', reloading, async (request, reply) => {
    const reload = await services.configuration.reload(callerOf(request), showLimit(reply))
    return success(RELOAD.record(reload))
  })
}

const reloadSchema = {
  tags: ['processes'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  operationId: 'reloadConfiguration',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read the configuration file anew',
  description:
    'Reads the configuration file of the process that answers, serves it, and has every other process read its own; the answer waits for them, but not more than 5 seconds. Agents and limits change while calls run, each of which goes on with the agent that it began with. A mistake in the file changes nothing in any process. Only administrators may do it.',
  response: {
    200: envelope(ref(RELOAD.schema)),
    ...problems(
      ...BODY_PROBLEMS,
      ...MANAGER_PROBLEMS,
      'role_denied',
      'configuration_invalid',
      'rate_limited',
      'unavailable',
    ),
  },
}

const listSchema = {
  tags: ['processes'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  operationId: 'listProcesses',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List the processes of the gateway',
  description:
    'Returns the processes of the gateway that share the database, first those that live, and of these those that started last; at most 1,000. What a process reports of itself is some seconds old. Only administrators may read it.',
  querystring: listQuery({
    state: Type.Optional(oneOf(PROCESS_FILTER.words, IN_STATE)),
  }),
  response: {
    200: envelope(page(ref(GATEWAY_PROCESS.schema))),
    ...problems('invalid_request', ...MANAGER_PROBLEMS, 'role_denied'),
  },
}
