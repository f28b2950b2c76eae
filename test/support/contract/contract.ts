import { readFileSync } from 'node:fs'
import { type Check, replyCheck, schemaCheck } from './schema-check.ts'

/** One method of one path of `openapi.json`. */
export interface Operation {
  readonly id: string
  readonly method: string
  /** The path template; {@link fillPath} replaces its parameters. */
  readonly path: string
  /** The JSON request body. */
  readonly body: DocumentedBody | undefined
  readonly parameters: readonly ParameterObject[]
  /** Names of the query parameters. */
  readonly query: readonly string[]
  /** Alternatives, each a list of security scheme names; an empty list allows anonymous callers. */
  readonly credentials: readonly (readonly string[])[]
  readonly responses: ReadonlyMap<number, DocumentedResponse>
}

export interface DocumentedBody {
  readonly required: readonly string[]
  /** A check of the values of each field. */
  readonly fields: ReadonlyMap<string, Check>
  readonly example: unknown
}

export interface DocumentedResponse {
  /** A check of the body for each media type; none for a response without a body. */
  readonly bodies: ReadonlyMap<string, Check>
  readonly headers: ReadonlySet<string>
  /** For errors: the values that `reason` may have. */
  readonly reasons: readonly string[]
}

export const CONTRACT_TEXT = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')
export const CONTRACT = JSON.parse(CONTRACT_TEXT) as ContractDocument

export const OPERATIONS: readonly Operation[] = Object.entries(CONTRACT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    body: documentedBody(operation.requestBody?.content['application/json']),
    parameters: operation.parameters ?? [],
    query: (operation.parameters ?? []).filter(({ in: place }) => place === 'query').map(({ name }) => name),
    credentials: operation.security.map((way) => Object.keys(way)),
    responses: new Map(
      Object.entries(operation.responses).map(([status, response]) => [
        Number(status),
        documentedResponse(response, ['paths', path, method, 'responses', status]),
      ]),
    ),
  })),
)

/**
 * A path without parameters. `id` replaces the parameter of the path; if there are several, it contains their values with
 * slashes between them.
 */
export function fillPath(path: string, id: string): string {
  return path.replace(PARAMETERS, id)
}

/** The path with some value for every parameter. */
export function anyPath(path: string): string {
  return path.replace(/\{\w+\}/g, 'x')
}

/** A regular expression for all paths that the template stands for. */
export function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
}

export function hasParameters({ path }: Pick<Operation, 'path'>): boolean {
  return path.search(PARAMETERS) >= 0
}

const PARAMETERS = /\{\w+\}(?:\/\{\w+\})*/

export function operationOf(id: string): Operation {
  const operation = OPERATIONS.find((candidate) => candidate.id === id)
  if (operation === undefined) throw new Error(`openapi.json has no operation ${id}`)
  return operation
}

/** Includes operations that need no body, because a body that is sent is parsed all the same. */
export function readsJson({ responses }: Operation): boolean {
  return responses.get(400)?.reasons.includes('invalid_json') === true
}

export function needsCredential({ credentials }: Operation): boolean {
  return credentials.length > 0 && !credentials.some((way) => way.length === 0)
}

/** Request bodies are references to components; another test checks that they are. */
function documentedBody(media: MediaObject | undefined): DocumentedBody | undefined {
  if (media === undefined) return undefined
  const { schema, example } = media
  const place = schema.$ref.split('/').slice(1)
  const component = CONTRACT.components.schemas[place.at(-1) ?? '']
  const fields = Object.keys(component?.properties ?? {})
  return {
    required: component?.required ?? [],
    fields: new Map(fields.map((field) => [field, schemaCheck(CONTRACT, [...place, 'properties', field])])),
    example,
  }
}

function documentedResponse(response: ResponseObject, place: readonly string[]): DocumentedResponse {
  return {
    bodies: new Map(
      Object.keys(response.content ?? {}).map((type) => [
        type,
        replyCheck(CONTRACT, [...place, 'content', type, 'schema']),
      ]),
    ),
    headers: new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase())),
    reasons: /^`reason`: (.+)\.$/.exec(response.description)?.[1]?.split(', ') ?? [],
  }
}

export interface ContractDocument {
  readonly info: { readonly version: string }
  readonly servers: readonly { readonly url: string }[]
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
}

interface SchemaObject {
  readonly examples?: readonly unknown[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, unknown>>
}

export interface OperationObject {
  readonly operationId: string
  readonly description?: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly ParameterObject[]
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaObject>> }
  readonly responses: Readonly<Record<string, ResponseObject>>
}

export interface ParameterObject {
  readonly in: string
  readonly name: string
  readonly required: boolean
  readonly schema: { readonly enum?: readonly unknown[] }
}

interface MediaObject {
  readonly schema: { readonly $ref: string }
  readonly example: unknown
}

interface ResponseObject {
  readonly description: string
  readonly content?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, unknown>>
}
