import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startPlatforms, type TestedPlatforms } from '../support/platforms.ts'
import { query } from '../support/query.ts'
import { until } from '../support/until.ts'

// A process, because a conversation that one process has served is listed, read, renamed and deleted by another.

const server = process.env.E2E_DATABASE_URL ?? ''

const AGENTS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai', 'a2a', 'langgraph'] as const
type Agent = (typeof AGENTS)[number]

/** What the platform of each agent can do beyond what the gateway does itself. */
const DELETED_AT: Readonly<Record<Agent, 'deleted' | 'unsupported'>> = {
  fastgpt: 'deleted',
  hiagent: 'deleted',
  dify: 'deleted',
  coze: 'deleted',
  openai: 'unsupported',
  a2a: 'unsupported',
  langgraph: 'deleted',
}

let platforms: TestedPlatforms
let gateways: TestGateway[] = []
let apis: Api[] = []
let key: string
let databaseUrl: string
let otherKey: string
const undo: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  if (server === '') return
  const database = await createScratchDatabase(server)
  undo.push(database.drop)
  databaseUrl = database.url
  platforms = await startPlatforms()
  undo.push(platforms.close)
  const config = JSON.stringify({
    limits: {
      chat: { points: 100_000 },
      calls: { points: 100_000 },
      writes: { points: 100_000 },
      adminWrites: { points: 100_000 },
    },
    agents: Object.fromEntries(AGENTS.map((agent) => [agent, entryOf(agent)])),
  })
  for (let n = 0; n < 2; n += 1) {
    const gateway = await startGateway({ config, databaseUrl: database.url })
    undo.push(gateway.remove)
    gateways.push(gateway)
  }
  apis = gateways.map(apiOf)
  const api = apis[0] as Api
  const admin = await api.login()
  const alice = await api.createUser(admin, 'alice', { role: 'premium' })
  const bob = await api.createUser(admin, 'bob', { role: 'premium' })
  key = (await api.createKey(admin, { owner_id: alice.id })).full_key
  otherKey = (await api.createKey(admin, { owner_id: bob.id })).full_key
})
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step()
  gateways = []
})

function entryOf(agent: Agent): object {
  const { baseUrl, apiKey } = platforms.agents[agent]
  const own = { platform: agent, baseUrl, apiKey }
  if (agent === 'fastgpt') return { ...own, apps: { 'app-1': {} } }
  if (agent === 'coze') return { ...own, apps: { 'app-1': {} } }
  if (agent === 'openai') return { ...own, model: platforms.agents.openai.appId }
  return own
}

interface Sent {
  readonly conversation: string
  readonly query: string
  readonly user?: string
  readonly through?: number
}

