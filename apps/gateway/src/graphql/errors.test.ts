import { Writable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import { createYoga, type Plugin } from 'graphql-yoga'
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ERRORS } from '#core/base/errors/errors.ts'
import { createServer } from '#server/create-server.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'
import { sentAgain } from '#test/graphql/sent-again.test-support.ts'
import type { GraphqlContext, OperationPlace } from './context.ts'
import { toGraphqlError } from './errors.ts'
import { schema } from './schema.ts'
import { useProblems } from './serving/problems-plugin.ts'

let face: Face
let logged: Any[]
let app: Face['app']

beforeAll(async () => {
  face = await openFace()
  const log = pino(
    { level: 'error' },
    new Writable({
      write(line, _encoding, done) {
        logged.push(JSON.parse(String(line)))
        done()
      },
    }),
  )
  app = await createServer(face.config, face.gateway, log)
})
beforeEach(() => {
  logged = []
})
afterAll(async () => {
  await app?.close()
  await face?.close()
})

const JSON_ONLY = 'application/json'
const GRAPHQL = 'application/graphql-response+json'

const JSON_BODY = { 'content-type': JSON_ONLY }
const UPDATE_USER = 'mutation ($input: UpdateUserInput!) { updateUser(input: $input) { __typename } }'
const LOGIN = 'mutation ($input: LoginInput!) { login(input: $input) { accessToken } }'

function posted(payload: Any, headers: Record<string, string> = {}): InjectOptions {
  return { method: 'POST', url: '/graphql', headers: { accept: JSON_ONLY, ...headers }, payload }
}

function post(...[payload, headers]: Parameters<typeof posted>) {
  return app.inject(posted(payload, headers))
}

const asPremium = () => ({ authorization: `Bearer ${face.callers.premium.credential}` })

describe('faults of the gateway', () => {
  test('an unknown error is masked, logged with the request id, and keeps the rest of the response', async () => {
    vi.spyOn(face.gateway.services.users, 'me').mockRejectedValue(new Error('SECRET of the database'))
    const headers = { ...asPremium(), 'x-request-id': 'the-request' }
    const response = await post({ query: '{ me { id } apiKeys { totalCount } }' }, headers)
    expect(response.statusCode).toBe(200)
    expect(response.body).not.toContain('SECRET')
    expect(response.json()).toMatchObject({
      data: { me: null, apiKeys: { totalCount: expect.any(Number) } },
      errors: [
        {
          message: ERRORS.internal_error.text,
          path: ['me'],
          extensions: { code: 'internal_error', status: 500 },
        },
      ],
    })
    expect(logged).toMatchObject([
      { reqId: 'the-request', path: 'me', err: { message: 'SECRET of the database' } },
    ])
  })

  test('an error beside the execution is masked and logged as well', async () => {
    const place = {
      http: { id: 'the-request', headers: {}, routeOptions: {}, server: app },
      loggedFaults: new WeakSet(),
    } as unknown as OperationPlace
    const broken: Plugin = {
      onParams() {
        throw new Error('SECRET of a plugin')
      },
    }
    const plugins = [broken, useProblems(app.faultLog, face.gateway.services)]
    const maskedErrors = { maskError: toGraphqlError }
    const yoga = createYoga<OperationPlace, GraphqlContext>({ schema, plugins, maskedErrors, logging: false })
    const response = await yoga.fetch('http://a/graphql?query={me{id}}', {}, place)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      errors: [
        {
          message: ERRORS.internal_error.text,
          extensions: { code: 'internal_error', status: 500, requestId: 'the-request' },
        },
      ],
    })
    expect(logged).toMatchObject([{ reqId: 'the-request', err: { message: 'SECRET of a plugin' } }])
  })

  test('a database that does not answer is unavailable', async () => {
    const refused = Object.assign(new Error('connect to 10.0.0.1'), { code: 'ECONNREFUSED' })
    vi.spyOn(face.gateway.services.users, 'me').mockRejectedValue(refused)
    const response = await post({ query: '{ me { id } }' }, asPremium())
    expect(response.body).not.toContain('10.0.0.1')
    expect(response.json().errors).toMatchObject([{ extensions: { code: 'unavailable', status: 503 } }])
    expect(logged).toHaveLength(1)
  })

  test('a result that does not fit the schema is a fault, not a mistake of the client', async () => {
    vi.spyOn(face.gateway.services.keys, 'current').mockResolvedValue({} as never)
    const headers = { authorization: `Bearer ${face.callers['chat key'].credential}` }
    const { errors } = (await post({ query: '{ currentApiKey { apiKey { id } } }' }, headers)).json()
    expect(errors).toMatchObject([{ extensions: { code: 'internal_error', status: 500 } }])
  })
})

