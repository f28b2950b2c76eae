import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import { describeIn, nameOf } from '../request/field-place.ts'
import { validationProblem } from '../request/validation.ts'
import { allMistakes } from './all-mistakes.ts'
import { FaultLog } from './fault-log.ts'
import { openAiError } from './openai-error.ts'
import { otherApiHint } from './other-api-paths.ts'
import { installRefusals, type Refusals, recordRefusal } from './refusals.ts'
import { watchRoutes } from './unknown-routes.ts'

/** The error body of every route but the OpenAI-compatible ones. */
export interface ErrorBody {
  readonly code: number
  readonly msg: string
  readonly detail: string
  readonly reason: string
  readonly request_id: string
  readonly fields?: readonly FieldMistake[]
}

/** An input that is not valid, by the name that `detail` has for it. */
export interface FieldMistake {
  readonly field: string
  readonly message: string
}

/** @param fields - the inputs at fault, as the request names them; the first of them becomes the detail */
export function errorBody(
  problem: Problem,
  requestId: string,
  fields: readonly FieldMistake[] = [],
): ErrorBody {
  const [first] = fields
  return {
    code: problem.status,
    msg: problem.message,
    detail: first === undefined ? problem.detail : `${first.field}: ${first.message}`,
    reason: problem.reason,
    request_id: requestId,
    ...(first !== undefined && { fields }),
  }
}

/** Installs the error handlers. Must be called before the routes are added, see {@link watchRoutes}. */
export function installProblems(app: FastifyInstance, refusals?: Refusals): void {
  installRefusals(app, refusals)
  app.decorate('faultLog', new FaultLog(app.log))
  const problemOfUnknown = watchRoutes(app)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = toProblem(error)
    // Fastify closes the connection when it refuses a body, and the reset can overtake the response while the client is
    // still sending. Left open, the rest is read and discarded, at most until the server's request timeout.
    if (problem.reason !== 'draining') reply.removeHeader('connection')
    return sendProblem(problem, request, reply, error)
  })
  // A context of its own, whose hook refuses before the body is read: a wrong type or size of it does not hide that there is no
  // such route.
  app.register((unknown, _options, done) => {
    unknown.addHook('onRequest', async (request, reply) => {
      throw problemOfUnknown(request, reply)
    })
    unknown.setNotFoundHandler((request, reply) =>
      sendProblem(problemOfUnknown(request, reply), request, reply),
    )
    done()
  })
}

/** @param error - what was thrown, if it was an error of Fastify's */
export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  error: FastifyError | Problem = problem,
): FastifyReply {
  request.server.faultLog.log(problem, { reqId: request.id, trace_id: request.trace?.traceId })
  request.problem = problem
  const isOpenAi = request.routeOptions.config?.errors === 'openai'
  const headers = problemHeaders(problem)
  if (isOpenAi && Number(headers['retry-after']) > WAITED_FOR_SECONDS_MAX) {
    headers['retry-after'] = String(WAITED_FOR_SECONDS_MAX)
  }
  reply.status(problem.status).headers(headers).type('application/json; charset=utf-8')
  if (isOpenAi) {
    const described = describeIn(request, problem)
    recordRefusal(request, problem, { field: described.param ?? undefined })
    return reply.send(openAiError(problem, described))
  }
  const fields = fieldsAtFault(problem, request, error)
  recordRefusal(request, problem, { field: fields[0]?.field })
  return reply.send(bodyAnywhere(problem, request, fields))
}

function fieldsAtFault(
  problem: Problem,
  request: FastifyRequest,
  error: FastifyError | Problem,
): readonly FieldMistake[] {
  const mistakes = allMistakes(request, problem, error)
  return mistakes.map(({ place, text }) => ({ field: nameOf(place), message: text }))
}

/** A request for an unknown path may come from a client of either face, so the body has both forms. */
function bodyAnywhere(problem: Problem, request: FastifyRequest, fields: readonly FieldMistake[]): object {
  const body = errorBody(problem, request.id, fields)
  const isUnknown = WITHOUT_ROUTE.has(problem.reason)
  return isUnknown && otherApiHint(request.url) !== '' ? { ...body, ...openAiError(problem) } : body
}

/**
 * OpenAI's SDK (versions 4 and 5) and the AI SDK honour `Retry-After` only below 60 s; a longer one they ignore and retry
 * within two seconds.
 */
const WAITED_FOR_SECONDS_MAX = 59

export function problemHeaders(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = {
    'cache-control': 'no-store',
    // OpenAI's clients obey this header; without it they retry every 409, 429 and 5xx.
    'x-should-retry': String(ERRORS[problem.reason].retryable && !problem.isFinal),
  }
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer'
  const seconds = retryAfterOf(problem)
  if (seconds !== undefined) headers['retry-after'] = String(seconds)
  return headers
}

/** After how long a client should try again; every face says so of what is unavailable only for now. */
export function retryAfterOf({ retryAfterSeconds, status, isFinal }: Problem): number | undefined {
  if (isFinal) return undefined
  const seconds = retryAfterSeconds ?? (status === 503 ? 1 : undefined)
  // A window of a minute that has just begun lasts 60 s when rounded up, which some clients would ignore.
  return seconds === WAITED_FOR_SECONDS_MAX + 1 ? WAITED_FOR_SECONDS_MAX : seconds
}

/** Like {@link problemOf}, but also knows the errors with which Fastify itself refuses a request. */
export function toProblem(error: unknown): Problem {
  if (!isFastifyError(error)) return problemOf(error)
  const { code, validation } = error
  if (validation !== undefined) return validationProblem(error)
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('body_too_large', { detail: 'body: is too large.' })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('unsupported_media_type', { detail: 'content-type: expected application/json.' })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('invalid_request', { detail: 'content-length: does not match the body.' })
    case 'FST_ERR_BAD_URL':
      return new Problem('invalid_request', { detail: 'path: is not a valid URL path.' })
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('route_not_found')
    default:
      return refusalByStatus(error) ?? problemOf(error)
  }
}

/** Fastify's refusals that {@link toProblem} does not list have a status below 500: the request is at fault. */
function refusalByStatus(error: FastifyError): Problem | undefined {
  const { code, statusCode = 500 } = error
  if (!code.startsWith('FST_') || statusCode >= 500) return undefined
  return new Problem(REASON_OF_STATUS.get(statusCode) ?? 'invalid_request', { cause: error })
}

function isFastifyError(error: unknown): error is FastifyError {
  return (
    error instanceof Error && !(error instanceof Problem) && 'code' in error && typeof error.code === 'string'
  )
}

/** Of requests that no route has taken. */
const WITHOUT_ROUTE: ReadonlySet<ErrorReason> = new Set([
  'route_not_found',
  'method_not_allowed',
  'websocket_not_supported',
])

const REASON_OF_STATUS: ReadonlyMap<number, ErrorReason> = new Map([
  [404, 'route_not_found'],
  [413, 'body_too_large'],
  [414, 'route_not_found'],
  [415, 'unsupported_media_type'],
  [431, 'headers_too_large'],
])

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The form of this route's errors; the default is {@link ErrorBody}. */
    errors?: 'openai'
  }

  interface FastifyRequest {
    /** The problem with which this request was refused, for the log line and the metrics. */
    problem: Problem | undefined
  }
}
