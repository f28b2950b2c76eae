import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyPath, fillPath, OPERATIONS, patternOf } from '../support/contract/contract.ts'
import { type ContractGateway, startContractGateway } from '../support/contract/contract-gateway.ts'
import { GOOD } from '../support/contract/provocations.ts'
import { send } from '../support/contract/send.ts'

// A process, because Node adds to HEAD, and rejects methods by itself, below any route.

let gateway: ContractGateway
beforeAll(async () => {
  gateway = await startContractGateway({ agents: { points: 1_000 } })
})
afterAll(() => gateway?.remove())

/** Common methods, an uncommon one, and one for which servers require a body of a known media type. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY']

test.each([...new Set(OPERATIONS.map(({ path }) => path))])(
  '%s serves its documented methods, and lists them in the response to any other',
  async (path) => {
    // `me` also matches the `{id}` of the neighbouring routes.
    const routes = OPERATIONS.filter((each) => patternOf(each.path).test(path))
    const own = new Set(routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
    for (const method of METHODS.filter((each) => !own.has(each))) {
      const { body, headers } = await send(gateway.url, { method, path: anyPath(path) })
      expect(body, method).toMatchObject({ code: 405, reason: 'method_not_allowed' })
      expect(new Set(headers.allow?.split(', '))).toEqual(own)
    }
  },
)

test('HEAD is served wherever GET is, with the same headers and no body', async () => {
  for (const { id, method, path } of OPERATIONS.filter((each) => each.method === 'GET')) {
    const { as, id: parameter = '' } = (await GOOD[id]?.(gateway)) ?? {}
    const request = { path: fillPath(path, parameter), as }
    const [get, head] = [
      await send(gateway.url, { ...request, method }),
      await send(gateway.url, { ...request, method: 'HEAD' }),
    ]
    expect([head.status, head.headers['content-type'], head.text], id).toEqual([
      get.status,
      get.headers['content-type'],
      '',
    ])
    const refused = await send(gateway.url, { path: request.path, method: 'HEAD' })
    expect([401, get.status], id).toContain(refused.status)
  }
})

/** Chats do not accept GET, GraphQL wants a query, and the base URL of OpenAI clients is not a route itself. */
const STATUSES: Readonly<Record<string, readonly number[]>> = { chat: [405], graphql: [400], openai: [404] }

test('without a console, the root redirects browsers to the reference, and returns links to programs', async () => {
  const browser = await send(gateway.url, {
    method: 'GET',
    path: '/',
    headers: { accept: 'text/html,*/*;q=0.8' },
  })
  expect([browser.status, browser.headers.location]).toEqual([302, '/docs'])
  const { status, body, headers } = await send(gateway.url, { method: 'GET', path: '/' })
  expect([status, body.name, headers.vary]).toEqual([200, 'Trunkline', expect.stringContaining('Accept')])
  for (const [name, path] of Object.entries<string>(body.links)) {
    const found = await send(gateway.url, { method: 'GET', path })
    expect(STATUSES[name] ?? [200, 301, 302], name).toContain(found.status)
  }
})

test('browsers get an icon', async () => {
  const { status, headers } = await send(gateway.url, { method: 'GET', path: '/favicon.ico' })
  expect([status, headers['content-type']]).toEqual([200, 'image/x-icon'])
})
