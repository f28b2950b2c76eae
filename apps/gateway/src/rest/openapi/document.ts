/** What of an OpenAPI document is read or written here. */
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

/** Adds what the route schemas cannot say, and takes out what they say to our validator alone. */
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
    // Optional to the validator, so that its absence is told as `unknown_agent`; required to whoever calls.
    if (operation.operationId === 'chat' && parameter.name === 'agent') parameter.required = true
    parameter.name = parameter.name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
  }
  // Tools that send requests look for the example here and not behind the reference.
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
    // The plugin's word for a schema without a description.
    if (response.description === 'Default Response') response.description = 'Success.'
  }
}

const HEADERS = {
  'X-Request-Id': header(
    "The caller's, if it was a plain token of at most 128 characters; else a fresh one.",
  ),
  'X-Should-Retry': header('`true` where the same request may succeed later, else `false`.'),
  'WWW-Authenticate': header('`Bearer`.'),
  'Retry-After': header('Seconds to wait, where that is known.', 'integer'),
  'RateLimit-Policy': header('The limit: `"<name>";q=<requests>;w=<seconds>`.'),
  RateLimit: header('What is left of it: `"<name>";r=<requests>;t=<seconds until it is whole again>`.'),
  'X-Call-Id': header('The admitted call, as the ledger names it.'),
  'X-Conversation-Id': header(
    'The `id` of the reply; percent-encoded (UTF-8) where it holds anything but printable ASCII, or a `%`.',
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

/** On whichever answer, once it is known. */
const HEADERS_OF_OPERATION: Named<readonly HeaderName[]> = {
  chat: CALL_HEADERS,
  createCompletion: CALL_HEADERS,
  listAgents: LIMIT_HEADERS,
  readUsage: LIMIT_HEADERS,
  listCalls: LIMIT_HEADERS,
}

/** Put together from the examples of the fields, so that it cannot go stale. */
function exampleOf(schema: Schema, named: Named<Schema>): unknown {
  const target = named[schema.$ref?.split('/').at(-1) ?? '']
  if (target !== undefined) return exampleOf(target, named)
  const told = [schema.examples?.[0], schema.const, schema.default, schema.enum?.[0]]
  const first = told.find((value) => value !== undefined)
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
      // A union here is one with null.
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
