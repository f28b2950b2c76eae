import { RESPONSE_HEADERS, type ResponseHeader } from '#http/response/response-headers.ts'

/** The parts of an OpenAPI document that this file reads or writes. */
export interface OpenApiDocument {
  readonly components: { readonly schemas: Named<Schema>; headers?: Named<Header> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags?: { readonly name: string }[]
}

type Named<Value> = Readonly<Record<string, Value>>

interface Header {
  readonly description: string
  readonly required: boolean
  readonly schema: { readonly type: 'string' | 'integer' }
}

interface Operation {
  readonly operationId: string
  readonly tags?: string[]
  readonly parameters?: readonly { readonly in: string; name: string; required: boolean }[]
  readonly requestBody?: { readonly content: Named<Media> }
  readonly responses: Record<string, Response>
  /** The headers that the route's schema names; not part of the finished document. */
  'x-response-headers'?: readonly ResponseHeader[]
}

interface Response {
  description: string
  readonly content: Named<Media>
  headers?: Named<Reference>
}

interface Media {
  readonly schema: Schema
  example?: unknown
}

interface Reference {
  readonly $ref: string
}

interface Schema extends Partial<Reference> {
  readonly type?: string
  readonly const?: unknown
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Named<Schema>
  readonly minimum?: number
  examples?: readonly unknown[]
}

/**
 * Completes the document that the plugin makes from the route schemas: adds headers, examples and the names of wildcards,
 * which the schemas cannot express, and removes `expected` and `otherFields`, which only our error messages read.
 *
 * @throws Error for a tag that has no description
 */
export function completeDocument(made: OpenApiDocument): OpenApiDocument {
  const document = withoutMessages(made) as OpenApiDocument
  const { components } = document
  components.headers = HEADERS
  for (const schema of Object.values(components.schemas)) {
    schema.examples ??= [exampleOf(schema, components.schemas)]
  }
  for (const methods of Object.values(document.paths)) {
    for (const operation of Object.values(methods)) completeOperation(operation, components.schemas)
  }
  requireDescribedTags(document)
  // A wildcard stands for an id with slashes.
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path.replace('{*}', '{id}'),
    methods,
  ])
  return { ...document, paths: Object.fromEntries(paths) }
}

function requireDescribedTags({ paths, tags = [] }: OpenApiDocument): void {
  const described = new Set(tags.map(({ name }) => name))
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const other = operations.flatMap((operation) => operation.tags ?? []).find((tag) => !described.has(tag))
  if (other !== undefined) throw new Error(`describe the tag ${other} in rest/openapi/routes.ts`)
}

function completeOperation(operation: Operation, named: Named<Schema>): void {
  for (const parameter of operation.parameters ?? []) {
    if (parameter.name === '*') parameter.name = 'id'
    if (parameter.in !== 'header') continue
    // Callers must send it. The validator lets its absence pass, so that the answer is `unknown_agent`.
    if (operation.operationId === 'chat' && parameter.name === 'agent') parameter.required = true
    parameter.name = parameter.name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
  }
  // API clients look for the example of a request here and do not follow the reference to the schema.
  for (const media of Object.values(operation.requestBody?.content ?? {})) {
    media.example ??= exampleOf(media.schema, named)
  }
  operation.responses['400'] ??= {
    description: '`reason`: invalid_host.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
  }
  const ofRoute = operation['x-response-headers'] ?? []
  delete operation['x-response-headers']
  for (const [status, response] of Object.entries(operation.responses)) {
    const names = headersOf(status, ofRoute)
    response.headers = Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    )
    // This is the plugin's placeholder for a schema without a description.
    if (response.description === 'Default Response') response.description = 'Success.'
  }
}

const HEADERS: Named<Header> = Object.fromEntries(
  Object.entries(RESPONSE_HEADERS).map(([name, { description, type }]) => [
    name,
    { description, required: false, schema: { type } },
  ]),
)

function headersOf(status: string, ofRoute: readonly ResponseHeader[]): readonly ResponseHeader[] {
  return [
    'X-Request-Id',
    ...(Number(status) < 400 ? [] : (['X-Should-Retry'] as const)),
    ...(HEADERS_OF_STATUS[status] ?? []),
    ...ofRoute,
  ]
}

const HEADERS_OF_STATUS: Named<readonly ResponseHeader[]> = {
  401: ['WWW-Authenticate'],
  202: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** Composes an example from the examples of the fields, so that it cannot go stale. */
function exampleOf(schema: Schema, named: Named<Schema>): unknown {
  const target = named[schema.$ref?.split('/').at(-1) ?? '']
  if (target !== undefined) return exampleOf(target, named)
  const candidates = [schema.examples?.[0], schema.const, schema.default, schema.enum?.[0]]
  const first = candidates.find((value) => value !== undefined)
  if (first !== undefined) return first
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, exampleOf(property, named)]),
      )
    case 'array':
      return schema.items === undefined ? [] : [exampleOf(schema.items, named)]
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'string':
      return 'string'
    default:
      // Every union of the contract that gets here is one with null.
      return null
  }
}

function withoutMessages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMessages)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, child]) => key !== 'otherFields' && (key !== 'expected' || typeof child !== 'string'))
      .map(([key, child]) => [key, withoutMessages(child)]),
  )
}
