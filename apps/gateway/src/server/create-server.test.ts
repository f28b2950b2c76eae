import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { createLogger } from '#ops/logger.ts'
import { createGateway, type Gateway } from '../composition/gateway.ts'
import { createOpsServer, createServer, mountRoutes } from './create-server.ts'

const ADMIN = { username: 'admin', password: 'correct horse' }

let database: Database
let gateway: Gateway
let app: FastifyInstance
let ops: FastifyInstance
/** A gateway that does not show its schema. */
let closed: FastifyInstance
let token: string

beforeAll(async () => {
  database = await openScratchDatabase()
  const config = parseConfig(
    { agents: { models: { platform: 'openai', baseUrl: 'http://127.0.0.1:9', model: 'm' } } },
    {},
  )
  const log = createLogger('silent')
  gateway = await createGateway({ config, database, runtime: systemRuntime, log })
  app = await createServer(config, gateway, log)
  ops = await createOpsServer(config, gateway, log)
  closed = await createServer(
    { ...config, graphql: { ...config.graphql, introspection: false } },
    gateway,
    log,
  )
  await gateway.prepare()
  await gateway.open()
  await gateway.processTasks.firstStart.createFirstAdmin(ADMIN)
  const login = await app.inject({ method: 'POST', url: '/api/v1/login', payload: ADMIN })
  token = login.json().data.access_token
})
afterAll(async () => {
  await gateway?.close()
  await app?.close()
  await ops?.close()
  await closed?.close()
  await database?.close()
})

const query = { query: '{ me { username } }' }
const wrong = { ...ADMIN, password: 'wrong' }
const GET = { method: 'GET' } as const
const POST = { method: 'POST' } as const

test.each<[number, InjectOptions]>([
  [200, { ...GET, url: '/api/v1/users/me' }],
  [200, { method: 'HEAD', url: '/api/v1/users/me' }],
  [200, { ...GET, url: '/api/v1/users/' }],
  [200, { ...GET, url: '/api/v1/usage' }],
  [200, { ...GET, url: '/api/v1/usage?format=csv' }],
  [200, { ...GET, url: '/api/v1/calls?format=csv' }],
  [200, { method: 'HEAD', url: '/api/v1/calls?format=csv' }],
  [200, { ...GET, url: '/api/v1/uploads' }],
  [200, { ...GET, url: '/api/v1/agents' }],
  [200, { ...POST, url: '/api/v1/auth/login', payload: ADMIN }],
  [401, { ...POST, url: '/api/v1/login', payload: wrong }],
  [401, { ...GET, url: '/api/v1/models' }],
  [400, { ...GET, url: '/api/v1/users?colour=red' }],
  [400, { ...GET, url: '/api/v1/users/%' }],
  [404, { ...GET, url: '/api/v1/users/00000000-0000-7000-8000-000000000000' }],
  [404, { ...GET, url: '/api/v1/nothing' }],
  [405, { method: 'PUT', url: '/api/v1/users' }],
  [415, { ...POST, url: '/api/v1/users', payload: 'x', headers: { 'content-type': 'text/plain' } }],
  [401, { ...POST, url: '/api/v1/upload' }],
  [200, { ...POST, url: '/graphql', payload: query }],
  [200, { ...GET, url: `/graphql?query=${encodeURIComponent(query.query)}` }],
  [400, { ...POST, url: '/graphql', payload: '{', headers: { 'content-type': 'application/json' } }],
  [200, { ...GET, url: '/healthz' }],
  [200, { ...GET, url: '/readyz' }],
])('the answer %i for %j is not stored by any cache', async (status, { headers, ...request }) => {
  const answer = await app.inject({ ...request, headers: { authorization: `Bearer ${token}`, ...headers } })
  expect([answer.statusCode, answer.headers['cache-control']]).toEqual([status, 'no-store'])
})

test('health on a port of its own is not stored by any cache either', async () => {
  for (const url of ['/healthz', '/readyz', '/metrics', '/nothing'])
    expect((await ops.inject({ url })).headers['cache-control'], url).toBe('no-store')
})

test('what is public may be kept: the signing keys for a minute, the reference as long as its tag', async () => {
  const cacheOf = async (url: string) => (await app.inject({ url })).headers['cache-control']
  expect(await cacheOf('/.well-known/jwks.json')).toBe('public, max-age=60')
  expect(await cacheOf('/openapi.json')).toBe('no-cache')
  expect(await cacheOf('/docs/')).toBe('no-cache')
})

