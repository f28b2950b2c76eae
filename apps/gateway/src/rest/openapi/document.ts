/** The parts of an OpenAPI document that this file reads or writes. */
export interface OpenApiDocument {
  readonly components: { readonly schemas: Named<Schema>; headers?: Named<Header> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

type Named<Value> = Readonly<Record<string, Value>>

interface Header {
  readonly description: string
  readonly required: boolean
  readonly schema: { readonly type: 'string' | 'integer' }
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly in: string; name: string; required: boolean }[]
  readonly requestBody?: { readonly content: Named<Media> }
  readonly responses: Record<string, Response>
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
 * which the schemas cannot express, and removes `expected`, which only our error messages read.
 */
export function completeDocument(made: OpenApiDocument): OpenApiDocument {
  const document = withoutExpected(made) as OpenApiDocument
  const { components } = document
  components.headers = HEADERS
  for (const schema of Object.values(components.schemas)) {
    schema.examples ??= [exampleOf(schema, components.schemas)]
  }
  for (const methods of Object.values(document.paths)) {
    for (const operation of Object.values(methods)) completeOperation(operation, components.schemas)
  }
  // A wildcard stands for an id with slashes.
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path.replace('{*}', '{id}'),
    methods,
  ])
  return { ...document, paths: Object.fromEntries(paths) }
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
  for (const [status, response] of Object.entries(operation.responses)) {
    const names = headersOf(operation.operationId, status)
    response.headers = Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    )
    // This is the plugin's placeholder for a schema without a description.
    if (response.description === 'Default Response') response.description = 'Success.'
  }
}

const HEADERS = {
  'X-Request-Id': header(
    'The id of this request: the one that the caller sent, if it is a plain token of at most 128 characters, or else a new one.',
  ),
  'X-Should-Retry': header('`true` if the same request may succeed later, or else `false`.'),
  'WWW-Authenticate': header('The expected scheme, always `Bearer`.'),
  'Retry-After': header('The number of seconds to wait before a retry, if it is known.', 'integer'),
  'RateLimit-Policy': header('The limit that applies: `"<name>";q=<requests>;w=<window in seconds>`.'),
  RateLimit: header(
    'What is left of the limit: `"<name>";r=<remaining requests>;t=<seconds until the limit is full again>`.',
  ),
  'X-Call-Id': header('The id under which the ledger (`GET /api/v1/calls`) records this call.'),
  'X-Conversation-Id': header(
    'The id of the conversation, to be sent with its next message. It is percent-encoded (UTF-8) where it contains a `%` or anything but printable ASCII.',
  ),
} as const satisfies Record<string, Header>

type HeaderName = keyof typeof HEADERS

function header(description: string, type: 'string' | 'integer' = 'string'): Header {
  return { description, required: false, schema: { type } }
}

function headersOf(operationId: string, status: string): readonly HeaderName[] {
  return [
    'X-Request-Id',
    ...(Number(status) < 400 ? [] : (['X-Should-Retry'] as const)),
    ...(HEADERS_OF_STATUS[status] ?? []),
    ...(HEADERS_OF_OPERATION[operationId] ?? []),
  ]
}

const HEADERS_OF_STATUS: Named<readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

const LIMIT_HEADERS: readonly HeaderName[] = ['RateLimit-Policy', 'RateLimit']

const CALL_HEADERS: readonly HeaderName[] = ['X-Call-Id', 'X-Conversation-Id', ...LIMIT_HEADERS]

/** Any response of these operations has these headers once their values are known, errors included. */
const HEADERS_OF_OPERATION: Named<readonly HeaderName[]> = {
  chat: CALL_HEADERS,
  createCompletion: CALL_HEADERS,
  listAgents: LIMIT_HEADERS,
  readUsage: LIMIT_HEADERS,
  listCalls: LIMIT_HEADERS,
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

function withoutExpected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExpected)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, child]) => key !== 'expected' || typeof child !== 'string')
      .map(([key, child]) => [key, withoutExpected(child)]),
  )
}
