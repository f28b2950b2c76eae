import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createScratchDatabase,
  type ScratchDatabase,
} from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf, chatBody } from '../support/api.ts'
import { type GatewayOptions, prepareGateway, type TestGateway } from '../support/gateway.ts'
import { graphql } from '../support/graphql.ts'
import { checkOut, type LastRelease, nameOfLastRelease } from '../support/last-release.ts'
import { configOf, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { RAISED_LIMITS } from '../support/raised-limits.ts'
import { until } from '../support/until.ts'
import { uploadFile } from '../support/uploads.ts'

// A process, because the last release runs beside this version, from its own sources.

const server = process.env.E2E_DATABASE_URL ?? ''
const releaseName = server === '' ? undefined : nameOfLastRelease()

const { chat, login, loginAddress, refusedKeys } = RAISED_LIMITS
const LIMITS_OF_BOTH = { chat, login, loginAddress, refusedKeys }

/** The last release is upgraded to this version while calls run, and back. */
describe.skipIf(server === '' || releaseName === undefined)(
  'the last release and this version on one database',
  () => {
    const closers: (() => Promise<unknown>)[] = []
    let release: LastRelease
    let database: ScratchDatabase
    let platform: Platform
    let older: TestGateway
    let newer: TestGateway
    let key: string
    let load: Load

    beforeAll(async () => {
      release = await checkOut(releaseName ?? '')
      platform = await startPlatform()
      database = await createScratchDatabase(server, { template: undefined })
      const files = await mkdtemp(join(tmpdir(), 'trunkline-files-'))
      closers.push(release.remove, database.drop, platform.close, () => rm(files, { recursive: true }))
      const options: GatewayOptions = {
        // The last release does not know the limits that this version has added, and an operator keeps the configuration.
        config: configOf(platform, { limits: LIMITS_OF_BOTH }),
        databaseUrl: database.url,
        env: { NODE_ENV: 'production', DATA_DIR: files },
      }
      older = await prepareGateway({ ...options, main: release.main })
      newer = await prepareGateway(options)
      closers.push(older.remove, newer.remove)
      expect(await older.trunkline('migrate')).toMatchObject({ code: 0 })
      await older.start()
      const api = apiOf(older)
      key = (await api.createKey(await api.login(), { permissions: ['chat', 'upload'] })).full_key
      load = startLoad([older], key)
    }, 300_000)
    afterAll(async () => {
      await load?.stop()
      for (const close of closers.reverse()) await close()
    })

    test('the release serves while this version migrates its database, and on what it does not know', async () => {
      await load.sends(20)
      expect(await newer.trunkline('migrate')).toMatchObject({ code: 0 })
      // What a later version may add. Statements that are prepared must not depend on it.
      for (const table of [
        'users',
        'api_keys',
        'calls',
        'rollups',
        'instances',
        'conversations',
        'turns',
        'uploads',
      ]) {
        await query(
          database.url,
          `ALTER TABLE ${table} ADD COLUMN of_a_later_version text NOT NULL DEFAULT ''`,
        )
      }
      await load.sends(20)
      expect((await fetch(`${older.url}/readyz`)).status).toBe(200)
    })

    test('calls of every kind pass between both, each way', { timeout: 120_000 }, async () => {
      await newer.start()
      load.sendTo([older, newer])
      await Promise.all([useBoth(older, newer), useBoth(newer, older)])
      await load.sends(20)
    })

    test('after the way back the release reads and serves what this version has written', async () => {
      load.sendTo([older])
      expect(await newer.stop()).toBe(0)
      await useBoth(older, older)
      await load.sends(20)
    })

    test('no turn is lost: ledger, counters and reports have what clients have counted', async () => {
      const { answered, failed } = await load.stop()
      expect(failed).toEqual([])
      const rows = await query<{ id: string }>(database.url, 'SELECT request_id AS id FROM calls')
      const ids = new Set(rows.map(({ id }) => id))
      expect(answered.filter((id) => !ids.has(id))).toEqual([])
      expect(await until('every call has its end', async () => (await openCalls()) === 0)).toBe(true)
      for (const gateway of [older, newer]) {
        expect(await gateway.trunkline('usage', 'verify')).toMatchObject({ code: 0 })
      }
    })

    async function openCalls(): Promise<number> {
      const [row] = await query<{ open: number }>(
        database.url,
        'SELECT count(*)::int AS open FROM calls WHERE outcome IS NULL',
      )
      return row?.open ?? -1
    }
  },
)

/** What one makes and uses, the other uses, shows and takes away. The calls of the key are counted. */
async function useBoth(one: TestGateway, other: TestGateway): Promise<void> {
  const token = await apiOf(one).login()
  const [here, there] = [apiOf(one), apiOf(other)]
  const name = `user-${one.pid}-${other.pid}-${one === other}`
  const user = await here.createUser(token, name)
  const changed = await there.call('PATCH', `/api/v1/users/${user.id}`, { token, body: { role: 'premium' } })
  expect(changed).toMatchObject({ status: 200, body: { data: { role: 'premium' } } })

  const made = await here.createKey(token, { permissions: ['chat', 'upload'], owner_id: user.id })
  let calls = 0
  for (const gateway of [other, one]) calls += await callEachFace(gateway, made.full_key)
  const file = await uploadFile(one.url, made.full_key, 'the content')
  calls += 1
  expect(await (await fetch(other.url + new URL(file.url).pathname)).text()).toBe('the content')
  const deleted = await there.call('DELETE', `/api/v1/uploads/${file.id}`, { token: made.full_key })
  expect(deleted.status).toBe(200)

  for (const [gateway, api] of [
    [one, here],
    [other, there],
  ] as const) {
    const shown = await until('the ledger has the ends of all calls', async () => {
      const { status, body } = await api.call('GET', `/api/v1/calls?key_id=${made.id}&limit=100`, { token })
      expect(status).toBe(200)
      const rows: { outcome: string | null }[] = body.data.items
      return rows.length === calls && rows.every(({ outcome }) => outcome === 'done') && rows
    })
    expect(shown).toHaveLength(calls)
    const csv = await api.call('GET', `/api/v1/calls?key_id=${made.id}&format=csv`, { token })
    expect(csv.body.trim().split('\n')).toHaveLength(calls + 1)
    const usage = await api.call('GET', `/api/v1/usage?key_id=${made.id}&group_by=outcome,agent`, { token })
    expect(usage.body.data.totals.calls).toBe(calls)
    const keys = await api.call('GET', `/api/v1/api-keys?search=${made.full_key.slice(0, 10)}`, { token })
    expect(keys.body.data.items).toMatchObject([{ id: made.id, usage: { total_calls: calls } }])
    const { data, errors } = await graphql(
      gateway,
      `query ($id: ID!) {
        calls(first: 50, filter: { keyId: $id }) { nodes { kind face outcome key { name } owner { role status } } }
        usage(filter: { keyId: $id }) { totals { calls } }
      }`,
      { as: token, variables: { id: made.id } },
    )
    expect(errors).toBeUndefined()
    expect(data.calls.nodes).toHaveLength(calls)
    expect(data.usage.totals.calls).toBe(calls)
  }

  expect((await there.call('POST', `/api/v1/api-keys/${made.id}/revoke`, { token })).status).toBe(200)
  const refused = await here.chat(made.full_key, 'counting')
  expect([refused.status, await refused.json()]).toMatchObject([401, { reason: 'key_revoked' }])
}

/** Calls each face once, and returns how many calls that were. */
async function callEachFace(gateway: TestGateway, key: string): Promise<number> {
  const api = apiOf(gateway)
  const messages = [{ role: 'user', content: 'q' }]
  const conversation = { query: 'q', conversation_id: 'the same on both' }
  const post = (path: string, body: object) =>
    api.call('POST', path, { token: key, body, headers: { agent: 'counting' } })
  const answers = await Promise.all([
    post('/api/v1/chat', chatBody(conversation)),
    post('/api/v1/chat', chatBody({ ...conversation, stream: true, detail: true })),
    post('/api/v1/chat/completions', { model: 'counting', messages }),
    post('/api/v1/chat/completions', { model: 'counting', messages, stream: true }),
    post('/api/v1/responses', { model: 'counting', input: 'q' }),
    post('/api/v1/responses', { model: 'counting', input: 'q', stream: true }),
  ])
  for (const { status, body } of answers) {
    expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('Counted')])
  }
  const chat = 'mutation { chat(input: { agentId: "counting", query: "q" }) { text } }'
  expect(await graphql(gateway, chat, { as: key })).toEqual({ data: { chat: { text: 'Counted.' } } })
  return answers.length + 1
}

interface Load {
  sendTo(gateways: readonly TestGateway[]): void
  /** Resolves when this many more calls have been answered. */
  sends(more: number): Promise<void>
  /** The ids of the calls that were answered, and what happened to others. */
  stop(): Promise<{ answered: readonly string[]; failed: readonly unknown[] }>
}

/** Sends one call after the other, to each gateway in turn, from the first test to the last. */
function startLoad(first: readonly TestGateway[], key: string): Load {
  const answered: string[] = []
  const failed: unknown[] = []
  let gateways = first
  let isStopped = false
  const sending = (async () => {
    for (let n = 0; !isStopped; n += 1) {
      const gateway = gateways[n % gateways.length] as TestGateway
      const result = await sendChat(gateway.url, key)
      if (result.status === 200) answered.push(result.id)
      else failed.push(result)
    }
  })()
  return {
    sendTo(next) {
      gateways = next
    },
    async sends(more) {
      const enough = answered.length + more
      await until(`${more} more calls`, () => answered.length >= enough || failed.length > 0)
    },
    async stop() {
      isStopped = true
      await sending
      return { answered, failed }
    },
  }
}
