import { CallsByAgent, Chat, Login } from '@trunkline/examples/documents.ts'
import { Trunkline, type TrunklineError } from '@trunkline/sdk'
import { withGraphQL } from '@trunkline/sdk/graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'

// A process, because the SDK must understand what a gateway sends over a connection, and stop an agent by closing it.

let system: GatewayWithSandbox
beforeAll(async () => {
  system = await startGatewayWithSandbox()
})
afterAll(() => system?.remove())

const clientOf = (options: object = {}) =>
  new Trunkline({ baseURL: system.gateway.url, apiKey: system.key, accessToken: system.token, ...options })
const gqlOf = (options?: object) => withGraphQL(clientOf(options))

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('it did not fail'),
    (error: unknown) => error as TrunklineError,
  )

const INPUT = { agentId: 'fastgpt', appId: 'app-1', query: 'Hello' }

async function textOf(input: Parameters<typeof chat>[0], onText?: () => void): Promise<string> {
  let text = ''
  for await (const { chat: item } of chat(input)) {
    if (item?.__typename !== 'ChatText') continue
    text += item.text
    onText?.()
  }
  return text
}

const chat = (input: typeof INPUT, signal?: AbortSignal) => gqlOf().subscribe(Chat, { input }, { signal })

test('a document of codegen types its variables and its result', async () => {
  const { username, password } = system.gateway.admin
  const { login } = await gqlOf().query(Login, { input: { username, password } })
  expect(login?.accessToken satisfies string | undefined).toMatch(/^eyJ/)
  const [from = '', to = ''] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
  const { usage } = await gqlOf().query(CallsByAgent, { from, to })
  expect(usage?.totals?.calls satisfies number | undefined).toBeGreaterThanOrEqual(0)
  // @ts-expect-error: the variables are required
  await failureOf(gqlOf().query(Login))
})

test('each field takes the credential that its REST twin takes', async () => {
  const { me } = await gqlOf().query<{ me: { username: string } }>('{ me { username } }')
  expect(me.username).toBe(system.gateway.admin.username)
  const current = gqlOf().query<{ currentApiKey: { apiKey: { name: string } } }>(
    '{ currentApiKey { apiKey { name } } }',
  )
  expect((await current).currentApiKey.apiKey.name).toBe('test')
})

test('an error of a field has the class of its status, the reason, and the other fields as its cause', async () => {
  const document = '{ me { username } apiKey(id: "01890000-0000-7000-8000-000000000000") { id } }'
  const error = await failureOf(gqlOf().query(document))
  expect(error).toMatchObject({ name: 'NotFoundError', status: 404, reason: 'key_not_found' })
  expect(error.requestId).toEqual(expect.any(String))
  expect(error.cause).toMatchObject({ data: { me: { username: 'admin' } } })
})

test('a document that is refused as a whole names its mistake', async () => {
  expect(await failureOf(gqlOf().query('{ nothing }'))).toMatchObject({
    name: 'BadRequestError',
    reason: 'document_invalid',
    detail: expect.stringContaining('nothing'),
  })
})

test('a token that the gateway refuses is renewed once', async () => {
  let renewals = 0
  const getAccessToken = () => {
    renewals++
    return system.token
  }
  const gql = gqlOf({ accessToken: 'eyJhbGciOiJFZERTQSJ9.e30.AA', getAccessToken })
  expect(await gql.query('{ me { username } }')).toEqual({ me: { username: 'admin' } })
  expect(renewals).toBe(1)
  const hopeless = gqlOf({ accessToken: 'eyJhbGciOiJFZERTQSJ9.e30.AA' })
  expect(await failureOf(hopeless.query('{ me { username } }'))).toMatchObject({ status: 401 })
})

test('a chat by subscription gives the text that REST gives', async () => {
  const reply = await clientOf().chat.create({ agent: 'fastgpt', app_id: 'app-1', query: 'Hello' })
  expect(await textOf(INPUT)).toBe(reply.choices[0]?.message.content)
})

test('a subscription that is refused, or fails after its first text, throws with the reason', async () => {
  const refused = textOf({ ...INPUT, agentId: 'nobody' })
  expect(await failureOf(refused)).toMatchObject({ name: 'BadRequestError', reason: 'unknown_agent' })
  let texts = 0
  const cut = textOf({ ...INPUT, query: 'Hello sandbox:truncate' }, () => {
    texts++
  })
  expect(await failureOf(cut)).toMatchObject({ name: 'BadGatewayError', reason: 'agent_truncated' })
  expect(texts).toBeGreaterThan(0)
  const closed = gqlOf({ baseURL: 'http://127.0.0.1:9', maxRetries: 0 }).subscribe(Chat, { input: INPUT })
  expect(await failureOf(closed.next())).toMatchObject({ name: 'ConnectionError' })
})

test('leaving the loop over a subscription stops the agent, and aborting it throws', async () => {
  const outcomes = async () => {
    const page = await clientOf().calls.list({ limit: 2 })
    return page.items.map(({ outcome }) => outcome)
  }
  const input = { ...INPUT, query: 'sandbox:slow=20 sandbox:long=10000 Hello' }
  for await (const { chat: item } of chat(input)) if (item?.__typename === 'ChatText') break
  await expect.poll(async () => (await outcomes())[0]).toBe('client_gone')

  const controller = new AbortController()
  const items = chat(input, controller.signal)
  await items.next()
  controller.abort(new Error('enough'))
  expect(await failureOf(drain(items))).toMatchObject({ name: 'AbortError', cause: new Error('enough') })
  await expect.poll(outcomes).toEqual(['client_gone', 'client_gone'])
})

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}