describe('refusals', () => {
  const ofUser = (change: object) => ({
    query: UPDATE_USER,
    variables: { input: { userId: 'x', ...change } },
  })
  const login = { username: 'admin', password: 'a secret; Word', extra: 1 }
  test.each<[string, Any, string, string?]>([
    ['a document that does not parse', { query: '{ me {' }, 'document_malformed'],
    ['a document that does not fit', { query: '{ you }' }, 'document_invalid'],
    ['no document', {}, 'invalid_request'],
    ['a document that is no text', { query: 5 }, 'invalid_request'],
    ['variables that are no object', { query: '{ me { id } }', variables: 'a' }, 'invalid_request'],
    ['an unknown parameter', { query: '{ me { id } }', extra: 1 }, 'invalid_request'],
    ['several requests', [{ query: '{ me { id } }' }], 'invalid_request'],
    ['a missing variable', { query: 'query ($id: ID!) { user(id: $id) { id } }' }, 'invalid_request', 'id'],
    ['a variable of the wrong type', ofUser({ maxApiCalls: 'many' }), 'invalid_request', 'input.maxApiCalls'],
    ['a value that the enum does not have', ofUser({ role: 'ROOT' }), 'invalid_request', 'input.role'],
    [
      'a secret of its sender',
      { query: LOGIN, variables: { input: login } },
      'invalid_request',
      'input.extra',
    ],
  ])('%s has a code, and a status where the media type allows one', async (what, payload, code, field) => {
    for (const [accept, status] of [
      [GRAPHQL, 400],
      [JSON_ONLY, 200],
    ] as const) {
      const response = await sentAgain(app, posted(payload, { ...asPremium(), accept }))
      expect(response.json()).toMatchObject({
        errors: [{ extensions: { code, ...(field && { field }), status: 400 } }],
      })
      expect(response.body).not.toContain('secret')
      expect(response.json()).not.toHaveProperty('data')
      // What is no request of GraphQL at all is 400 in both.
      expect([status, 400]).toContain(response.statusCode)
      if (field !== undefined || /document that does/.test(what)) {
        expect(response.statusCode).toBe(status)
      }
    }
    expect(logged).toEqual([])
  })

  test.each<[string, string, Record<string, string>, keyof typeof ERRORS, ('POST' | 'DELETE')?]>([
    ['a form', 'query={me{id}}', form('application/x-www-form-urlencoded'), 'unsupported_media_type'],
    ['a form of parts', '--a--', form('multipart/form-data; boundary=a'), 'unsupported_media_type'],
    ['a plain text', '{me{id}}', form('application/graphql'), 'unsupported_media_type'],
    ['a compressed body', '{}', { ...JSON_BODY, 'content-encoding': 'gzip' }, 'unsupported_media_type'],
    ['a body that is no JSON', '{', JSON_BODY, 'invalid_json'],
    ['a body that is too large', `"${'a'.repeat(2 ** 20)}"`, JSON_BODY, 'body_too_large'],
    ['another host', '{}', { ...JSON_BODY, host: 'a/graphql?x=' }, 'invalid_host'],
    ['another method', '', {}, 'method_not_allowed', 'DELETE'],
  ])('%s is refused before GraphQL begins', async (_what, payload, headers, code, method = 'POST') => {
    const body = payload !== '' && { payload }
    const response = await app.inject({ url: '/graphql', method, headers, ...body })
    const { status } = ERRORS[code]
    expect(response.statusCode).toBe(status)
    const { errors, reason } = response.json()
    expect(errors?.[0].extensions ?? { code: reason, status }).toMatchObject({ code, status })
  })

  test.each<[string, Record<string, string | string[]>, string]>([
    ['variables that are no JSON', { variables: '{"password": hunter2' }, 'variables'],
    ['variables that are no object', { variables: '"hunter2"' }, 'variables'],
    ['extensions that are no JSON', { extensions: 'hunter2' }, 'extensions'],
    ['a document twice', { query: ['{ me { id } }', '{ me { id } }'] }, 'query'],
    ['the name of no operation', { operationName: 'hunter2' }, 'operationName'],
  ])('%s in a URL are a mistake of the client', async (_what, query, field) => {
    const response = await app.inject({ url: '/graphql', query: { query: '{ __typename }', ...query } })
    expect(response.json().errors).toMatchObject([
      { extensions: { code: 'invalid_request', status: 400, field } },
    ])
    expect(response.body).not.toContain('hunter2')
    expect(logged).toEqual([])
  })

  test('a variable is named by the argument that it stands for', async () => {
    const query =
      'mutation ($mine: String!, $other: String!) { login(input: { username: $mine, password: $other }) { expiresIn } }'
    const { errors } = (await sentAgain(app, posted({ query, variables: { mine: 5 } }))).json()
    expect(errors).toMatchObject([
      {
        message: 'input.username: expected a string.',
        extensions: {
          field: 'input.username',
          fields: [
            { field: 'input.username', message: 'expected a string.' },
            { field: 'input.password', message: 'is required; expected a string.' },
          ],
        },
      },
    ])
  })

  test('a null for an argument that needs a value is a mistake of the field alone', async () => {
    const query = 'query ($id: ID = "a") { user(id: $id) { id } me { id } }'
    const { data, errors } = (await post({ query, variables: { id: null } }, asPremium())).json()
    expect(data).toMatchObject({ user: null, me: { id: expect.any(String) } })
    expect(errors).toMatchObject([{ path: ['user'], extensions: { code: 'invalid_request', status: 400 } }])
  })

  test('HEAD is answered as GET is, without the body, and neither of them takes a mutation', async () => {
    for (const [query, status] of [
      ['{ __typename }', 200],
      ['mutation { __typename }', 405],
    ] as const) {
      const url = `/graphql?query=${encodeURIComponent(query)}`
      const [get, head] = [await app.inject({ url }), await app.inject({ method: 'HEAD', url })]
      expect([get.statusCode, head.statusCode, head.body]).toEqual([status, status, ''])
      expect(head.headers['content-length']).toBe(get.headers['content-length'])
    }
  })

  test.each<[string, string | undefined, string]>([
    ['no credential', undefined, 'credential_missing'],
    ['a malformed one', 'Basic YTpi', 'credential_malformed'],
    ['an unknown key', `Bearer tl_${'a'.repeat(49)}`, 'credential_malformed'],
    ['a token that is none', 'Bearer eyJ.a.b', 'token_invalid'],
  ])('%s gets the code of REST', async (_what, authorization, code) => {
    const headers = { ...(authorization !== undefined && { authorization }) }
    const rest = (await app.inject({ url: '/api/v1/users/me', headers })).json()
    const { data, errors } = (await post({ query: '{ me { id } }' }, headers)).json()
    expect(data).toEqual({ me: null })
    expect(errors).toMatchObject([{ message: rest.detail, extensions: { code: rest.reason, status: 401 } }])
    expect(rest.reason).toBe(code)
  })

  test('a limit says when to try again, and each login of a request takes a point of its own', async () => {
    const login = (index: number) =>
      `a${index}: login(input: { username: "other", password: "wrong" }) { expiresIn }`
    const query = `mutation { ${Array.from({ length: 12 }, (_, index) => login(index)).join(' ')} }`
    const { errors } = (await post({ query })).json()
    const codes = errors.map(({ extensions }: Any) => extensions.code)
    expect(codes).toEqual([...Array(10).fill('login_failed'), 'rate_limited', 'rate_limited'])
    expect(errors.at(-1).extensions).toMatchObject({ status: 429, retryAfterSeconds: expect.any(Number) })
  })
})

function form(contentType: string) {
  return { 'content-type': contentType }
}
