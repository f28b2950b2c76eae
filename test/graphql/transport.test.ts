import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { graphql, sendGraphql } from '../support/graphql.ts'

// A process, because production is a variable of the environment, and the log that is read is the output of the gateway.

const ORIGIN = 'https://app.example.com'
const ME = '{ me { username } }'

let system: GatewayWithSandbox

/** A gateway in production, where introspection and suggestions are off unless the file says otherwise. */
beforeAll(async () => {
  system = await startGatewayWithSandbox({
    env: { NODE_ENV: 'production' },
    settings: { cors: { origins: [ORIGIN] }, limits: { chat: { points: 3 }, login: { points: 4 } } },
  })
})
afterAll(() => system?.remove())

const url = () => `${system.gateway.url}/graphql`
const post = (headers: Record<string, string>, body: BodyInit) =>
  fetch(url(), { method: 'POST', headers: { authorization: `Bearer ${system.token}`, ...headers }, body })

async function errorOf(response: Response) {
  const body = await response.json()
  expect(body.data).toBeUndefined()
  return { status: response.status, ...body.errors[0].extensions }
}

describe('a request that a page of another site can send without a preflight is refused', () => {
  const form = new FormData()
  form.set('operations', JSON.stringify({ query: ME }))
  const bodies: readonly [string, Record<string, string>, BodyInit][] = [
    ['urlencoded', {}, new URLSearchParams({ query: ME })],
    ['multipart', {}, form],
    ['text/plain', { 'content-type': 'text/plain' }, JSON.stringify({ query: ME })],
    ['no type', {}, new Blob([JSON.stringify({ query: ME })])],
    ['application/graphql', { 'content-type': 'application/graphql' }, ME],
  ]
  test.each(bodies)('%s', async (_name, headers, body) => {
    expect(await errorOf(await post(headers, body))).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
    })
  })

  test('as a mutation over GET', async () => {
    const query = 'mutation { login(input: { username: "a", password: "b" }) { accessToken } }'
    const response = await fetch(`${url()}?${new URLSearchParams({ query })}`)
    expect(response.headers.get('allow')).toBe('POST')
    expect(await errorOf(response)).toMatchObject({ status: 405, code: 'method_not_allowed' })
  })
})

test('several operations in one body, a body of something else, and an absent one are refused', async () => {
  const json = { 'content-type': 'application/json' }
  for (const body of [JSON.stringify([{ query: ME }, { query: ME }]), '', '{"query":']) {
    const { status, code } = await errorOf(await post(json, body))
    expect([status, code.startsWith('invalid_')]).toEqual([400, true])
  }
  for (const encoding of ['gzip', 'br']) {
    const refusal = await errorOf(await post({ ...json, 'content-encoding': encoding }, '{}'))
    expect(refusal).toMatchObject({ status: 415, code: 'unsupported_media_type' })
  }
})

test('a Host that is no host is refused, also one that leads another path to GraphQL', async () => {
  const { hostname, port } = new URL(system.gateway.url)
  for (const [path, host] of [
    ['/graphql', 'a b'],
    ['/healthz', 'a/graphql?x='],
  ]) {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { host, 'content-type': 'application/json' }
      const request = httpRequest({ hostname, port, path, method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
      request.end(JSON.stringify({ query: ME }))
    })
    expect(status).toBe(400)
  }
})

test('only pages of the allowed origins may read the results, and their preflight is answered', async () => {
  for (const [origin, isAllowed] of [
    [ORIGIN, true],
    ['https://evil.example.com', false],
  ] as const) {
    const result = await sendGraphql(system.gateway, ME, { as: system.token, headers: { origin } })
    expect(result.headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null)
    const preflight = await fetch(url(), {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization',
      },
    })
    expect(preflight.headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null)
  }
})

test('in production the schema cannot be read, nor guessed from suggestions', async () => {
  for (const query of ['{ __schema { types { name } } }', '{ __type(name: "User") { name } }']) {
    const { data, errors } = await graphql(system.gateway, query)
    expect([data, errors?.[0]?.extensions.code]).toEqual([undefined, 'document_invalid'])
  }
  const wrong: readonly [string, object][] = [
    ['{ mee { id } }', {}],
    ['{ me { usernam } }', {}],
    ['{ me(idd: 1) { id } }', {}],
    ['{ users(firs: 1) { totalCount } }', {}],
    ['query ($i: ChatInpu!) { me { id } }', {}],
    ['mutation ($i: LoginInput!) { login(input: $i) { accessToken } }', { i: { usernam: 'a' } }],
    ['mutation { login(input: { usernam: "a" }) { accessToken } }', {}],
    ['{ me { ... on Use { id } } }', {}],
  ]
  for (const [query, variables] of wrong) {
    const { errors } = await graphql(system.gateway, query, { variables, as: system.token })
    expect(errors?.length, query).toBeGreaterThan(0)
    for (const { message } of errors ?? []) expect(message).not.toMatch(/did you mean/i)
  }
  expect((await graphql(system.gateway, '{ __typename }')).data).toEqual({ __typename: 'Query' })
})

