import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { createYoga } from 'graphql-yoga'
import { fail, Problem, refuseField } from '#core/base/errors/errors.ts'
import type { BoundsBySender } from '#core/limits/document-bounds.ts'
import { lookUpSuspects } from '#http/guards/credentials.ts'
import type { GuardLargeBodies } from '#http/guards/large-bodies.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { RequestProblem } from '#http/request/field-place.ts'
import { problemHeaders, toProblem } from '#http/response/problem.ts'
import { useAdmission, useRefusalCount } from './admission/admission-plugin.ts'
import { createDocumentAdmission } from './admission/admit-document.ts'
import { countUnread, createClosedDoor } from './admission/closed-door.ts'
import { createDocuments, type DocumentSettings } from './admission/documents.ts'
import {
  type ContextParts,
  createContext,
  type GraphqlContext,
  type OperationPlace,
  placeOf,
} from './context.ts'
import { graphqlErrorOf, nameRequest, toGraphqlError } from './errors.ts'
import { graphiqlRoutes } from './graphiql/routes.ts'
import { createValidation, type ValidateDocument } from './mistakes/validate-document.ts'
import { schema } from './schema.ts'
import { useAuthentication } from './serving/authentication-plugin.ts'
import { useOperationLimits } from './serving/limits-plugin.ts'
import { type GraphqlObserver, useOperationLog } from './serving/operation-log-plugin.ts'
import { useProblems } from './serving/problems-plugin.ts'
import { useReadTurns } from './serving/read-turns-plugin.ts'
import { recordRefusals } from './serving/record-refusals.ts'
import { acceptsEventStream, sendResults, useEventStreams } from './streams/event-streams.ts'
import { useSharedUpdates } from './streams/shared-updates-plugin.ts'

export interface GraphqlOptions extends ContextParts {
  readonly observer: GraphqlObserver
  readonly guardLargeBodies: GuardLargeBodies
  readonly settings: GraphqlSettings
}

/** The section `graphql` of the configuration, with its defaults filled in, and the documents of the console. */
export interface GraphqlSettings extends DocumentSettings {
  readonly introspection: boolean
  readonly graphiql: boolean
  readonly bounds?: BoundsBySender | undefined
}

const PATH = '/graphql'

/** Serves the GraphQL face. Its context must have the body parser of `http/request/json-body.ts`, and no other. */
export async function graphqlRoutes(
  app: FastifyInstance,
  { settings, observer, guardLargeBodies, ...parts }: GraphqlOptions,
): Promise<void> {
  const { services } = parts
  const { introspection, bounds } = settings
  const documents = await createDocuments(settings)
  const admission = createDocumentAdmission({
    services,
    schema,
    introspection,
    bounds,
    trusts: documents.trusts,
  })
  const yoga = createYoga<OperationPlace, GraphqlContext>({
    schema,
    graphqlEndpoint: PATH,
    context: (place) => createContext(parts, place),
    // The hooks of Fastify have done CORS, and its body parser takes JSON alone, of a bounded size.
    cors: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: false,
    graphiql: false,
    landingPage: false,
    logging: false,
    maskedErrors: { maskError: toGraphqlError },
    // The admission keeps documents, and the validation those that are valid. A cache of Yoga's would know half of it.
    parserAndValidationCache: false,
    extraParamNames: ['documentId'],
    plugins: [
      useAdmission({ services, find: documents.find, admission, observer }),
      useEventStreams(),
      useValidation(createValidation(schema, introspection)),
      useOperationLimits(admission),
      useAuthentication(),
      useReadTurns(),
      useSharedUpdates(),
      useProblems(app.faultLog, services),
      useRefusalCount(services),
      useOperationLog(observer, app.log),
    ],
  })
  app.setErrorHandler((error, request, reply) =>
    sendGraphqlProblem(withCost(ofParameter(toProblem(error)), request), request, reply),
  )
  const takesAnyDocument = settings.documents !== 'trusted'
  guardLargeBodies(app, (request, problem) => countUnread(services.refusedDocuments, request, problem))
  if (settings.graphiql) graphiqlRoutes(app, { path: PATH, schema, takesAnyDocument })
  app.route({
    method: ['GET', 'POST'],
    url: PATH,
    schema: { hide: true },
    onRequest: lookUpSuspects(services),
    preHandler: createClosedDoor(services.refusedDocuments),
    handler: async (request, reply) => {
      if (request.method === 'POST' && request.body === undefined) refuseField(['body'], BODY_EXPECTED)
      const canStream = acceptsEventStream(request.headers.accept)
      const place = placeOf(request, { reply, signal: abortedWith(reply), canStream })
      // HEAD is served wherever GET is, and Yoga knows only GET.
      const response =
        request.method === 'HEAD'
          ? await yoga.fetch(`http://localhost${request.url}`, { headers: acceptOf(request) }, place)
          : await yoga.handleNodeRequestAndResponse(request, reply, place)
      if (place.streamed.results !== undefined) {
        await sendResults(reply, place.streamed.results, parts.chatOptions)
        return reply
      }
      if (response.status === 406) fail('not_acceptable', RESULT_EXPECTED)
      // A response may hold a token, or a key that is shown only once.
      reply.header('cache-control', 'no-store')
      for (const [name, value] of response.headers) reply.header(name, value)
      return reply.status(response.status).send(response.body)
    },
  })
}

function acceptOf({ headers }: FastifyRequest): Record<string, string> {
  return headers.accept === undefined ? {} : { accept: headers.accept }
}

const BODY_EXPECTED = 'expected a JSON object with query.'
const RESULT_EXPECTED =
  'accept: expected application/graphql-response+json or application/json, and text/event-stream for a subscription.'

/** What is wrong in the body is wrong in a parameter, which has no other name in GraphQL. */
function ofParameter(problem: Problem): Problem {
  if (!(problem instanceof RequestProblem) || problem.place.part !== 'body') return problem
  const { place, text, reason } = problem
  return new Problem(reason, { field: place.path.length === 0 ? ['body'] : place.path, detail: text })
}

/** How large a body may be; its size is not known, since no more of it is read. */
function withCost(problem: Problem, { routeOptions: { bodyLimit } }: FastifyRequest): Problem {
  if (problem.reason !== 'body_too_large' || problem.cost !== undefined || bodyLimit === undefined) {
    return problem
  }
  const cost = { requested: `more than ${bodyLimit}`, allowed: bodyLimit } as const
  return new Problem(problem.reason, { detail: problem.detail, cost, cause: problem })
}

/** What is refused before GraphQL begins has the form of a GraphQL error as well. */
function sendGraphqlProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.server.faultLog.log(problem, { reqId: request.id, trace_id: request.trace?.traceId })
  const errors = [graphqlErrorOf(problem)]
  request.problem = problem
  recordRefusals(errors, { http: request })
  nameRequest(errors, request.id)
  return reply
    .status(problem.status)
    .headers(problemHeaders(problem))
    .type('application/json; charset=utf-8')
    .send({ errors })
}

/** Validates documents by rules whose errors repeat no value; refuses those for the schema unless it is shown. */
function useValidation(validate: ValidateDocument): Plugin {
  return {
    onValidate({ setValidationFn }) {
      setValidationFn((_schema: unknown, document: DocumentNode) => validate(document))
    },
  }
}
