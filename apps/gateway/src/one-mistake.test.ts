import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { joinPath } from '#core/base/values/field-path.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { createLogger } from '#ops/logger.ts'
import { createCommands } from '#process/commands.ts'
import { refusalLine } from '#process/refusal-line.ts'
import { createServer } from '#server/create-server.ts'
import { createGateway, type Gateway } from './composition/gateway.ts'

let database: Database
let gateway: Gateway
let app: FastifyInstance
let admin: Principal
let token: string
/** It acts for its owner, so that a chat may name the end user in its body although a header is trusted. */
let apiKey: string

const NEW_KEY = {
  name: 'k',
  description: '',
  expiresAt: '2027-01-31T00:00:00Z',
  permissions: ['chat'],
  allowedAgents: ['models', 'nobody'],
}
const EXPECTED = 'expected agent or agent/app, where agent is one of models.'

beforeAll(async () => {
  database = await openScratchDatabase()
  const agents = { models: { platform: 'openai', baseUrl: 'http://127.0.0.1:9', model: 'm' } }
  const config = parseConfig({ agents, conversations: { endUserHeader: 'x-person' } }, {})
  const log = createLogger('silent')
  gateway = await createGateway({ config, database, runtime: systemRuntime, log })
  app = await createServer(config, gateway, log)
  await gateway.prepare()
  await gateway.open()
  const { keys } = gateway.services
  await gateway.processTasks.firstStart.createFirstAdmin({ username: 'admin', password: 'correct horse' })
  const { id } = await database.prisma.user.findFirstOrThrow()
  admin = { userId: id, role: 'admin', via: { kind: 'token', tokenId: '', expiresAt: new Date() } }
  const permissions = ['admin']
  const rest = { allowedAgents: ['models'], permissions, expiresAt: inAnHour() }
  const made = await keys.create(admin, { ...NEW_KEY, ...rest })
  apiKey = made.fullKey
  const payload = { username: 'admin', password: 'correct horse' }
  const login = await app.inject({ method: 'POST', url: '/api/v1/login', payload })
  token = login.json().data.access_token
})
afterAll(async () => {
  await gateway?.close()
  await app?.close()
  await database?.close()
})

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}

function problemOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function post(url: string, credential: string, payload: object, headers = {}) {
  const authorization = `Bearer ${credential}`
  const answer = await app.inject({ method: 'POST', url, payload, headers: { authorization, ...headers } })
  return answer.json()
}

describe('one mistake, an agent that does not exist in a list', () => {
  test('is a path in the service', async () => {
    const problem = await problemOf(gateway.services.keys.create(admin, NEW_KEY))
    expect(problem).toBeInstanceOf(Problem)
    expect(problem).toMatchObject({ field: ['allowedAgents', 1], detail: `allowedAgents[1]: ${EXPECTED}` })
  })

  test('is named by REST as the field of its body', async () => {
    const { expiresAt, allowedAgents, ...rest } = NEW_KEY
    const body = { ...rest, expires_at: expiresAt, allowed_agents: allowedAgents }
    expect(await post('/api/v1/api-keys', token, body)).toMatchObject({
      reason: 'invalid_request',
      detail: `body.allowed_agents[1]: ${EXPECTED}`,
    })
  })

  test('is named by the command line as its option', async () => {
    const run = createCommands({ ...gateway, database })
    const problem = await problemOf(run('keys create', { owner: 'admin', ...NEW_KEY }, 'root@host'))
    expect(refusalLine(problem)).toBe(`--agents[1]: ${EXPECTED}`)
  })

  test('can be named by GraphQL as its input', async () => {
    const problem = await problemOf(gateway.services.keys.create(admin, NEW_KEY))
    const inInput = problem instanceof Problem && problem.describe((field) => joinPath(['input', ...field]))
    expect(inInput).toBe(`input.allowedAgents[1]: ${EXPECTED}`)
  })
})

describe('one mistake, an end user with a control character', () => {
  const expected = 'expected at most 256 characters, no control characters or lone surrogates.'
  const chat = {
    app_id: '',
    chat_id: '',
    stream: false,
    detail: false,
    query: 'q',
    conversation_id: '',
    files: [],
  }
  const completion = { model: 'models', messages: [{ role: 'user', content: 'q' }] }

  // Where the end user comes from a header, one in the body is not believed.
  test('is named by REST as its header', async () => {
    const ask = async (body: object, headers = {}) =>
      (await post('/api/v1/chat', apiKey, { ...chat, ...body }, { agent: 'models', ...headers })).detail
    expect(await ask({}, { 'x-person': 'a%0Ab' })).toBe(`headers.x-person: ${expected}`)
  })

  test('is named by the OpenAI face in `param`', async () => {
    const ask = async (body: object, headers = {}) =>
      (await post('/api/v1/chat/completions', apiKey, { ...completion, ...body }, headers)).error
    expect(await ask({}, { 'x-person': 'a%0Ab' })).toMatchObject({
      message: `headers.x-person: ${expected}`,
      param: 'x-person',
    })
    const metadata = { conversation_id: 'a\nb' }
    expect(await ask({ metadata })).toMatchObject({ param: 'metadata.conversation_id' })
    expect(await ask({}, { 'x-conversation-id': 'a%0Ab' })).toMatchObject({ param: 'x-conversation-id' })
    expect(await ask({ model: 'nobody' })).toMatchObject({ code: 'model_not_found', param: 'model' })
    expect(await ask({}, { agent: 'nobody' })).toMatchObject({ code: 'unknown_agent', param: 'agent' })
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'video' }] }]
    expect(await ask({ messages })).toMatchObject({ param: 'messages[0].content[1].type' })
  })
})

test('no problem of core contains field names of one face', () => {
  const core = join(import.meta.dirname, 'core')
  const sources = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.includes('.test'),
  )
  expect(sources.length).toBeGreaterThan(50)
  for (const file of sources) {
    const found = /['"`](?:body|query|headers|params|path)\.[a-z]\w*[^'"`\n]*:/.exec(
      readFileSync(join(core, file), 'utf8'),
    )
    expect(found?.[0], file).toBeUndefined()
  }
})
