import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { MISTAKES_MAX } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { sentAgain } from '#test/graphql/sent-again.test-support.ts'
import { createGateway, type Gateway } from './composition/gateway.ts'

let database: Database
let gateway: Gateway
let app: FastifyInstance
let token: string
let apiKey: string

beforeAll(async () => {
  database = await openScratchDatabase()
  const agents = { models: { platform: 'openai', baseUrl: 'http://127.0.0.1:9', model: 'm' } }
  const config = parseConfig({ agents }, {})
  const log = createLogger('silent')
  gateway = await createGateway({ config, database, runtime: systemRuntime, log })
  app = await createServer(config, gateway, log)
  await gateway.prepare()
  await gateway.open()
  const { firstStart } = gateway.processTasks
  await firstStart.createFirstAdmin({ username: 'admin', password: 'correct horse' })
  const payload = { username: 'admin', password: 'correct horse' }
  const login = await app.inject({ method: 'POST', url: '/api/v1/login', payload })
  token = login.json().data.access_token
  const key = { name: 'k', description: '', permissions: ['chat'], expires_at: inAnHour() }
  apiKey = (await send('POST', '/api/v1/api-keys', key)).data.full_key
})
afterAll(async () => {
  await gateway?.close()
  await app?.close()
  await database?.close()
})

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}

async function send(method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object, headers = {}) {
  const authorization = `Bearer ${token}`
  const request = { method, url, headers: { authorization, ...headers } }
  const answer = await app.inject(payload === undefined ? request : { ...request, payload })
  return answer.json()
}

/** The fields of an error body, which begins with its detail. */
async function fieldsOf(...request: Parameters<typeof send>): Promise<readonly string[]> {
  const { detail, fields } = await send(...request)
  expect(detail).toBe(`${fields[0].field}: ${fields[0].message}`)
  return fields.map(({ field }: { field: string }) => field)
}

async function errorOf(query: string, variables: object = {}, credential = token) {
  const headers = { authorization: `Bearer ${credential}` }
  const payload = { query, variables }
  const { errors } = (await sentAgain(app, { method: 'POST', url: '/graphql', headers, payload })).json()
  expect(errors).toHaveLength(1)
  const { message, extensions } = errors[0]
  const [first] = extensions.fields
  expect([message, extensions.field]).toEqual([`${first.field}: ${first.message}`, first.field])
  return extensions
}

async function inputsOf(...request: Parameters<typeof errorOf>): Promise<readonly string[]> {
  return (await errorOf(...request)).fields.map(({ field }: { field: string }) => field)
}

