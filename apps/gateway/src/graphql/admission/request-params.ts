import type { FastifyRequest } from 'fastify'
import type { GraphQLParams } from 'graphql-yoga'
import { Problem } from '#core/base/errors/errors.ts'
import { callerName } from '#core/requests/input/caller-name.ts'
import { parseJsonText } from '#http/request/json-body.ts'
import { graphqlErrorOf } from '../errors.ts'

/** The parameters of a request in the form that Yoga wants; `documentId` is what its type lacks. */
export type RequestParams = GraphQLParams & { readonly documentId?: unknown }

/** The parameters, and whether each is an object, which a URL has as JSON; the others are texts. */
const PARAMS: ReadonlyMap<string, boolean> = new Map([
  ['query', false],
  ['documentId', false],
  ['operationName', false],
  ['variables', true],
  ['extensions', true],
])

/**
 * Reads the parameters of a request with `GET` from its URL.
 *
 * @throws GraphQLError `invalid_request`
 */
export function paramsOfUrl({ query }: FastifyRequest): RequestParams {
  const given = new Map(Object.entries(query as Readonly<Record<string, unknown>>))
  const params: Record<string, unknown> = {}
  for (const [name, isJson] of PARAMS) {
    const text = given.get(name)
    if (text === undefined || text === '') continue
    if (typeof text !== 'string') refuse(name, 'was sent more than once.')
    params[name] = isJson ? parseParam(name, text) : text
  }
  return requireParams(params)
}

function parseParam(name: string, text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    // The error would say what is there.
    return refuse(name, 'expected a JSON object.')
  }
}

/**
 * Checks the form of the parameters of a request.
 *
 * @throws GraphQLError `invalid_request`
 */
export function requireParams(body: unknown): RequestParams {
  if (!isObject(body)) refuse('body', 'expected a JSON object with query; one request carries one operation.')
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined) continue
    const isJson = PARAMS.get(name) ?? refuse(callerName(name), 'is not a known parameter.')
    if (isJson && !isObject(value)) refuse(name, 'expected an object.')
    if (!isJson && typeof value !== 'string') refuse(name, 'expected a string.')
  }
  return body
}

/** A request without a document says nothing, whatever else is in it. */
export function requireQuery({ query }: RequestParams): string {
  return typeof query === 'string' ? query : refuse('query', 'is required; expected a document of GraphQL.')
}

/** What is no request of GraphQL at all is 400 whatever the media type of the answer. */
function refuse(name: string, detail: string): never {
  const error = graphqlErrorOf(new Problem('invalid_request', { field: [name], detail }))
  error.extensions.http = { status: 400 }
  throw error
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
