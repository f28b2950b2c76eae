import { GraphQLError, type GraphQLErrorExtensions } from 'graphql'
import { ERRORS, type ErrorReason, Problem } from '#core/errors.ts'
import { joinPath, type NameField } from '#core/field-path.ts'
import { problemOf } from '#core/problem-of.ts'
import { retryAfterOf } from '#http/problem.ts'

/** The causes of errors, for the log. An error must not carry its cause, which Yoga would take for a fault of the server. */
const causes = new WeakMap<GraphQLError, unknown>()

/** What an error of a response was made of, if it was a {@link Problem}. */
export function problemBehind(error: GraphQLError): Problem | undefined {
  const cause = causes.get(error)
  return cause instanceof Problem ? cause : undefined
}

/** A problem as an error without a place in the document, which the executor adds. */
export function graphqlErrorOf(problem: Problem, nameOf: NameField = joinPath): GraphQLError {
  const { reason, status, field } = problem
  const retryAfterSeconds = retryAfterOf(problem)
  const error = new GraphQLError(problem.describe(nameOf), {
    extensions: {
      code: reason,
      status,
      ...(field !== undefined && { field: nameOf(field) }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  })
  causes.set(error, problem)
  return error
}

/**
 * Converts whatever went wrong in a request to the error that the client gets: always with `extensions.code` of the one table
 * and `extensions.status`, and without anything that reveals more than the table's text does.
 */
export function toGraphqlError(error: unknown): GraphQLError {
  if (!(error instanceof GraphQLError)) return ofRequest(graphqlErrorOf(problemOf(error)))
  if (isOurs(error)) return error
  const thrown = thrownBy(error)
  if (thrown instanceof GraphQLError) return isOurs(thrown) ? placed(thrown, error) : refusal(thrown, error)
  return placed(graphqlErrorOf(problemOf(thrown)), error)
}

/** The error that a resolver threw, which the executor has wrapped, perhaps several times. */
function thrownBy(error: GraphQLError): unknown {
  const { originalError } = error
  if (originalError === undefined) return error
  return originalError instanceof GraphQLError ? thrownBy(originalError) : originalError
}

function isOurs({ extensions }: GraphQLError): boolean {
  return typeof extensions.code === 'string' && extensions.code in ERRORS && 'status' in extensions
}

function placed(error: GraphQLError, at: GraphQLError): GraphQLError {
  const { nodes, source, positions, path } = at
  const result = new GraphQLError(error.message, {
    ...{ nodes, source, positions, path },
    extensions: error.extensions,
  })
  causes.set(result, causes.get(error))
  return path === undefined ? ofRequest(result) : result
}

/** Errors of graphql-js and Yoga: the document, its variables or the request are not valid. */
function refusal(thrown: GraphQLError, at: GraphQLError): GraphQLError {
  const reason = reasonOf(thrown, at)
  if (reason === 'internal_error') return placed(graphqlErrorOf(problemOf(thrown)), at)
  const extensions: GraphQLErrorExtensions = { code: reason, status: ERRORS[reason].status }
  const field = variableOf(at.message)
  const message = withoutValue(at.message)
  if (field !== undefined) extensions.field = field
  // A wrong variable is a request that was understood, for which GraphQL over HTTP wants 200 in the older media type.
  else if (thrown.extensions.http !== undefined) extensions.http = thrown.extensions.http
  return placed(new GraphQLError(message, { extensions }), at)
}

function reasonOf({ extensions, message }: GraphQLError, { path }: GraphQLError): ErrorReason {
  if (/^Syntax Error: Document contains more than \d+ tokens/.test(message)) return 'operation_too_large'
  if (extensions.code === 'GRAPHQL_PARSE_FAILED') return 'document_malformed'
  if (extensions.code === 'GRAPHQL_VALIDATION_FAILED') return 'document_invalid'
  if ((extensions.http as { status?: number } | undefined)?.status === 405) return 'method_not_allowed'
  // Within the execution, only arguments can be wrong; everything else is a result that does not match the schema.
  if (path !== undefined && !/^(?:Argument|Variable) /.test(message)) return 'internal_error'
  return 'invalid_request'
}

/**
 * A message about a variable without the value itself, which may contain a password and ends in the logs of clients. What is
 * wrong with it follows the last semicolon.
 */
function withoutValue(message: string): string {
  const [, variable, place = '', problem] =
    /^(Variable "\$\w+") got invalid value .*?( at "[^"]+")?; ((?:(?!; [A-Z]).)*)$/s.exec(message) ?? []
  return variable === undefined ? message : `${variable} got an invalid value${place}: ${problem}`
}

/** The path of a value in the variables, which the executor only says in words. */
function variableOf(message: string): string | undefined {
  const [, name, path] = /^Variable "\$(\w+)"(?:.*? at "([^"]+)";)?/s.exec(message) ?? []
  return path ?? name
}

/**
 * Errors of the whole request, which has no data. Their status is that of the response; only in the older media type a request
 * that GraphQL refuses is answered 200.
 */
function ofRequest(error: GraphQLError): GraphQLError {
  const status = Number(error.extensions.status)
  error.extensions.http ??= { spec: status < 500, status }
  return error
}