describe('what programs and language models find by themselves', () => {
  const URL = 'http://127.0.0.1:8080'
  const linksOf = async (server: FastifyInstance) => {
    const { body, headers } = await server.inject('/llms.txt')
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-cache',
    })
    const [heading = '', summary = '', ...rest] = body.split('\n\n')
    expect([heading, summary]).toEqual([
      '# Trunkline',
      expect.stringMatching(/^> .*fastgpt.* is at http:\S+\.$/),
    ])
    const [, ...sections] = rest.join('\n\n').split(/^## .*\n\n/m)
    expect(sections.length).toBeGreaterThan(1)
    return sections.flatMap((section) =>
      section
        .trim()
        .split('\n')
        .map((line) => {
          const [, link = ''] = /^- \[[^\]]+\]\((https?:[^)]+)\): [A-Z].*\.$/.exec(line) ?? []
          expect(link, line).not.toBe('')
          return link
        }),
    )
  }

  test('/llms.txt describes the gateway in the form of llmstxt.org, and links to what it serves', async () => {
    const links = await linksOf(app)
    const own = links.filter((link) => link.startsWith(URL)).map((link) => link.slice(URL.length))
    expect(own).toEqual(['/openapi.json', '/docs', '/schema.graphql', '/graphql'])
    for (const url of own) expect((await app.inject({ url })).statusCode, url).not.toBe(404)
    expect(links).toContain('https://www.npmjs.com/package/@trunkline/sdk')
    expect((await app.inject('/')).json().links).toMatchObject({
      llms: '/llms.txt',
      schema: '/schema.graphql',
    })
  })

  test('/llms.txt has a command whose request is a chat', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
    const payload = { name: 'k', description: 'd', expires_at: tomorrow, permissions: ['chat'] }
    const headers = { authorization: `Bearer ${token}` }
    const made = await app.inject({ ...POST, url: '/api/v1/api-keys', headers, payload })
    const { body } = await app.inject('/llms.txt')
    const [, url = '', data = ''] = /^curl -N http:\/\/127\.0\.0\.1:8080(\S+) .* -d '(.+)'$/m.exec(body) ?? []
    const chat = await app.inject({
      ...POST,
      url,
      headers: { authorization: `Bearer ${made.json().data.full_key}`, agent: 'models' },
      payload: JSON.parse(data),
    })
    // Nothing listens at the address of the agent.
    expect(chat.json()).toMatchObject({ reason: 'agent_unreachable' })
  })

  test('/schema.graphql is the committed schema, for clients that have it no body', async () => {
    const { statusCode, headers, body } = await app.inject('/schema.graphql')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(body).toBe(readFileSync('schema.graphql', 'utf8'))
    const again = await app.inject({ url: '/schema.graphql', headers: { 'if-none-match': headers.etag } })
    expect(again.statusCode).toBe(304)
  })

  test('without introspection nothing shows the schema', async () => {
    const hidden = await closed.inject('/schema.graphql')
    expect(hidden.statusCode).toBe(404)
    expect(hidden.json()).toMatchObject({ code: 404, reason: 'route_not_found' })
    expect((await closed.inject('/')).json().links).not.toHaveProperty('schema')
    expect(await linksOf(closed)).not.toContain(`${URL}/schema.graphql`)
  })
})

test('every schema of a request is one that Ajv knows and compiles, since a start compiles none', async () => {
  const bare = Fastify()
  const schemas = new Map<string, object>()
  const compilers = new Map<string, () => unknown>()
  bare.addHook(
    'onRoute',
    function (this: FastifyInstance, { method, url, schema: parts = {}, validatorCompiler }) {
      if (validatorCompiler !== undefined) return
      const { strict, coercing } = this.shapeValidators
      for (const part of ['params', 'querystring', 'headers', 'body'] as const) {
        const schema = parts[part] as object | undefined
        if (schema === undefined) continue
        const name = `${method} ${url} ${part}`
        schemas.set(name, schema)
        compilers.set(name, () => (part === 'body' ? strict : coercing)(schema))
      }
      for (const [name, schema] of Object.entries(this.getSchemas())) schemas.set(name, schema as object)
    },
  )
  await mountRoutes(bare, parseConfig(undefined, {}), gateway)
  await bare.ready()
  expect([...compilers.keys()]).toContain('POST /api/v1/chat body')
  const ajv = new Ajv({ strict: false })
  for (const [name, schema] of schemas)
    expect(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`).toBe(true)
  for (const [name, compile] of compilers) expect(compile, name).not.toThrow()
  await bare.close()
})
