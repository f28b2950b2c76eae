import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { MISTAKES_MAX } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { createGateway, type Gateway } from './composition/gateway.ts'

let database: Database
let gateway: Gateway
let app: FastifyInstance
let token: string
let apiKey: string
let keyId: string

beforeAll(async () => {
  database = await openScratchDatabase()
  const agents = { models: { platform: 'openai', baseUrl: 'http://127.0.0.1:9', model: 'm' } }
  const config = parseConfig({ agents }, {})
  const log = createLogger('silent')
  gateway = await createGateway({ config, database, runtime: systemRuntime, log })
  app = await createServer(config, gateway, log)
  await gateway.prepare()
  await gateway.open()
  await gateway.processTasks.firstStart.createFirstAdmin(ADMIN)
  token = (await send('POST', '/api/v1/login', ADMIN)).json().data.access_token
  const { data } = (await send('POST', '/api/v1/api-keys', newKey())).json()
  apiKey = data.full_key
  keyId = data.id
})
afterAll(async () => {
  await gateway?.close()
  await app?.close()
  await database?.close()
})

const ADMIN = { username: 'admin', password: 'correct horse' }

function newKey() {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  return { name: 'k', description: '', permissions: ['chat', 'upload'], expires_at }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

function send(method: Method, url: string, payload?: object, as = token, headers = {}) {
  const request = { method, url, headers: { authorization: `Bearer ${as}`, ...headers } }
  return app.inject(payload === undefined ? request : { ...request, payload })
}

/** Sends a request twice, which must be refused alike, and returns what is wrong with each field. */
async function mistakesOf(...request: Parameters<typeof send>): Promise<Record<string, string>> {
  const [first, second] = [await send(...request), await send(...request)]
  const { request_id: _first, ...body } = first.json()
  const { request_id: _second, ...repeated } = second.json()
  expect(body).toEqual(repeated)
  expect(body).toMatchObject({ code: 400, reason: 'invalid_request' })
  const fields: readonly { field: string; message: string }[] = body.fields
  return Object.fromEntries(fields.map(({ field, message }) => [field, message]))
}

describe('every operation of the API that is no chat', () => {
  let operations: readonly Operation[]
  beforeAll(async () => {
    operations = operationsOf((await app.inject('/openapi.json')).json())
    expect(operations.length).toBeGreaterThan(35)
  })

  const credentialOf = ({ security }: Operation) =>
    security.some((way) => 'accessToken' in way) ? token : apiKey

  test('refuses unknown query parameters, each by its name', async () => {
    for (const operation of operations) {
      const { method, path } = operation
      const names = ['colour', 'Limits', 'constructor', '__proto__', '']
      const query = [...names, 'colour'].map((name) => `${name}=red`).join('&')
      const mistakes = await mistakesOf(method, `${path}?${query}`, undefined, credentialOf(operation))
      for (const name of names)
        expect(mistakes[`query.${name}`], `${method} ${path}`).toMatch(/^is not a known parameter\./)
    }
  })

  test('refuses unknown fields of its body, on every level, together with its other mistakes', async () => {
    let levels = 0
    for (const { method, path, body, example } of operations) {
      if (body === undefined) continue
      for (const place of objectsIn(body)) {
        const wrong = Object.fromEntries(UNKNOWN_NAMES.map((name) => [name, 'secret']))
        const mistakes = await mistakesOf(method, path, withObject(example, place, wrong))
        for (const name of UNKNOWN_NAMES) {
          const field = ['body', ...place, name].join('.')
          expect(mistakes[field], `${method} ${path}`).toMatch(/^is not a known field\./)
        }
        levels += 1
      }
      const [required] = body.required ?? []
      if (required === undefined) continue
      const mistakes = await mistakesOf(method, path, { ...example, [required]: undefined, colour: 'red' })
      expect(Object.keys(mistakes)).toEqual([`body.${required}`, 'body.colour'])
    }
    expect(levels).toBeGreaterThan(12)
  })

  test('without a body refuses the fields of one that is sent', async () => {
    for (const operation of operations.filter(({ method, takesBody }) => method !== 'GET' && !takesBody)) {
      const { method, path } = operation
      const as = credentialOf(operation)
      expect(await mistakesOf(method, path, { dry_run: true, force: 1 }, as), path).toEqual({
        'body.dry_run': 'is not a known field.',
        'body.force': 'is not a known field.',
      })
      expect(await mistakesOf(method, path, [{}], as), path).toEqual({
        body: 'expected no body or an empty object.',
      })
    }
    const nobody = '/api/v1/api-keys/019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10/revoke'
    for (const body of [undefined, {}]) expect((await send('POST', nobody, body)).statusCode).toBe(404)
  })

  test('says so in the document of the API', () => {
    for (const { path, body, reasons } of operations) {
      expect(reasons, path).toContain('invalid_request')
      const forms = body === undefined ? [] : objectsIn(body).map((place) => objectOf(objectAt(body, place)))
      for (const form of forms) expect(form?.additionalProperties, path).toBe(false)
    }
  })
})

describe('the nearest known name is said', () => {
  test.each<[Method, string, object, Record<string, string>]>([
    [
      'POST',
      '/api/v1/api-keys',
      { allowed_agent: ['models'], expiresAt: '2027-01-31' },
      {
        'body.allowed_agent': 'is not a known field. Did you mean allowed_agents?',
        'body.expiresAt': 'is not a known field. Did you mean expires_at?',
      },
    ],
    [
      'POST',
      '/api/v1/api-keys',
      { limits: { chat_per_minut: 5 } },
      { 'body.limits.chat_per_minut': 'is not a known field. Did you mean chat_per_minute?' },
    ],
    [
      'POST',
      '/api/v1/users',
      { max_calls: 5, state: 'suspended' },
      {
        'body.max_calls': 'is not a known field. Did you mean max_api_calls?',
        'body.state':
          'is not a known field. Did you mean status? It cannot be set; a new user is active, and `PATCH /api/v1/users/{id}` changes it.',
      },
    ],
    [
      'PATCH',
      '/api/v1/users/x',
      { state: 'suspended', password: 'another one' },
      {
        'body.state': 'is not a known field. Did you mean status?',
        'body.password': 'cannot be changed here; send it to `PUT /api/v1/users/{id}/password`.',
      },
    ],
    [
      'PATCH',
      '/api/v1/api-keys/x',
      { state: 'paused', is_activ: false },
      {
        'body.state': 'cannot be changed.',
        'body.is_activ': 'is not a known field. Did you mean is_active?',
      },
    ],
  ])('%s %s %o', async (method, path, body, expected) => {
    expect(await mistakesOf(method, path, body)).toMatchObject(expected)
  })

  test('for a parameter', async () => {
    expect(await mistakesOf('GET', '/api/v1/calls?key=1&outcom=done')).toEqual({
      'query.key': 'is not a known parameter.',
      'query.outcom': 'is not a known parameter. Did you mean outcome?',
    })
  })
})

test('a whole record that is sent back names each field that cannot be changed, and changes nothing', async () => {
  const url = `/api/v1/api-keys/${keyId}`
  const { data } = (await send('GET', url)).json()
  const restrictions = ['allowed_agents', 'allowed_addresses', 'limits']
  const changeable = ['name', 'description', 'expires_at', 'is_active', ...restrictions]
  const mistakes = await mistakesOf('PATCH', url, { ...data, name: 'renamed' })
  const fixed = Object.keys(data).filter((name) => !changeable.includes(name))
  expect(Object.keys(mistakes).toSorted()).toEqual(fixed.map((name) => `body.${name}`).toSorted())
  for (const message of Object.values(mistakes)) expect(message).toMatch(/^cannot be changed/)
  expect((await send('GET', url)).json().data).toEqual(data)
  const sent = Object.fromEntries(changeable.map((name) => [name, data[name]]))
  expect((await send('PATCH', url, sent)).json().data).toEqual(data)
})

test('a refused body changes nothing, however much of it is right', async () => {
  const before = (await send('GET', '/api/v1/api-keys')).json().data
  await mistakesOf('POST', '/api/v1/api-keys', { ...newKey(), allowed_agent: ['models'] })
  expect((await send('GET', '/api/v1/api-keys')).json().data).toEqual(before)
})

test('names without number or end make no large answer', async () => {
  const names = Array.from({ length: 50_000 }, (_, n) => [`name_${n}`, n])
  const long = 'allowed_agents'.repeat(10_000)
  const many = await send('PATCH', '/api/v1/api-keys/x', Object.fromEntries(names))
  expect(many.json().fields).toHaveLength(MISTAKES_MAX)
  expect(many.body.length).toBeLessThan(10_000)
  expect((await send('PATCH', '/api/v1/api-keys/x', { [long]: 1 })).body.length).toBeLessThan(1_000)
})

describe('parameters of another format are refused', () => {
  const NEEDS_CSV = 'needs `format=csv`.'
  const NO_PAGES = 'cannot be combined with `format=csv`, which has no pages.'

  test.each(['', '&format=json'])('those of the CSV of a report (%s)', async (format) => {
    const query = 'rows=totals&labels=false'
    expect(await mistakesOf('GET', `/api/v1/usage?${query}${format}`)).toEqual({
      'query.rows': NEEDS_CSV,
      'query.labels': NEEDS_CSV,
    })
  })

  test.each(['calls', 'refusals', 'audit', 'conversations'])('pages of the CSV of %s', async (list) => {
    const { data } = (await send('GET', `/api/v1/${list}?limit=1`)).json()
    expect(data.items).toBeDefined()
    expect(await mistakesOf('GET', `/api/v1/${list}?format=csv&limit=20`)).toEqual({
      'query.limit': NO_PAGES,
    })
    const wrong = await mistakesOf('GET', `/api/v1/${list}?format=csv&limit=0&colour=red`)
    expect(Object.keys(wrong)).toEqual(['query.limit', 'query.colour'])
  })

  test('and no others, with a format that does not exist', async () => {
    expect(Object.keys(await mistakesOf('GET', '/api/v1/usage?format=CSV&rows=totals'))).toEqual([
      'query.format',
    ])
    expect((await send('GET', '/api/v1/usage?format=csv&rows=totals&labels=true')).statusCode).toBe(200)
  })
})

describe('what others send is taken as before', () => {
  const chat = { app_id: '', chat_id: 'a', stream: false, detail: false, query: 'q', conversation_id: '' }

  test.each([
    ['/api/v1/chat', { ...chat, files: [], colour: 'red' }],
    [
      '/api/v1/chat/completions',
      { model: 'models', messages: [{ role: 'user', content: 'q', colour: 'red' }] },
    ],
    ['/api/v1/responses', { model: 'models', input: 'q', colour: 'red' }],
  ])('%s ignores what it does not know', async (path, body) => {
    const answer = await send('POST', `${path}?colour=red`, body, apiKey, { agent: 'models' })
    // The agent is not there, so the body was good.
    expect(answer.statusCode).toBe(502)
  })

  test.each(['/.well-known/jwks.json', '/healthz', '/readyz', '/metrics'])(
    '%s ignores parameters',
    async (path) => {
      expect((await send('GET', `${path}?colour=red`, undefined, apiKey)).statusCode).toBe(200)
    },
  )
})

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly additionalProperties?: unknown
}