describe('an operation that asks for too much is refused with a clear error', () => {
  const repeated = (count: number, part: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => part(index)).join(' ')
  const nested = (levels: number): string =>
    levels === 0 ? 'id' : `owner { apiKeys(first: 1) { nodes { ${nested(levels - 1)} } } }`

  test.each([
    ['tokens', `{ ${repeated(2_000, () => '__typename')} }`, /2000 tokens/],
    ['repetition', `{ ${repeated(900, () => '__typename')} }`, /50 fields with the same name/],
    [
      'fields',
      `{ ${repeated(60, () => '...F')} } fragment F on Query { me { ${repeated(17, () => 'id')} } }`,
      /1000 fields/,
    ],
    ['depth', `{ apiKeys(first: 1) { nodes { ${nested(5)} } } }`, /15 levels of fields/],
    [
      'cost',
      '{ users(first: 100) { nodes { apiKeys(first: 100) { nodes { id name description } } } } }',
      /25000 values; ask for smaller pages/,
    ],
  ])('%s', async (_name, query, message) => {
    const { data, errors } = await graphql(system.gateway, query, { as: system.token })
    expect(data).toBeUndefined()
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'operation_too_large', status: 400 })
    expect(errors?.[0]?.message).toMatch(message)
  })
})

test('every alias of a chat takes its own point of the limit, and those within it are answered', async () => {
  const chat = (index: number) => `c${index}: chat(input: { agentId: "dify", query: "Hello" }) { text }`
  const query = `mutation { ${[0, 1, 2, 3, 4].map(chat).join(' ')} }`
  const { data, errors } = await graphql(system.gateway, query, { as: system.key })
  expect([0, 1, 2, 3, 4].map((index) => data[`c${index}`] === null)).toEqual([
    ...[false, false, false],
    ...[true, true],
  ])
  for (const { extensions } of errors ?? []) {
    expect(extensions).toMatchObject({ code: 'rate_limited', status: 429 })
    expect(extensions.retryAfterSeconds).toBeGreaterThan(0)
  }
  const response = await system.api.chat(system.key, 'dify')
  expect(response.status).toBe(429)
})

test('every alias of a login takes its own point of the limit', async () => {
  const login = (index: number) =>
    `l${index}: login(input: { username: "nobody", password: "wrong-password" }) { accessToken }`
  const query = `mutation { ${[0, 1, 2, 3, 4, 5].map(login).join(' ')} }`
  const { errors } = await graphql(system.gateway, query)
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual([
    ...Array.from({ length: 4 }, () => 'login_failed'),
    ...['rate_limited', 'rate_limited'],
  ])
})

test('the log has neither variables nor literals, and metrics do not grow with the names of operations', async () => {
  const secret = 'a-secret-of-the-caller'
  const mutation = `mutation Spoken($q: String!) { a: chat(input: { agentId: "nope", query: $q }) { text }
    b: chat(input: { agentId: "nope", query: "${secret}" }) { text } }`
  await graphql(system.gateway, mutation, { variables: { q: secret }, as: system.key })
  await graphql(system.gateway, `{ me { ${secret.replaceAll('-', '_')} } }`, { as: system.key })
  await system.gateway.prints(/"name":"Spoken","fields":\["chat"\]/)
  expect(system.gateway.output).not.toContain(secret)
  for (let index = 0; index < 150; index += 1) {
    await graphql(system.gateway, `query Name${index} { __typename }`)
  }
  const { body } = await system.api.call('GET', '/metrics')
  expect(body).toMatch(/trunkline_graphql_operations_total\{type="query",name="\(other\)"\} \d+/)
  expect(body.match(/trunkline_graphql_operations_total\{/g).length).toBeLessThan(120)
  expect(body).toContain('trunkline_graphql_errors_total{code="unknown_agent"}')
})