async function chat(agent: Agent, { conversation, query, user, through = 0 }: Sent): Promise<string> {
  const response = await (apis[through] as Api).chat(key, agent, {
    chat_id: agent === 'hiagent' ? '' : conversation,
    conversation_id: agent === 'hiagent' ? conversation : '',
    query,
    ...(user !== undefined && { user }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${agent}: ${text}`)
  return response.headers.get('x-call-id') as string
}

const get = (path: string, more: { token?: string } = {}, through = 1): Promise<Answer> =>
  (apis[through] as Api).call('GET', `/api/v1/conversations${path}`, { token: key, ...more })

/** The conversations of an agent, once there are as many as expected. */
function listed(agent: Agent, count: number, query = '') {
  return until(`${agent} has ${count} conversations`, async () => {
    const { status, body } = await get(`?agent=${agent}&limit=100${query}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body.data.items.length === count && body.data.items
  })
}

describe.runIf(server).each(AGENTS)('the conversations of %s', (agent) => {
  test('are listed, read, renamed, rated and deleted at another process than the one that served them, by end user', async () => {
    for (const user of ['ann', 'ben']) {
      for (let n = 1; n <= 5; n += 1)
        await chat(agent, { conversation: `${user}/${n}%`, query: `Hello ${n}`, user })
    }
    const all = await listed(agent, 10)
    expect(all[0]).toMatchObject({
      agent,
      conversation: 'ben/5%',
      end_user: 'ben',
      name: null,
      turns: 1,
      last_outcome: 'done',
      paused: false,
    })
    const own = await listed(agent, 5, '&end_user=ann')
    expect(own.map(({ conversation }: { conversation: string }) => conversation)).toEqual(
      [5, 4, 3, 2, 1].map((n) => `ann/${n}%`),
    )
    const { id } = own[0]

    const callId = await chat(agent, { conversation: 'ann/5%', query: 'And once more', user: 'ann' })
    // The call is settled a moment after its client has the answer.
    const history = await until('the call of the answer is known', async () => {
      const { data } = (await get(`/${id}/messages`)).body
      return data.items.at(-1).call_id === callId && data
    })
    expect(history).toMatchObject({ has_more: false, complete: true })
    const said = history.items.filter(({ role }: { role: string }) => role === 'user')
    expect(said.map(({ text }: { text: string }) => text)).toEqual(['Hello 5', 'And once more'])
    expect(history.items.at(-1)).toMatchObject({ role: 'assistant', call_id: callId, rating: null })
    const newest = (await get(`/${id}/messages?limit=2`)).body.data
    expect(newest.items).toEqual(history.items.slice(-2))
    expect(newest.has_more).toBe(true)
    const older = (await get(`/${id}/messages?limit=2&before=${encodeURIComponent(newest.before)}`)).body.data
    expect(older.items).toEqual(history.items.slice(0, 2))

    const [, api] = apis as [Api, Api]
    const renamed = await api.call('PATCH', `/api/v1/conversations/${id}`, {
      token: key,
      body: { name: 'Holiday plans' },
    })
    expect(renamed.body.data).toMatchObject({ id, name: 'Holiday plans' })
    expect(
      (await get(`?search=HOLIDAY&agent=${agent}`)).body.data.items.map((row: { id: string }) => row.id),
    ).toEqual([id])

    const rated = await api.call('PUT', `/api/v1/calls/${callId}/feedback`, {
      token: key,
      body: { rating: 'up', text: 'Just right.' },
    })
    expect(rated).toMatchObject({
      status: 200,
      body: { data: { call_id: callId, rating: 'up', text: 'Just right.' } },
    })
    expect((await get(`/${id}/messages`)).body.data.items.at(-1)).toMatchObject({
      call_id: callId,
      rating: 'up',
    })

    const deleted = await api.call('DELETE', `/api/v1/conversations/${id}`, { token: key })
    expect(deleted.body.data).toEqual({ id, at_platform: DELETED_AT[agent] })
    expect((await get(`/${id}`)).status).toBe(404)
    // The ledger holds no texts.
    const kept = await query(databaseUrl, 'SELECT rating, rating_text FROM calls WHERE id = $1', [callId])
    expect(kept).toEqual([{ rating: 'up', rating_text: null }])
    expect(await api.call('DELETE', `/api/v1/conversations/${id}`, { token: key })).toMatchObject({
      status: 404,
    })

    await chat(agent, { conversation: 'ann/5%', query: 'A new beginning', user: 'ann', through: 1 })
    const anew = await until('the conversation is listed anew', async () => {
      const { body } = await get(`?agent=${agent}&end_user=ann&conversation=${encodeURIComponent('ann/5%')}`)
      return body.data.items[0]
    })
    expect(anew).toMatchObject({ name: null, turns: 1 })
    expect(anew.id).not.toBe(id)
    const begun = (await get(`/${anew.id}/messages`)).body.data
    expect(begun.items.map(({ text }: { text: string }) => text)[0]).toBe('A new beginning')
  })

  test('are nobody else’s, whatever id is known', async () => {
    await chat(agent, { conversation: 'private', query: 'Hello', user: 'ann' })
    const found = await until('the conversation is listed', async () => {
      const { body } = await get(`?agent=${agent}&conversation=private`)
      return body.data.items[0]
    })
    const [, api] = apis as [Api, Api]
    const path = `/api/v1/conversations/${found.id}`
    for (const token of [otherKey, await api.login('bob', 'password of bob')]) {
      const asked = { token }
      expect(
        (
          await api.call(
            'GET',
            `/api/v1/conversations?conversation=private&agent=${agent}&end_user=ann`,
            asked,
          )
        ).body.data.items,
      ).toEqual([])
      for (const [method, sub, body] of [
        ['GET', '', undefined],
        ['GET', '/messages', undefined],
        ['PATCH', '', { name: 'mine' }],
        ['DELETE', '', undefined],
      ] as const) {
        expect([method, sub, (await api.call(method, path + sub, { ...asked, body })).status]).toEqual([
          method,
          sub,
          404,
        ])
      }
    }
    expect((await get(`/${found.id}`)).body.data.name).toBeNull()
  })
})

test.runIf(server)(
  'a platform that is away keeps its conversation, and a repetition deletes it',
  async () => {
    await chat('dify', { conversation: 'kept', query: 'Hello' })
    const found = await until('the conversation is listed', async () => {
      const { body } = await get('?agent=dify&conversation=kept')
      return body.data.items[0]
    })
    const [first] = apis as [Api, Api]
    const path = `/api/v1/conversations/${found.id}`
    await platforms.agents.dify.control.fail('refuse')
    const failed = await first.call('DELETE', path, { token: key })
    expect(failed.status).toBeGreaterThanOrEqual(502)
    await platforms.agents.dify.control.recover()
    expect((await get(`/${found.id}`)).status).toBe(200)
    expect(await first.call('DELETE', path, { token: key })).toMatchObject({ status: 200 })
  },
)
