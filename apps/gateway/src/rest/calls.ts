import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { parseCallsQuery } from '#core/reports/calls-query.ts'
import { servedCalls } from '#core/reports/served-calls.ts'
import { checkCursor } from '#core/requests/input/pagination.ts'
import type { Services } from '#core/services/services.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, problems, ref, success } from '#http/response/schemas.ts'
import { CALLS, FOR_ADMINS, SERVED_CALL, visibleCalls } from '#resources/call.ts'
import { listRoute } from './list-route.ts'

export function callRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'calls' | 'authentication' | 'reads'> & {
    audit: Pick<Services['audit'], 'exported'>
  },
): void {
  const calls = servedCalls(services.calls)
  const onRequest = anyCredential(services)
  const viewOf = (request: FastifyRequest) => ({
    seesPlatform: services.calls.seesPlatform(callerOf(request)),
  })
  listRoute(app, services, CALLS, {
    list: calls,
    onRequest,
    reasons: [...ANY_PROBLEMS, 'invalid_request', 'key_not_found', 'user_not_found'],
    checkCursor,
    check: parseCallsQuery,
    viewOf,
  })

  const getting = { schema: callSchema, onRequest, ...smallRead(services) }
  app
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/api/v1/calls/:id', getting, async (request) =>
      success(SERVED_CALL.record(await calls.find(callerOf(request), request.params.id), viewOf(request))),
    )
}

const callSchema = {
  tags: ['calls'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  operationId: 'getCall',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read a call',
  description: `Returns the record of a call, also while it runs. ${visibleCalls('admin')} ${FOR_ADMINS}`,
  params: Type.Object({ id: Type.String({ description: 'The id of the call.' }) }),
  response: {
    200: envelope(ref(SERVED_CALL.schema)),
    ...problems(...ANY_PROBLEMS, 'invalid_request', 'call_not_found'),
  },
}
