import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { EVENT_STREAM, follow, graphql, sendGraphql } from '../support/graphql.ts'
import { configOf } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { readerOf } from '../support/stream.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

// A process, because two workers and a database server that goes away are what a subscription must outlive.

const server = process.env.E2E_DATABASE_URL ?? ''

const REPLY = 'mutation ($input: ChatInput!) { chat(input: $input) { text } }'
const FOLLOW = 'subscription ($input: ChatInput!) { chat(input: $input) { __typename } }'

describe.skipIf(server === '')('with a database server', () => {
  let database: Awaited<ReturnType<typeof createScratchDatabase>>
  let proxy: TcpProxy
  let platform: Platform
  let gateway: TestGateway
  let token: string
  let key: string
  let agent: string

  beforeAll(async () => {
    database = await createScratchDatabase(server)
    proxy = await startTcpProxy(database.url)
    platform = await startPlatform()
    const config = configOf(platform)
    agent = Object.keys(JSON.parse(config).agents)[0] ?? ''
    gateway = await startGateway({ config, databaseUrl: proxy.url })
    const api = apiOf(gateway)
    token = await api.login()
    key = (await api.createKey(token)).full_key
  })
  afterAll(async () => {
    await gateway?.remove()
    await proxy?.close()
    await platform?.close()
    await database?.drop()
  })

  afterEach(() => platform.release())

  const variables = () => ({ input: { agentId: agent, query: 'Hello' } })
  const codesOf = (errors: Awaited<ReturnType<typeof graphql>>['errors']) =>
    errors?.map(({ extensions: { code, status, retryAfterSeconds } }) => [code, status, retryAfterSeconds])

  test('lists within lists are those of the embedded database', async () => {
    const api = apiOf(gateway)
    const keys = [await api.createKey(token), await api.createKey(token)]
    for (const { full_key } of keys) await (await api.chat(full_key, agent)).text()
    const { data, errors } = await graphql(
      gateway,
      `{ apiKeys(first: 2) { nodes {
        id calls(first: 1) { nodes { keyId } } uploads { totalCount nodes { id } } owner { calls(first: 2) { nodes { keyId } } }
      } } }`,
      { as: token },
    )
    expect(errors).toBeUndefined()
    const newest = keys.map(({ id }) => ({ keyId: id })).reverse()
    expect(data.apiKeys.nodes).toEqual(
      newest.map(({ keyId }) => ({
        id: keyId,
        calls: { nodes: [{ keyId }] },
        uploads: { totalCount: 0, nodes: [] },
        owner: { calls: { nodes: newest } },
      })),
    )
  })

  test('while the database is away or stalled, every operation is refused, and a running chat completes', async () => {
    for (const fault of ['cut', 'stall'] as const) {
      platform.hold()
      const reached = platform.received.length
      const request = { variables: variables(), as: key, headers: EVENT_STREAM }
      const running = readerOf(await sendGraphql(gateway, FOLLOW, request))
      await platform.receives(reached + 1)
      await proxy[fault]()
      const read = graphql(gateway, '{ me { username } agents { id } }', { as: token })
      const attempted = graphql(
        gateway,
        'mutation { login(input: { username: "nobody", password: "password" }) { accessToken } }',
      )
      const [reply, followed] = await Promise.all([
        graphql(gateway, REPLY, { variables: variables(), as: key }),
        follow(gateway, FOLLOW, { variables: variables(), as: key }),
      ])
      const [me, login] = await Promise.all([read, attempted])
      const unavailable = ['unavailable', 503, 1]
      for (const { errors } of [login, reply, followed.results.at(-1) ?? {}]) {
        expect(codesOf(errors)).toEqual([unavailable])
      }
      expect(me.errors?.[0]?.extensions.code).toBe('unavailable')
      expect(followed.isComplete).toBe(true)

      platform.release()
      const text = await running.rest()
      expect(text).toContain('"__typename":"ChatFinished"')
      expect(text).toMatch(/event: complete\ndata:\n\n$/)
      await proxy.restore()
      await until('it serves again', async () => {
        const { errors } = await graphql(gateway, REPLY, { variables: variables(), as: key })
        return errors === undefined
      })
    }
  }, 120_000)
})
