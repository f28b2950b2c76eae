import { Validator } from '@seriousme/openapi-schema-validator'
import { parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { FINISH_REASONS } from '@trunkline/gateway/src/http/descriptions/chat-descriptions.ts'
import { printOpenApi } from '@trunkline/gateway/src/server/contract.ts'
import { expect, test } from 'vitest'
import { CONTRACT, CONTRACT_TEXT, type OperationObject } from '../support/contract/contract.ts'
import { schemaCheck } from '../support/contract/schema-check.ts'

const operations: readonly OperationObject[] = Object.values(CONTRACT.paths).flatMap((methods) =>
  Object.values(methods),
)

const COMPONENTS = [
  'Agent',
  'ApiKey',
  'ChatChunk',
  'ChatReply',
  'ChatRequest',
  'DetailEvent',
  'ErrorBody',
  'LoginRequest',
  'StreamError',
  'TokenUsage',
  'Upload',
  'UploadForm',
  'User',
]

test('openapi.json matches the route schemas; "pnpm contract" regenerates it', async () => {
  expect(await printOpenApi()).toBe(CONTRACT_TEXT)
})

test('a public validator accepts openapi.json, and every reference resolves', async () => {
  const { valid, errors } = await new Validator().validate(JSON.parse(CONTRACT_TEXT))
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
})

test('openapi.json names its version and no host', () => {
  expect(CONTRACT.info.version).toBe('1.0.0')
  expect(CONTRACT.servers).toEqual([{ url: '/' }])
})

test('openapi.json documents all routes except those that serve the documentation, and no path ends with a slash', () => {
  const paths = Object.keys(CONTRACT.paths)
  expect(paths).toEqual(expect.arrayContaining(['/metrics', '/healthz', '/readyz', '/.well-known/jwks.json']))
  expect(paths.filter((path) => /^\/(?:openapi|docs)|\*|\/$/.test(path))).toEqual([])
})

test('every operation of openapi.json has a unique name, a summary, a tag and its security schemes', () => {
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { operationId, summary, tags, security } of operations) {
    expect([operationId, summary, tags[0]], operationId).not.toContain(undefined)
    expect(security, operationId).toBeInstanceOf(Array)
  }
})

test('components of openapi.json have names that are valid in generated code, and bodies are components', () => {
  const names = Object.keys(CONTRACT.components.schemas)
  expect(names).toEqual(expect.arrayContaining(COMPONENTS))
  for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z]+$/)
  for (const { operationId, requestBody } of operations) {
    for (const { schema } of Object.values(requestBody?.content ?? {})) {
      expect(schema.$ref, operationId).toMatch(/^#\/components\/schemas\/\w+$/)
    }
  }
})

/** Classes that openapi-python-client writes itself, which a component of the same name would replace. */
const CLASSES_OF_GENERATORS = [
  'AuthenticatedClient',
  'Client',
  'File',
  'HTTPStatus',
  'Response',
  'Unset',
  'UUID',
]

test('no two classes of a generated client have the same name', () => {
  interface Inline {
    readonly type?: unknown
    readonly enum?: readonly unknown[]
    readonly properties?: Readonly<Record<string, Inline>>
    readonly items?: Inline
    readonly anyOf?: readonly Inline[]
  }
  const classes: string[] = [...CLASSES_OF_GENERATORS]
  const pascal = (name: string) => name.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())
  // Schemas without a name of their own are named after what they are in.
  const collect = (name: string, { type, enum: words, properties = {}, items, anyOf = [] }: Inline) => {
    if (type === 'object' || words !== undefined) classes.push(name)
    for (const [property, inner] of Object.entries(properties)) collect(name + pascal(property), inner)
    if (items !== undefined) collect(`${name}Item`, items)
    for (const [index, inner] of anyOf.entries()) collect(`${name}Type${index}`, inner)
  }
  for (const [name, schema] of Object.entries(CONTRACT.components.schemas)) collect(name, schema as Inline)
  for (const { operationId, parameters = [], responses } of operations) {
    for (const { name, schema } of parameters) collect(pascal(operationId) + pascal(name), schema as Inline)
    for (const [status, { content = {} }] of Object.entries(responses)) {
      // Generators read the first of several media types.
      const { schema = {} } = Object.values(content as Readonly<Record<string, { schema: Inline }>>)[0] ?? {}
      collect(`${pascal(operationId)}Response${status}`, schema)
    }
  }
  expect(classes.length).toBeGreaterThan(300)
  expect(classes.filter((name, index) => classes.indexOf(name) !== index)).toEqual([])
})

test('every component of openapi.json accepts its own example, and every request body shows one', () => {
  for (const [name, { examples = [] }] of Object.entries(CONTRACT.components.schemas)) {
    expect(examples.length, name).toBeGreaterThan(0)
    const check = schemaCheck(CONTRACT, ['components', 'schemas', name])
    for (const example of examples) expect(check(example), name).toBeUndefined()
  }
  for (const { operationId, requestBody } of operations) {
    for (const { example } of Object.values(requestBody?.content ?? {}))
      expect(example, operationId).toBeDefined()
  }
})

test('keywords that only serve error messages are omitted from openapi.json', () => {
  expect(CONTRACT_TEXT).not.toContain('"expected":')
})

test('openapi.json requires the Agent header, and documents the event stream as one', () => {
  const chat = CONTRACT.paths['/api/v1/chat']?.post
  expect(chat?.parameters).toContainEqual(
    expect.objectContaining({ in: 'header', name: 'Agent', required: true }),
  )
  expect(chat?.responses['200']?.content).toMatchObject({
    'text/event-stream': { schema: expect.anything() },
  })
})

test('openapi.json says of every stream what it carries in silence, and of every reply what its end means', () => {
  const silence = `After every ${parseConfig(undefined, {}).chat.keepAliveMs / 1000} s of silence`
  const streams = operations.filter(({ responses }) => responses['200']?.content?.['text/event-stream'])
  expect(streams.map(({ operationId }) => operationId).sort()).toEqual([
    'chat',
    'createCompletion',
    'createResponse',
    'resumeCall',
  ])
  for (const { operationId, description } of streams) {
    expect(description, operationId).toContain(silence)
    expect(description, operationId).toContain('the comment `: keep-alive`')
  }
  for (const name of ['ChatReply', 'ChatChunk', 'Completion', 'CompletionChunk']) {
    const text = JSON.stringify(CONTRACT.components.schemas[name])
    for (const [word, meaning] of Object.entries(FINISH_REASONS))
      expect(text, name).toContain(`\`${word}\`: ${meaning}`)
  }
})