interface Operation {
  readonly method: Method
  readonly path: string
  readonly security: readonly object[]
  readonly takesBody: boolean
  readonly body: Schema | undefined
  readonly example: Readonly<Record<string, unknown>>
  readonly reasons: string
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface DocumentedOperation {
  readonly tags: readonly string[]
  readonly security: readonly object[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example: object }>>
  }
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

const UNKNOWN_NAMES = ['colour', 'constructor', 'x'.repeat(40)]

function operationsOf({ paths, components }: Document): Operation[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { tags }]) => !tags.includes('chat') && !tags.includes('openai'))
        .map(([method, { security, requestBody, responses }]) => {
          const json = requestBody?.content['application/json']
          return {
            method: method.toUpperCase() as Method,
            path: path.replace(/\{\w+\}/g, 'x'),
            security,
            takesBody: requestBody !== undefined,
            body: json && components.schemas[json.schema.$ref?.split('/').at(-1) ?? ''],
            example: { ...json?.example },
            reasons: responses['400']?.description ?? '',
          }
        }),
    )
}

/** The places of the objects with fields within a body, that of the body itself first. */
function objectsIn(schema: Schema, place: readonly string[] = []): (readonly string[])[] {
  const { properties } = objectOf(schema) ?? {}
  if (properties === undefined) return []
  return [place, ...Object.entries(properties).flatMap(([name, field]) => objectsIn(field, [...place, name]))]
}

function objectOf(schema: Schema): Schema | undefined {
  return [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties !== undefined)
}

function objectAt(schema: Schema, place: readonly string[]): Schema {
  return place.reduce<Schema>((at, name) => objectOf(at)?.properties?.[name] ?? {}, schema)
}

function withObject(body: object, [name, ...rest]: readonly string[], fields: object): object {
  if (name === undefined) return { ...body, ...fields }
  return { ...body, [name]: withObject({}, rest, fields) }
}
