import { GraphQLError, type GraphQLErrorOptions, Kind } from 'graphql'
import { ERRORS, Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import { joinPath } from '#core/base/values/field-path.ts'
import { problemHeaders, retryAfterOf } from '#http/response/problem.ts'

/**
 * An error of a response with the {@link Problem} that it was made of, for the log. The problem is not its `originalError`,
 * which Yoga would take for a fault of the server.
 */
class ProblemError extends GraphQLError {
  readonly problem: Problem | undefined

  constructor(message: string, options: GraphQLErrorOptions, problem: Problem | undefined) {
    super(message, options)
    this.problem = problem
  }
}

/** What an error of a response was made of, if it was a {@link Problem}. The executor wraps what a subscription throws at its begin. */
export function problemBehind(error: GraphQLError): Problem | undefined {
  if (error instanceof ProblemError) return error.problem
  const { originalError } = error
  return originalError instanceof GraphQLError ? problemBehind(originalError) : undefined
}

/** Where an error is. */
interface GraphqlErrorPlace {
  /** The place in the document; the executor adds it to errors that a resolver throws. */
  readonly at?: Pick<GraphQLErrorOptions, 'nodes' | 'source' | 'positions'>
}

/** A problem as an error of GraphQL. */
export function graphqlErrorOf(problem: Problem, { at }: GraphqlErrorPlace = {}): GraphQLError {
  const { reason, status, mistakes, cost } = problem
  const retryAfterSeconds = retryAfterOf(problem)
  const fields = mistakes.map(({ field, text }) => ({
    field: joinPath(field),
    message: typeof text === 'string' ? text : text(joinPath),
  }))
  const [first] = fields
  const extensions = {
    code: reason,
    status,
    ...(first !== undefined && { field: first.field, fields }),
    ...(cost !== undefined && { cost }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
  return new ProblemError(problem.detail, { ...at, extensions }, problem)
}

/** Adds the id of the request to its errors, by which the operator finds it in the log. */
export function nameRequest(errors: readonly GraphQLError[] | undefined, requestId: string): void {
  for (const { extensions } of errors ?? []) extensions.requestId = requestId
}

/**
 * Converts whatever went wrong in a request to the error that the client gets: always with `extensions.code` of the one table
 * and `extensions.status`, and without anything that reveals more than the table's text does.
 */
export function toGraphqlError(error: unknown): GraphQLError {
  if (!(error instanceof GraphQLError)) return ofRequest(graphqlErrorOf(problemOf(error)))
  if (isOurs(error)) return error.path === undefined ? ofRequest(error) : error
  const thrown = thrownBy(error)
  if (!(thrown instanceof GraphQLError)) return placed(graphqlErrorOf(problemOf(thrown)), error)
  return placed(isOurs(thrown) ? thrown : graphqlErrorOf(problemOfLibrary(error)), error)
}

/** The error that a resolver threw, which the executor has wrapped, perhaps several times. */
function thrownBy(error: GraphQLError): unknown {
  const { originalError } = error
  if (originalError === undefined) return error
  return originalError instanceof GraphQLError ? thrownBy(originalError) : originalError
}

/** By its form, since Yoga may copy an error. */
function isOurs({ extensions }: GraphQLError): boolean {
  return typeof extensions.code === 'string' && extensions.code in ERRORS && 'status' in extensions
}

function placed(error: GraphQLError, { nodes, source, positions, path }: GraphQLError): GraphQLError {
  const options = { nodes, source, positions, path, extensions: error.extensions }
  const result = new ProblemError(error.message, options, problemBehind(error))
  return path === undefined ? ofRequest(result) : result
}

/**
 * What graphql-js and Yoga found by themselves. Their words are never passed on, since they repeat values; what can be said of
 * a request is said by the checks of our own before.
 */
function problemOfLibrary(error: GraphQLError): Problem {
  if (error.path === undefined) return new Problem('invalid_request')
  // Within the execution only a variable can still be wrong, where an argument needs a value and it is null. Its error is at
  // the literal; every other one is at a field, whose result does not match the schema.
  const [node] = error.nodes ?? []
  if (node === undefined || node.kind === Kind.FIELD) return new Problem('internal_error', { cause: error })
  return new Problem('invalid_request', { detail: ARGUMENT_EXPECTED })
}

const ARGUMENT_EXPECTED = 'An argument of this field needs a value, and its variable has none.'

/** Statuses that say something of the request itself, and not of the GraphQL in it: they are sent whatever the media type. */
const OF_HTTP: ReadonlySet<number> = new Set([401, 405, 429])

/**
 * Errors of the whole request, which has no data. Their status is that of the response; only in the older media type a request
 * that GraphQL refuses is answered 200.
 */
function ofRequest(error: GraphQLError): GraphQLError {
  const status = Number(error.extensions.status)
  const problem = problemBehind(error)
  const isOfHttp = status >= 500 || OF_HTTP.has(status)
  error.extensions.http ??= isOfHttp
    ? {
        status,
        headers: { ...(problem !== undefined && problemHeaders(problem)), ...(status === 405 && ONLY_POST) },
      }
    : { spec: true, status }
  return error
}

const ONLY_POST = { allow: 'POST' }
