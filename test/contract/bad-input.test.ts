import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  BAD_BODIES,
  BAD_CREDENTIALS,
  BAD_FIELDS,
  BAD_QUERIES,
  BAD_RANGES,
  BAD_REPORTS,
  BROKEN_IDS,
  EMPTY_IS_ABSENT,
  NO_OBJECTS,
  tooLargeFor,
  UNKNOWN_IDS,
  VALUES,
} from '../support/contract/bad-input.ts'
import {
  anyPath,
  hasParameters,
  needsCredential,
  OPERATIONS,
  type Operation,
  operationOf,
  readsJson,
} from '../support/contract/contract.ts'
import {
  type ContractGateway,
  inventedKey,
  type OperationRequest,
  requestOf,
  startContractGateway,
} from '../support/contract/contract-gateway.ts'
import { expectDocumented, reasonOf } from '../support/contract/expect-documented.ts'
import { GOOD } from '../support/contract/provocations.ts'
import { exchange } from '../support/contract/raw.ts'
import { type Answer, send } from '../support/contract/send.ts'

// A process, because repeated header lines and bodies that are too large must cross a socket as they are.

let gateway: ContractGateway
beforeAll(async () => {
  gateway = await startContractGateway({ refusedKeys: { points: 10_000 }, agents: { points: 10_000 } })
})
afterAll(() => gateway?.remove())

const operations = OPERATIONS.map((operation) => [operation.id, operation] as const)
const having = (condition: (operation: Operation) => boolean) =>
  operations.filter(([, each]) => condition(each))

describe.each(having(({ body }) => body !== undefined))('the body of %s', (id, operation) => {
  const { body } = operation
  let good: OperationRequest
  beforeAll(async () => {
    good = await goodRequest(id)
  })
  const withBody = async (sent: unknown) => gateway.send(id, { ...good, body: sent })
  const withField = (field: string, value: unknown) => withBody({ ...(good.body as object), [field]: value })

  test.each([...(body?.fields ?? [])])(
    '%s rejects every value that its schema does not accept',
    async (field, check) => {
      const isAbsent = (value: unknown) => value === '' && EMPTY_IS_ABSENT.get(id)?.(field) === true
      for (const value of VALUES.filter(
        (candidate) => !isAbsent(candidate) && check(candidate) !== undefined,
      )) {
        const answer = await withField(field, value)
        expectRefusal(operation, answer, 400, 'invalid_request', `body.${field}`)
      }
    },
  )

  test.each(body?.required ?? [])('%s is required', async (field) => {
    const answer = await withField(field, undefined)
    expectRefusal(operation, answer, 400, 'invalid_request', `body.${field}: is required; expected `)
  })

  test('must be an object', async () => {
    for (const text of NO_OBJECTS) {
      expectRefusal(operation, await withBody(text), 400, 'invalid_request', 'body: expected an object')
    }
  })

  const own = BAD_FIELDS.filter(([operationId]) => operationId === id)
  test.each(own.map(([, change, field]) => [JSON.stringify(change), change, field] as const))(
    'is rejected with %s',
    async (_text, change, field) => {
      const answer = await withBody({ ...(good.body as object), ...change })
      expectRefusal(operation, answer, 400, 'invalid_request', field)
    },
  )
})

test.each(having(readsJson))(
  '%s reads only JSON in UTF-8 within the limits of depth and size',
  async (id, operation) => {
    const good = await goodRequest(id)
    for (const [what, body, headers, status, reason, detail] of BAD_BODIES) {
      const answer = await gateway.send(id, { ...good, body, headers: { ...good.headers, ...headers } })
      expectRefusal(operation, answer, status, reason, detail, what)
    }
    const tooLarge = await gateway.send(id, { ...good, body: tooLargeFor(id) })
    expectRefusal(operation, tooLarge, 413, 'body_too_large', 'body: ')
  },
)

test('a completion may be larger than other requests, which only a valid key learns', async () => {
  const good = await goodRequest('createCompletion')
  const large = { ...good, body: { ...(good.body as object), padding: 'x'.repeat(5 * 1024 * 1024) } }
  const answer = await gateway.send('createCompletion', large)
  expect(answer.status, answer.text).toBe(200)
  const refused = await gateway.send('createCompletion', { ...large, as: inventedKey() })
  expectRefusal(operationOf('createCompletion'), refused, 401, 'key_unknown', '')
})

