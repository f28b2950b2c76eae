import { METHODS } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  anyPath,
  CONTRACT,
  fillPath,
  OPERATIONS,
  type Operation,
  operationOf,
  type ParameterObject,
} from '../support/contract/contract.ts'
import {
  type ContractGateway,
  type OperationRequest,
  startContractGateway,
} from '../support/contract/contract-gateway.ts'
import { fieldValues, headerValues, pathValues, queryValues } from '../support/contract/hostile-values.ts'
import { GOOD } from '../support/contract/provocations.ts'
import { exchange } from '../support/contract/raw.ts'
import { type Answer, type HttpRequest, send } from '../support/contract/send.ts'

// A process, because a request that crashes or stalls the gateway must fail a test and not end the run.

/** The short run uses a fixed seed; the long run is random, and fast-check reports the seed of every failure. */
const SOAK = process.env.SOAK !== undefined
const optionsOf = ({ query }: Operation) =>
  SOAK ? { numRuns: 5_000 } : { numRuns: query.length > 0 ? 200 : 60, seed: 20_261_122 }
const TIMEOUT_MS = SOAK ? 30 * 60_000 : 120_000

const MANY = { points: 1_000_000_000 }

let gateway: ContractGateway
/** A user and keys that requests may change, so that the administrator's credentials stay valid. */
let victims: { readonly userId: string; readonly keyId: string; readonly adminKey: string }
beforeAll(async () => {
  gateway = await startContractGateway({
    refusedKeys: MANY,
    agents: MANY,
    reports: MANY,
    calls: MANY,
    login: MANY,
    loginAddress: MANY,
  })
  const user = await gateway.api.createUser(gateway.token, 'victim')
  const key = await gateway.api.createKey(gateway.token)
  const adminKey = await gateway.api.createKey(gateway.token, { permissions: ['admin'] })
  victims = { userId: user.id, keyId: key.id, adminKey: adminKey.full_key }
})
afterAll(() => gateway?.remove())

test.each(OPERATIONS.map(({ id }) => id))(
  'no request to %s causes an internal error',
  async (id) => {
    const operation = operationOf(id)
    const good = await goodRequest(id)
    await fc.assert(
      fc.asyncProperty(requestOf(operation, good), async (request) => {
        expectNoFault(await send(gateway.url, request))
      }),
      optionsOf(operation),
    )
  },
  TIMEOUT_MS,
)

const METHODS_TO_SEND = METHODS.filter((method) => method !== 'CONNECT')

test.each(METHODS_TO_SEND)('the method %s causes no internal error on any path', async (method) => {
  for (const path of [...Object.keys(CONTRACT.paths), '/', '/nothing', '/openapi.json', '/docs']) {
    for (const lines of [
      [],
      ['Content-Type: text/plain'],
      ['Content-Type: application/json', 'Content-Length: 2'],
    ]) {
      const head = [`${method} ${anyPath(path)} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines]
      expectNoFault(await exchange(gateway.url, `${head.join('\r\n')}\r\n\r\n{}`))
    }
  }
})

/** Failures of agents may be 5xx; any other 5xx is a fault of the gateway. */
function expectNoFault({ status, text, body }: Pick<Answer, 'status' | 'text' | 'body'>): void {
  const reason: string = body?.reason ?? body?.error?.code ?? ''
  if (status >= 500 && !reason.startsWith('agent_')) throw new Error(`answered ${status}: ${text}`)
  expect(status).toBeGreaterThanOrEqual(200)
}

/** A valid request of which any part may be replaced. */
function requestOf(
  { method, path, parameters, body }: Operation,
  good: OperationRequest,
): fc.Arbitrary<HttpRequest> {
  const credential = fc.constantFrom(
    ...(isLogout(path) ? [] : [good.as, good.as, victims.adminKey]),
    gateway.key.full_key,
    undefined,
  )
  return fc.record({
    method: fc.constant(method),
    as: credential,
    path: fc
      .tuple(
        fc.oneof({ weight: 3, arbitrary: fc.constant(good.id ?? '') }, ...idsLike(good.id ?? '')),
        queryOf(parameters),
      )
      .map(([id, query]) => fillPath(path, id) + query),
    headers: headersOf(parameters, good.headers ?? {}),
    body: body === undefined ? fc.constant(good.body) : bodyOf([...body.fields.keys()], good.body),
  })
}

/** Of an id with several parameters, some stay as they are, because the first invalid one would hide the others. */
function idsLike(id: string): fc.Arbitrary<string>[] {
  const [first = '', ...others] = id.split('/')
  const like = pathValues()
  if (others.length === 0) return [like]
  return [like, like.map((last) => `${first}/${last}`), fc.tuple(like, like).map((both) => both.join('/'))]
}

function isLogout(path: string): boolean {
  return path.endsWith('/logout')
}

function queryOf(parameters: readonly ParameterObject[]): fc.Arbitrary<string> {
  const values = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => [name, queryValues(name, schema)] as const)
  // Replaces few parts at a time: with many, the first invalid one would hide the others.
  return fc
    .subarray(values, { maxLength: Math.min(3, values.length) })
    .chain((chosen) =>
      fc
        .tuple(...chosen.map(([name, value]) => value.map((text) => `${name}=${text}`)))
        .map((query) => (query.length === 0 ? '' : `?${query.join('&')}`)),
    )
}

function headersOf(
  parameters: readonly ParameterObject[],
  good: Readonly<Record<string, string>>,
): fc.Arbitrary<Record<string, string>> {
  const names = [
    ...parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name.toLowerCase()),
  ]
  const values = [
    ...names,
    'x-request-id',
    'accept',
    'accept-language',
    'content-encoding',
    'if-none-match',
  ].map((name) => [name, headerValues()] as const)
  return fc
    .tuple(fc.nat({ max: 3 }), fc.record(Object.fromEntries(values), { requiredKeys: [] }))
    .map(([die, hostile]) => {
      const sent = Object.entries(hostile).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      )
      return { ...good, ...(die === 0 && Object.fromEntries(sent)) }
    })
}

function bodyOf(fields: readonly string[], good: unknown): fc.Arbitrary<unknown> {
  const hostile = fc.record(Object.fromEntries(fields.map((field) => [field, fieldValues()])), {
    requiredKeys: [],
  })
  return fc.oneof(
    { weight: 4, arbitrary: hostile.map((fields) => ({ ...(good as object), ...pick(fields) })) },
    { weight: 1, arbitrary: fieldValues() },
  )
}

/** Most requests are invalid in one place only, because validation stops at the first problem. */
function pick(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).slice(0, 2))
}

async function goodRequest(id: string): Promise<OperationRequest> {
  const good = (await GOOD[id]?.(gateway)) ?? {}
  const { path } = operationOf(id)
  if (path.startsWith('/api/v1/users/{id}')) return { ...good, id: victims.userId }
  if (path.startsWith('/api/v1/api-keys/{id}')) return { ...good, id: victims.keyId }
  return good
}
