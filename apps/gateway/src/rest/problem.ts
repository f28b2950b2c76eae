import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isConnectionError } from '#core/database/connection-error.ts'
import { ERRORS, Problem } from '#core/errors.ts'
import { openAiError } from './openai-error.ts'
import { validationProblem } from './validation.ts'

/** The error body of every route but the OpenAI-compatible ones. */
export interface ErrorBody {
  readonly code: number
  readonly msg: string
  readonly detail: string
  readonly reason: string
  readonly request_id: string
}

export function errorBody(problem: Problem, requestId: string): ErrorBody {
  return {
    code: problem.status,
    msg: problem.message,
    detail: problem.detail,
    reason: problem.reason,
    request_id: requestId,
  }
}

export function installProblems(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = toProblem(error)
    // Fastify closes where it refuses a body, and the reset can overtake the answer while the client still writes.
    // Left open, the rest is read away, for as long as the server's request timeout allows.
    if (problem.reason !== 'draining') reply.removeHeader('connection')
    return sendProblem(problem, request, reply)
  })
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      new Problem('route_not_found', { detail: `${request.method} ${pathOf(request.url)} is not a route.` }),
      request,
      reply,
    ),
  )
}

export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Only what is our own fault is worth an operator's attention; refusals show in the request line and the metrics, those by
  // which the gateway protects itself as well: they have no cause.
  if (
    problem.reason === 'internal_error' ||
    (problem.reason === 'unavailable' && problem.cause !== undefined)
  ) {
    request.log.error({ reqId: request.id, err: problem.cause ?? problem }, problem.reason)
  }
  request.problem = problem
  const isOpenAi = request.routeOptions.config?.errors === 'openai'
  const headers = problemHeaders(problem)
  // OpenAI's clients pass over a longer wait and come back at once.
  if (isOpenAi && Number(headers['retry-after']) > 60) headers['retry-after'] = '60'
  reply.status(problem.status).headers(headers)
  return reply
    .type('application/json; charset=utf-8')
    .send(isOpenAi ? openAiError(problem) : errorBody(problem, request.id))
}

export function problemHeaders(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = {
    'cache-control': 'no-store',
    // OpenAI's clients go by it; without it they repeat every 409, 429 and 5xx.
    'x-should-retry': String(ERRORS[problem.reason].retryable),
  }
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer'
  if (problem.retryAfterSeconds !== undefined) headers['retry-after'] = String(problem.retryAfterSeconds)
  else if (problem.status === 503) headers['retry-after'] = '1'
  return headers
}

/** Every thrown value becomes a reason of the one table; what is unknown becomes a bare 500. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, validation } = error as Partial<FastifyError>
  if (validation !== undefined) return validationProblem(error as FastifyError)
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
      return new Problem(isConnectionError(error) ? 'unavailable' : 'internal_error', { cause: error })
  }
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The shape of this route's errors; left out: {@link ErrorBody}. */
    errors?: 'openai'
  }

  interface FastifyRequest {
    /** The problem that this request was answered with, for the log line and the metrics. */
    problem: Problem | undefined
  }
}