test.each(having(needsCredential))(
  '%s requires exactly one well-formed credential',
  async (_id, operation) => {
    for (const [what, lines, reason] of BAD_CREDENTIALS) {
      const { method, path } = operation
      const head = [`${method} ${anyPath(path)} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines]
      const answer = await exchange(gateway.url, `${head.join('\r\n')}\r\n\r\n`)
      expectRefusal(operation, answer, 401, reason, '', what)
    }
  },
)

test.each(having(({ query }) => query.includes('limit')))(
  '%s rejects malformed paging parameters',
  async (id, operation) => {
    const { method, path, as } = requestOf(id, await goodRequest(id))
    for (const [query, field] of BAD_QUERIES) {
      const answer = await send(gateway.url, { method, path: `${path}?${query}`, as })
      expectRefusal(operation, answer, 400, 'invalid_request', field, query)
    }
  },
)

test.each(BAD_RANGES)('%s rejects a range that ends before it begins', async (id, query) => {
  const answer = await gateway.send(id, { ...(await goodRequest(id)), query })
  expectRefusal(operationOf(id), answer, 400, 'invalid_request', 'query.from: expected a time ', query)
})

test('a range without length is valid where calls are listed', async () => {
  const query = 'from=2026-11-20T10:00:00Z&to=2026-11-20T10:00:00Z'
  const answer = await gateway.send('listCalls', { as: gateway.token, query })
  expect([answer.status, answer.body.data?.items], answer.text).toEqual([200, []])
})

test.each(BAD_REPORTS)('a usage report rejects %s', async (query, field) => {
  const answer = await gateway.send('readUsage', { as: gateway.token, query })
  expectRefusal(operationOf('readUsage'), answer, 400, 'invalid_request', field, query)
})

describe.each(having(hasParameters))('the id of %s', (id, operation) => {
  test('gets the same 404 whether it is malformed or unknown', async () => {
    const good = await goodRequest(id)
    const { request_id: _, ...unknown } = (
      await gateway.send(id, { ...good, id: idLike(operation, good, '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10') })
    ).body
    for (const none of UNKNOWN_IDS) {
      const answer = await gateway.send(id, { ...good, id: idLike(operation, good, none) })
      expect(answer.status, none).toBe(404)
      expectDocumented(operation, answer)
      expect(answer.body, none).toMatchObject(unknown)
    }
  })

  test('gets 400 if it is not valid text, and 404 if it is too long', async () => {
    const good = await goodRequest(id)
    for (const broken of BROKEN_IDS) {
      const answer = await gateway.send(id, { ...good, id: idLike(operation, good, broken) })
      expect(answer.body, broken).toMatchObject({
        code: 400,
        reason: 'invalid_request',
        detail: expect.stringMatching(/^path: /),
      })
    }
    const long = idLike(operation, good, 'x'.repeat(257))
    expect((await gateway.send(id, { ...good, id: long })).status).toBe(404)
  })
})

test.each(operations)(
  '%s ignores a slash at the end of its path, unless it is the path of a file',
  async (id) => {
    const request = requestOf(id, await goodRequest(id))
    for (const method of request.method === 'GET' ? ['GET', 'HEAD'] : [request.method]) {
      const answer = await send(gateway.url, { ...request, method, path: `${request.path}/` })
      expect(answer.status, answer.text).toBe(id === 'getFile' ? 404 : 200)
    }
  },
)

/** The id with its last parameter replaced. */
function idLike({ path }: Operation, good: OperationRequest, last: string): string {
  const isOnlyParameter = path.indexOf('{') === path.lastIndexOf('{')
  return isOnlyParameter ? last : (good.id ?? '').replace(/[^/]*$/, () => last)
}

function goodRequest(id: string): Promise<OperationRequest> {
  return Promise.resolve(GOOD[id]?.(gateway) ?? {})
}

function expectRefusal(
  operation: Operation,
  answer: Answer,
  status: number,
  reason: string,
  detail: string,
  what = '',
): void {
  expect(answer.status, `${what} ${answer.text}`).toBe(status)
  expectDocumented(operation, answer)
  expect(reasonOf(answer.body), what).toBe(reason)
  const message: string = answer.body.detail ?? answer.body.error.message
  expect(message.slice(0, detail.length), what).toBe(detail)
}
