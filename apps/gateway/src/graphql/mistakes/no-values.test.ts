import { Writable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import { specifiedRules } from 'graphql'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'
import { contentOf } from '#test/graphql/sent-again.test-support.ts'
import { sampled } from '../../../../../test/support/sampled.ts'
import { schema } from '../schema.ts'
import {
  MARKER,
  NAME_MARKER,
  NUMBER_MARKER,
  type WrongRequest,
  wrongRequests,
} from './wrong-inputs.test-support.ts'

/*
 * Nothing that a caller sends comes back in an error, reaches the log, or is taken for a fault of the gateway; what is wrong is
 * named by its place. The requests are made from the schema, so that an input which is added later is tested as well.
 */

const SECRETS = [MARKER, NAME_MARKER, String(NUMBER_MARKER), String(NUMBER_MARKER / 1_000), 'hunter2']

let face: Face
let production: Face['app']
let persisted: Face['app']
const lines: string[] = []

beforeAll(async () => {
  const write = (line: unknown, _encoding: string, done: () => void) => {
    lines.push(String(line))
    done()
  }
  const log = pino({ level: 'trace' }, new Writable({ write }))
  face = await openFace({ log })
  const closed = { introspection: false, graphiql: false, documents: 'any' } as const
  production = await createServer({ ...face.config, graphql: closed }, face.gateway, log)
  const graphql = { ...closed, documents: 'persisted' } as const
  persisted = await createServer({ ...face.config, graphql }, face.gateway, log)
})
afterAll(async () => {
  await production?.close()
  await persisted?.close()
  await face?.close()
})

async function tried(app: Face['app'], request: InjectOptions) {
  lines.length = 0
  const response = await app.inject({ url: '/graphql', ...request })
  const said = `${response.body}${JSON.stringify(response.headers)}${lines.join('')}`
  return { response, leaks: SECRETS.filter((secret) => said.includes(secret)) }
}

/** What the answers and the log repeat of a request, by the gateway that it was sent to. */
async function repeated(request: InjectOptions): Promise<string[]> {
  const each: string[] = []
  for (const app of [face.app, production, persisted]) each.push(...(await tried(app, request)).leaks)
  return each
}

const post = (payload: object): InjectOptions => ({ method: 'POST', payload })

function as(caller: keyof Face['callers'], request: InjectOptions): InjectOptions {
  const { credential } = face.callers[caller]
  const headers = { accept: 'application/json, text/event-stream', ...request.headers }
  return {
    ...request,
    headers: credential === '' ? headers : { authorization: `Bearer ${credential}`, ...headers },
  }
}

/** What is wrong with the answers to a wrong request, which is sent twice, since the gateway keeps documents. */
async function faultsOf(
  app: Face['app'],
  caller: keyof Face['callers'],
  { query, variables, wrongInput }: WrongRequest,
): Promise<string[]> {
  const request = as(caller, post({ query, variables }))
  const { response, leaks } = await tried(app, request)
  const again = await tried(app, request)
  const faults = [...leaks, ...again.leaks]
  if (response.body.includes('internal_error')) return [...faults, 'is a fault of the gateway']
  if (wrongInput === undefined) return faults
  const { data, errors = [] }: Any = response.json()
  const named: string[] = errors
    .flatMap(({ extensions }: Any) => extensions.fields ?? [])
    .map((each: Any) => each.field)
  const isNamed = named.some((field) => field === wrongInput || isWithin(field, wrongInput))
  if (data !== undefined) faults.push('is executed')
  if (!isNamed) faults.push('does not name the input')
  if (errors[0]?.extensions.status !== 400) faults.push('is not 400')
  if (contentOf(response).body !== contentOf(again.response).body)
    faults.push('is answered otherwise the second time')
  return faults
}

function isWithin(field: string, outer: string): boolean {
  return field.startsWith(`${outer}.`) || field.startsWith(`${outer}[`)
}

const OF_SERVICES = /: (a text|a number|an object|a list of)/
const requests = [...wrongRequests(schema)].map((request, index) => ({
  ...request,
  // Each of the two gateways gets every second one, since there are thousands.
  isForProduction: index % 2 === 1,
}))

/** A sample of the requests, as one test a field, since all of them together take a minute of a busy machine. */
const byField = (all: typeof requests) => [...Map.groupBy(sampled(all), ({ field }) => field)]

describe('the inputs of an operation in every wrong form', () => {
  test('are those of every field with arguments', () => {
    const fields = new Set(requests.map(({ field }) => field))
    const some = ['mutation login', 'subscription chat', 'query me.apiKeys']
    expect([...fields]).toEqual(expect.arrayContaining(some))
    expect(fields.size).toBeGreaterThan(35)
  })

  test.each(byField(requests))('%s', async (_field, ofField) => {
    const found: Record<string, string[]> = {}
    for (const request of ofField) {
      const app = request.isForProduction ? production : face.app
      const caller = request.query.includes('chat(') ? 'chat key' : 'anonymous'
      const faults = await faultsOf(app, caller, request)
      if (faults.length > 0) found[request.name] = faults
    }
    expect(found).toEqual({})
  })

  test.each(byField(requests.filter(({ name }) => OF_SERVICES.test(name))))(
    '%s, also with a credential, where the services judge them',
    async (_field, ofField) => {
      const found: Record<string, string[]> = {}
      for (const request of ofField) {
        const faults = await faultsOf(production, 'admin', request)
        if (faults.length > 0) found[request.name] = faults
      }
      expect(found).toEqual({})
    },
  )
})

const LOGIN = `mutation { login(input: { username: "${MARKER}", password: "${MARKER}" }) { accessToken } }`
const ME = '{ me { id } }'

describe('documents', () => {
  test.each(
    Object.entries({
      'a text that does not end': `{ user(id: "${MARKER}`,
      'a text in place of a name': `{ user("${MARKER}") { id } }`,
      'a text in place of a colon': `{ user(id "${MARKER}") { id } }`,
      'a block text that does not end': `{ user(id: """${MARKER}`,
      'a wrong escape': `{ user(id: "${MARKER}\\x") { id } }`,
      'a number that does not parse': `{ user(id: ${NUMBER_MARKER}x) { id } }`,
      'a character that is none': `{ user(id: ${MARKER}%) { id } }`,
      'nothing but a text': `"${MARKER}"`,
      'a description': `"${MARKER}" { me { id } }`,
      'a condition': `{ me @include(if: "${MARKER}") { id } }`,
      'a condition that is an object': `{ me @skip(if: { a: "${MARKER}" }) { id } }`,
      'a condition of an enum': `{ me @skip(if: ${NAME_MARKER}) { id } }`,
      'an argument of a directive that is unknown': `{ me @include(if: true, unless: "${MARKER}") { id } }`,
      'a directive that is unknown': `{ me @unknown(a: "${MARKER}") { id } }`,
      'an argument that is unknown': `{ me(secret: "${MARKER}") { id } }`,
      'an argument of a field that is unknown': `{ nothing(secret: "${MARKER}") { id } }`,
      'an argument of a leaf': `{ me { id(secret: "${MARKER}") } }`,
      'an argument that is missing': `{ user(ID: "${MARKER}") { id } }`,
      'two arguments of one name': `{ user(id: "${MARKER}", id: "${MARKER}") { id } }`,
      'two inputs of one name': LOGIN.replace('username', 'password'),
      'two selections that differ': `{ user(id: "${MARKER}") { id } user(id: "a${MARKER}") { id } }`,
      'a default': `query ($id: Int = "${MARKER}") { users(first: $id) { totalCount } }`,
      'a default of an input': `mutation ($i: LoginInput! = { password: "${MARKER}" }) { login(input: $i) { expiresIn } }`,
      'a default of an enum': `query ($g: UsageGranularity! = ${NAME_MARKER}) { usage(granularity: $g) { granularity } }`,
      'a default of an unknown type': `query ($g: Unknown = "${MARKER}") { node(id: $g) { id } }`,
      'a variable where it does not fit': `query ($id: Int = 1) { a: user(id: $id) { id } b: user(id: "${MARKER}") { id } }`,
      'a label': `{ ... @defer(label: "${MARKER}") { me { id } } }`,
      'two labels': `{ ... @defer(label: "${MARKER}") { me { id } } ... @defer(label: "${MARKER}") { me { id } } }`,
      'an argument of a fragment': `{ ...F(a: "${MARKER}") ...F(a: 1) } fragment F($a: Int = "${MARKER}") on Query { me { id } }`,
      'a definition': `type A @deprecated(reason: "${MARKER}") { a: Int }`,
      'an operation that cannot be': `subscription { a: usageUpdated { day } chat(input: { agentId: "${MARKER}", query: "${MARKER}" }) { __typename } }`,
      'a mutation that is wrong elsewhere': `${LOGIN} fragment Unused on User { id }`,
      'too many tokens': `${LOGIN} fragment A on User { ${'id '.repeat(3_000)} }`,
      'too many names': `mutation { ${LOGIN.slice(11, -2).repeat(30)} }`,
    }),
  )('%s', async (_what, query) => {
    for (const caller of ['anonymous', 'admin'] as const) {
      expect(await repeated(as(caller, post({ query })))).toEqual([])
      expect(await repeated(as(caller, { query: { query } }))).toEqual([])
    }
  })

  test('a name that the caller made up is shown, and cut', async () => {
    const long = 'n'.repeat(200)
    for (const payload of [
      { query: `{ ${long} }` },
      { query: `{ me(${long}: 1) { id } }` },
      { query: `{ me @${long} { id } }` },
      {
        query: 'mutation ($i: LoginInput!) { login(input: $i) { expiresIn } }',
        variables: { i: { [long]: 1 } },
      },
      { query: ME, [long]: 1 },
    ]) {
      const { body } = (await tried(face.app, post(payload))).response
      expect(body).toContain('n'.repeat(64))
      expect(body).not.toContain('n'.repeat(65))
    }
  })

  test('the rules of graphql-js whose texts are passed on are those that were read and speak of names alone', () => {
    expect(specifiedRules.map(({ name }) => name.replace(/Rule$/, '')).join(' ')).toMatchInlineSnapshot(
      `"ExecutableDefinitions KnownOperationTypes UniqueOperationNames LoneAnonymousOperation SingleFieldSubscriptions KnownTypeNames FragmentsOnCompositeTypes VariablesAreInputTypes ScalarLeafs FieldsOnCorrectType UniqueFragmentNames KnownFragmentNames NoUnusedFragments PossibleFragmentSpreads NoFragmentCycles UniqueVariableNames NoUndefinedVariables NoUnusedVariables KnownDirectives UniqueDirectivesPerLocation DeferStreamDirectiveOnRootField DeferStreamDirectiveOnValidOperations DeferStreamDirectiveLabel StreamDirectiveOnListField KnownArgumentNames UniqueArgumentNames ValuesOfCorrectType ProvidedRequiredArguments VariablesInAllowedPosition OverlappingFieldsCanBeMerged UniqueInputFieldNames MaxIntrospectionDepth"`,
    )
  })
})

describe('requests', () => {
  const hash = (sha256Hash: unknown) => ({ persistedQuery: { version: 1, sha256Hash } })
  test.each(
    Object.entries({
      'the name of an operation': { query: ME, operationName: MARKER },
      'the name of one of several operations': {
        query: 'query A { me { id } } query B { me { id } }',
        operationName: MARKER,
      },
      'a name that is none': { query: ME, operationName: { a: MARKER } },
      'variables that are a text': { query: ME, variables: MARKER },
      'variables that are a list': { query: ME, variables: [MARKER] },
      'extensions that are a text': { query: ME, extensions: MARKER },
      'a document that is none': { query: { a: MARKER } },
      'no document': { variables: { a: MARKER } },
      'a parameter that is unknown': { query: ME, unknown: MARKER },
      'the id of a document': { documentId: MARKER },
      'an id that is none': { documentId: { a: MARKER } },
      'the hash of a document': { extensions: hash(MARKER) },
      'the hash of another document': { query: ME, extensions: hash(MARKER) },
      'a hash that is none': { extensions: hash({ a: MARKER }) },
      'several requests': [{ query: LOGIN }, { query: MARKER }],
      'a text': MARKER,
      'a list': [MARKER],
    }),
  )('%s', async (_what, body) => {
    const headers = { 'content-type': 'application/json' }
    expect(await repeated(as('admin', { method: 'POST', payload: JSON.stringify(body), headers }))).toEqual(
      [],
    )
    if (typeof body === 'string' || Array.isArray(body)) return
    const texts = Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ])
    expect(await repeated(as('admin', { query: Object.fromEntries(texts) }))).toEqual([])
  })

  const posted = (headers: Record<string, string>, payload = '{}'): InjectOptions => ({
    method: 'POST',
    payload,
    headers: { 'content-type': 'application/json', ...headers },
  })
  const asked = (headers: Record<string, string>): InjectOptions => ({ query: { query: ME }, headers })

  test.each(
    Object.entries<InjectOptions>({
      'a body that is no JSON': posted({}, `{"query": ${MARKER}`),
      'variables in a URL that are no JSON': { query: { query: ME, variables: `{"password": ${MARKER}` } },
      'extensions in a URL that are no JSON': { query: { query: ME, extensions: MARKER } },
      'a parameter twice': { query: { query: [ME, MARKER] } },
      'a mutation in a URL': { query: { query: LOGIN } },
      'a content type': posted({ 'content-type': `application/${NAME_MARKER}` }),
      'a charset': posted({ 'content-type': `application/json; charset=${MARKER}` }),
      'an encoding': posted({ 'content-encoding': MARKER }),
      'a media type': asked({ accept: `application/${MARKER}` }),
      'a credential': asked({ authorization: `Bearer ${MARKER}` }),
      'a credential in another scheme': asked({ authorization: `Basic ${MARKER}` }),
      'a token': asked({ authorization: `Bearer ${MARKER}.${MARKER}.${MARKER}` }),
      'a host': asked({ host: `${MARKER}/` }),
      'a method': { method: 'DELETE', query: { query: MARKER } },
    }),
  )('%s', async (_what, request) => {
    expect(await repeated(request)).toEqual([])
  })
})

test('the test would see a value that is repeated', async () => {
  const open = await createServer(face.config, face.gateway, createLogger('silent'))
  open.get('/repeats', async (request) => ({ query: request.query }))
  expect((await tried(open, { url: '/repeats', query: { a: MARKER } })).leaks).toContain(MARKER)
  await open.close()
})