describe('REST names every mistake of a form, in the order of its schema', () => {
  test('for types, missing fields and rules together', async () => {
    const user = { quota_period: 'week', role: 'root', max_api_calls: -1, username: '?' }
    expect(await fieldsOf('POST', '/api/v1/users', user)).toEqual([
      'body.username',
      'body.password',
      'body.role',
      'body.max_api_calls',
      'body.quota_period',
    ])
  })

  test('for rules alone', async () => {
    const limits = { chat_per_minute: 0, upload_per_minute: 10_000 }
    const expires_at = '2020-01-01T00:00:00Z'
    const body = {
      name: ' ',
      description: '\0',
      permissions: ['chat'],
      expires_at,
      allowed_agents: ['x', 'models', 'y'],
    }
    expect(await fieldsOf('POST', '/api/v1/api-keys', { ...body, limits })).toEqual([
      'body.name',
      'body.description',
      'body.expires_at',
      'body.allowed_agents[0]',
      'body.allowed_agents[2]',
      'body.limits.chat_per_minute',
      'body.limits.upload_per_minute',
    ])
  })

  test('an item of the wrong type does not hide the rules for its neighbours', async () => {
    const body = { allowed_agents: ['x', 5], limits: { chat_per_minute: 'many', upload_per_minute: 0 } }
    const url = '/api/v1/api-keys/019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'
    expect(await fieldsOf('PATCH', url, body)).toEqual([
      'body.allowed_agents[0]',
      'body.allowed_agents[1]',
      'body.limits.chat_per_minute',
      'body.limits.upload_per_minute',
    ])
  })

  test('for a chat', async () => {
    const chat = {
      app_id: '',
      chat_id: 'a\nb',
      stream: 'yes',
      detail: false,
      query: ' ',
      conversation_id: '',
    }
    const headers = { authorization: `Bearer ${apiKey}`, agent: 'nobody' }
    const body = { ...chat, files: ['http://10.0.0.1/', 'https://example.com/a', 'ftp://a'] }
    expect(await fieldsOf('POST', '/api/v1/chat', body, headers)).toEqual([
      'body.chat_id',
      'body.stream',
      'body.files[0]',
      'body.files[2]',
      'headers.agent',
    ])
  })

  test('a chat with mistakes of several reasons is an invalid request', async () => {
    const chat = { app_id: '', chat_id: 'a\nb', stream: true, detail: false, query: 'q', conversation_id: '' }
    const headers = { authorization: `Bearer ${apiKey}`, agent: 'nobody' }
    const body = { ...chat, files: ['ftp://a'] }
    expect(await fieldsOf('POST', '/api/v1/chat', body, headers)).toEqual([
      'body.chat_id',
      'body.files[0]',
      'headers.agent',
    ])
    expect((await send('POST', '/api/v1/chat', body, headers)).reason).toBe('invalid_request')
    const alone = { ...body, chat_id: '', files: [] }
    expect((await send('POST', '/api/v1/chat', alone, headers)).reason).toBe('unknown_agent')
  })

  test('for the parameters of a report and of a list', async () => {
    const report = 'from=2026-02-30&to=soon&timezone=Atlantis&granularity=year&group_by=colour&extra=1'
    expect(await fieldsOf('GET', `/api/v1/usage?${report}`)).toEqual(
      expect.arrayContaining(
        ['from', 'to', 'timezone', 'granularity', 'group_by', 'extra'].map((name) => `query.${name}`),
      ),
    )
    const calls = 'from=2026-02-02&to=2026-02-01&limit=0&cursor=x&conversation=%00'
    expect(await fieldsOf('GET', `/api/v1/calls?${calls}`)).toEqual([
      'query.limit',
      'query.cursor',
      'query.conversation',
      'query.from',
    ])
  })

  test('one mistake alone is in `fields` as well, and what is no mistake of an input has none', async () => {
    expect(await fieldsOf('POST', '/api/v1/users', { username: 'alice', password: 'short' })).toEqual([
      'body.password',
    ])
    expect(await send('GET', '/api/v1/users/nobody')).not.toHaveProperty('fields')
  })

  test('a name that is taken has its field', async () => {
    const body = { username: 'admin', password: 'correct horse' }
    expect(await send('POST', '/api/v1/users', body)).toMatchObject({
      reason: 'username_taken',
      fields: [{ field: 'body.username' }],
    })
  })

  test('no more than a bounded number is searched, and no value is repeated', async () => {
    const wrong = { secret: 'hunter2' }
    const body = { permissions: Array.from({ length: 10_000 }, () => wrong), allowed_agents: ['hunter2'] }
    const answer = await send('POST', '/api/v1/api-keys', body)
    expect(answer.fields).toHaveLength(MISTAKES_MAX)
    expect(JSON.stringify(answer)).not.toContain('hunter2')
  })

  test('the OpenAI-compatible routes keep the form of OpenAI, with the first mistake', async () => {
    const headers = { authorization: `Bearer ${apiKey}` }
    const { error } = await send('POST', '/api/v1/chat/completions', { messages: 5 }, headers)
    expect(Object.keys(error)).toEqual(['message', 'type', 'code', 'param'])
    expect(error.message).toContain(`body.${error.param}: `)
  })
})

describe('GraphQL names every mistake of a form', () => {
  const CREATE_USER = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }'

  test('of the types of variables, before any rule is applied', async () => {
    const input = { maxApiCalls: 'many', role: 'ROOT', password: 'short', username: '?' }
    expect(await inputsOf(CREATE_USER, { input })).toEqual(['input.role', 'input.maxApiCalls'])
  })

  test('of the rules', async () => {
    const input = { maxApiCalls: -1, password: 'short', username: '?' }
    expect(await inputsOf(CREATE_USER, { input })).toEqual([
      'input.username',
      'input.password',
      'input.maxApiCalls',
    ])
  })

  test('of the rules for a chat', async () => {
    const document = 'mutation ($input: ChatInput!) { chat(input: $input) { __typename } }'
    const input = { agentId: 'models', query: ' ', files: ['ftp://a'], conversationId: 'a\nb' }
    const both = ['input.conversationId', 'input.files[0]']
    expect((await inputsOf(document, { input }, apiKey)).toSorted()).toEqual(both.toSorted())
  })

  test('of the literals of a document, each as an error of its own', async () => {
    const headers = { authorization: `Bearer ${token}` }
    const query =
      '{ usage(groupBy: [agent, KEY], timezone: "Atlantis", filter: { outcome: [FOO] }) { granularity } }'
    const sent = await sentAgain(app, { method: 'POST', url: '/graphql', headers, payload: { query } })
    const fields = sent
      .json()
      .errors.map(({ extensions }: { extensions: { field: string } }) => extensions.field)
    expect(fields).toEqual(['filter.outcome[0]', 'groupBy[0]'])
  })

  test('every error has the id of its request', async () => {
    const headers = { 'x-request-id': 'the-request' }
    for (const query of [
      '{ me {',
      '{ you }',
      '{ node(id: "x") { id } }',
      '{ users(first: 0) { totalCount } }',
    ]) {
      const { errors } = await send('POST', '/graphql', { query }, headers)
      expect(errors[0].extensions.requestId).toBe('the-request')
    }
    const { errors } = await send('POST', '/graphql', [], headers)
    expect(errors[0].extensions.requestId).toBe('the-request')
  })
})
