import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ChatClient } from './chat-client.ts'
import { withGraphQL } from './graphql.ts'
import { Trunkline } from './index.ts'

const baseURL = 'http://gateway.test'

beforeEach(() => {
  vi.stubEnv('TRUNKLINE_API_KEY', '')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** A client without a credential, whose requests are kept. */
function clientWithout() {
  const requests: Request[] = []
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    requests.push(new Request(url, init))
    return Response.json({ data: {} })
  }
  return { client: new Trunkline({ baseURL, fetch }), requests }
}

test('a call that needs a key names the variable where there is none, and is not sent', async () => {
  const { client, requests } = clientWithout()
  const { chat } = new ChatClient({ baseURL, fetch: () => expect.unreachable('It was sent.') })
  const gql = withGraphQL(client)
  for (const call of [
    () => client.chat.create({ query: 'Hello' }),
    () => client.chat.stream({ query: 'Hello' }).text(),
    () => client.chat.stream({ query: 'Hello', keep: true }).text(),
    () => client.chat.conversation({ agent: 'dify' }).create('Hello'),
    () => client.calls.reply('call'),
    () => client.calls.resume('call').text(),
    () => client.uploads.create(new Blob(['a']), { created_by: 'a' }),
    () => client.apiKeys.current(),
    () => gql.query('{ currentApiKey { id } }'),
    () => gql.subscribe('subscription { chat }').next(),
    () => chat.create({ query: 'Hello' }),
  ])
    await expect(call()).rejects.toThrow('apiKey (TRUNKLINE_API_KEY) is missing')
  expect(requests).toEqual([])
})

test('a call is sent without a key where it needs none, or has a token or another credential', async () => {
  const { client, requests } = clientWithout()
  await client.agents.list()
  await client.login({ username: 'alice', password: 'a long passphrase' })
  await client.chat.create({ query: 'Hello' }, { headers: { Authorization: 'Basic YTpi' } })
  await client.withOptions({ accessToken: 'token' }).chat.create({ query: 'Hello' })
  expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([
    null,
    null,
    'Basic YTpi',
    'Bearer token',
  ])
})

test('a page may leave the credential to its server', async () => {
  vi.stubGlobal('window', { document: {} })
  const { client, requests } = clientWithout()
  await client.chat.create({ query: 'Hello' })
  vi.unstubAllGlobals()
  expect(requests).toHaveLength(1)
})
