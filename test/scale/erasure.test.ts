import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { verifyUsage } from '@trunkline/gateway/src/core/ledger/verify.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { keptClient } from '../support/kept-calls.ts'
import { startPlatforms, type TestedPlatforms } from '../support/platforms.ts'
import { query } from '../support/query.ts'
import { until } from '../support/until.ts'

// A process, because an end user is erased at another process than those that have its calls, and pg_dump is a program.

const server = process.env.E2E_DATABASE_URL ?? ''
const run = promisify(execFile)

const AGENTS = ['dify', 'openai', 'fastgpt'] as const

/** In no other text of a database. */
const ZOE = 'zoe.quaternion@example.com'
const BEN = 'ben.hypotenuse@example.com'

describe.skipIf(server === '' || !hasTools())('an end user that is erased', () => {
  const undo: (() => Promise<unknown>)[] = []
  let platforms: TestedPlatforms
  let gateways: readonly [TestGateway, TestGateway]
  let first: Api
  let second: Api
  let databaseUrl: string
  let admin: string
  let owner: { readonly id: string; readonly token: string; readonly key: string }

  beforeAll(async () => {
    const database = await createScratchDatabase(server)
    undo.push(database.drop)
    databaseUrl = database.url
    platforms = await startPlatforms()
    undo.push(platforms.close)
    const config = JSON.stringify({
      conversations: { endUserHeader: 'x-end-user' },
      agents: Object.fromEntries(AGENTS.map((agent) => [agent, entryOf(agent)])),
    })
    const start = async () => {
      const gateway = await startGateway({ config, databaseUrl })
      undo.push(gateway.remove)
      return gateway
    }
    gateways = [await start(), await start()]
    first = apiOf(gateways[0])
    second = apiOf(gateways[1])
    admin = await first.login()
    const { id, password } = await first.createUser(admin, 'alice', { role: 'premium' })
    const { full_key: key } = await first.createKey(admin, { owner_id: id, permissions: ['chat', 'upload'] })
    owner = { id, key, token: await first.login('alice', password) }
  })
  afterAll(async () => {
    for (const step of undo.reverse()) await step()
  })

  function entryOf(agent: (typeof AGENTS)[number]): object {
    const { baseUrl, apiKey, appId } = platforms.agents[agent]
    const own = { platform: agent, baseUrl, apiKey }
    if (agent === 'fastgpt') return { ...own, apps: { 'app-1': {} } }
    return agent === 'openai' ? { ...own, model: appId } : own
  }

  async function chat(agent: string, user: string, conversation: string): Promise<string> {
    const body = { chat_id: conversation, conversation_id: '', query: `I am ${user}` }
    const response = await first.chat(owner.key, agent, body, { headers: headerOf(user) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${agent}: ${text}`)
    return response.headers.get('x-call-id') as string
  }

  /** Another end user in the form is not believed. */
  async function upload(user: string, named = user) {
    const form = new FormData()
    form.set('created_by', `the page of ${named}`)
    form.set('file', new Blob(['Hello']), 'note.txt')
    form.set('end_user', named)
    const authorization = `Bearer ${owner.key}`
    const response = await fetch(`${gateways[0].url}/api/v1/upload`, {
      method: 'POST',
      headers: { authorization, ...headerOf(user) },
      body: form,
    })
    expect([response.status, await response.clone().text()]).toEqual([200, expect.any(String)])
    return ((await response.json()) as { data: { id: string; url: string; end_user: string } }).data
  }

  async function erase(api: Api, token: string, body: object, headers: Record<string, string> = {}) {
    return api.call('POST', '/api/v1/end-users/erase', { token, body, headers })
  }

  /** The tables whose rows have this name in a dump of the whole database. */
  async function tablesWith(name: string): Promise<string[]> {
    const { stdout } = await run('pg_dump', [databaseUrl], { maxBuffer: 1024 ** 3 })
    let table = ''
    const found = new Set<string>()
    for (const line of stdout.split('\n')) {
      table = /^COPY public\.(\w+)/.exec(line)?.[1] ?? table
      if (line.includes(name)) found.add(table)
    }
    return [...found].sort()
  }

  const verified = async () => {
    const { code, output } = await gateways[0].trunkline('usage', 'verify', '--json')
    expect(code, output).toBe(0)
    return JSON.parse(output) as unknown[]
  }

  async function callsByEndUser(): Promise<Record<string, number>> {
    const { body } = await second.call('GET', '/api/v1/usage?group_by=end_user', { token: owner.token })
    return Object.fromEntries(
      body.data.groups.map(
        ({ group, totals }: { group: { end_user: string }; totals: { calls: number } }) => [
          group.end_user,
          totals.calls,
        ],
      ),
    )
  }

  test('leaves no trace of its name in a dump, once the platform that was away has answered a repetition', async () => {
    for (const user of [ZOE, BEN]) {
      for (const agent of AGENTS) await chat(agent, user, `${user}/1`)
      const kept = keptClient({ url: gateways[0].url, apiKey: owner.key })
      const headers = headerOf(user)
      const reply = await kept.ask('openai', `key of ${user}`, { headers, conversation: `${user}/kept` })
      expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)])
      // A request that names no conversation leaves one at the platform, which is in no list.
      const once = await kept.ask('openai', undefined, { agent: 'dify', headers })
      expect([once.status, await once.text()]).toEqual([200, expect.any(String)])
      const callId = await chat('dify', user, `${user}/1`)
      const feedback = { rating: 'down', text: `${user} says so` }
      expect(
        await first.call('PUT', `/api/v1/calls/${callId}/feedback`, {
          token: owner.key,
          headers,
          body: feedback,
        }),
      ).toMatchObject({ status: 200 })
    }
    const files = { zoe: await upload(ZOE), ben: await upload(BEN) }
    expect(files.zoe.end_user).toBe(ZOE)
    const bound = await upload(ZOE, BEN)
    expect(bound.end_user).toBe(ZOE)
    const silent = { chat_id: `${ZOE}/silent`, conversation_id: '', query: 'sandbox:silence Hello' }
    const running = first.chat(owner.key, 'openai', silent, { headers: headerOf(ZOE) })
    await until('only one call runs', async () => {
      const open = await query(databaseUrl, 'SELECT FROM calls WHERE outcome IS NULL')
      const listed = await query(databaseUrl, 'SELECT FROM listed_conversations WHERE end_user = $1', [ZOE])
      return open.length === 1 && listed.length >= 4
    })
    expect(await tablesWith(ZOE)).toEqual(
      expect.arrayContaining(['calls', 'listed_conversations', 'rollup_names', 'rollups', 'uploads']),
    )
    expect(await verified()).toEqual([])

    const wanted = { end_user: ZOE, owner_id: owner.id }
    expect(await erase(second, admin, { end_user: ZOE })).toMatchObject({
      status: 400,
      body: { reason: 'invalid_request', detail: expect.stringMatching(/^body.owner_id: is required/) },
    })
    expect(await erase(second, owner.key, wanted)).toMatchObject({ status: 403 })
    expect(await erase(second, owner.token, wanted, { 'x-end-user': 'ben' })).toMatchObject({ status: 403 })

    // The sums hold at every moment.
    const watched = await openDatabase({ kind: 'server', url: databaseUrl })
    undo.push(() => watched.close())
    let isErasing = true
    const drifts: unknown[] = []
    const watching = (async () => {
      while (isErasing)
        drifts.push(...(await verifyUsage(watched.sql, { retentionDays: 400, extent: 'all' })))
    })()
    await platforms.agents.dify.control.fail('refuse')
    const away = await erase(second, admin, wanted)
    isErasing = false
    await watching
    expect(drifts).toEqual([])
    const { pseudonym } = away.body.data
    expect(away).toMatchObject({ status: 200 })
    expect(away.body.data).toMatchObject({
      owner_id: owner.id,
      pseudonym: expect.stringMatching(/^erased-[0-9a-f]{20}$/),
      complete: false,
      stopped_calls: 1,
      running_calls: 0,
      deleted_uploads: 2,
      remaining_uploads: 0,
      agents: expect.arrayContaining([
        { agent: 'dify', deleted: 0, unsupported: 0, remaining: 2, reason: 'agent_unreachable' },
        { agent: 'fastgpt', deleted: 1, unsupported: 0, remaining: 0, reason: null },
        expect.objectContaining({ agent: 'openai', deleted: 0, remaining: 0, reason: null }),
      ]),
    })
    expect((await running).status).toBe(409)
    expect(await tablesWith(ZOE)).toEqual(['listed_conversations'])
    expect(await verified()).toEqual([])

    await platforms.agents.dify.control.recover()
    const repeated = await gateways[1].trunkline('end-users', 'erase', ZOE, '--owner', 'alice', '--json')
    expect([repeated.code, JSON.parse(repeated.output)]).toEqual([
      0,
      expect.objectContaining({
        pseudonym,
        complete: true,
        agents: [{ agent: 'dify', deleted: 2, unsupported: 0, remaining: 0, reason: null }],
      }),
    ])
    expect(await tablesWith(ZOE)).toEqual([])
    expect(await tablesWith(encodeURIComponent(ZOE))).toEqual([])
    expect(await verified()).toEqual([])

    expect(await callsByEndUser()).toMatchObject({ [pseudonym]: 9, [BEN]: 7 })
    expect(await tablesWith(BEN)).toEqual(
      expect.arrayContaining(['calls', 'listed_conversations', 'rollup_names', 'rollups', 'uploads']),
    )
    expect((await fetch(files.zoe.url)).status).not.toBe(200)
    expect((await fetch(files.ben.url)).status).toBe(200)
    const events = await query<{ actor: string; target_id: string; after: string }>(
      databaseUrl,
      "SELECT actor, target_id, after FROM audit_events WHERE operation = 'endUsers.erase' ORDER BY n",
    )
    expect(events.map(({ actor, target_id }) => [actor, target_id])).toEqual([
      ['token', pseudonym],
      ['command', pseudonym],
    ])

    // Its owner erases it again, after it has come back under its name.
    await chat('dify', ZOE, `${ZOE}/1`)
    await until('the call is settled', async () => {
      const rows = await query(databaseUrl, 'SELECT FROM listed_conversations WHERE end_user = $1', [ZOE])
      return rows.length === 1
    })
    expect((await erase(first, owner.token, { end_user: ZOE })).body.data).toMatchObject({
      pseudonym,
      complete: true,
      agents: [{ agent: 'dify', deleted: 1, unsupported: 0, remaining: 0, reason: null }],
    })
    expect(await tablesWith(ZOE)).toEqual([])
    expect(await callsByEndUser()).toMatchObject({ [pseudonym]: 10, [BEN]: 7 })
    expect(await verified()).toEqual([])
  }, 300_000)
})

function headerOf(user: string): Record<string, string> {
  return { 'x-end-user': encodeURIComponent(user) }
}

function hasTools(): boolean {
  try {
    execFileSync('pg_dump', ['--version'])
    return true
  } catch (cause) {
    if (process.env.REQUIRE_SERVICES) throw new Error('pg_dump is required here', { cause })
    console.warn('pg_dump is missing: the test of an erasure is skipped')
    return false
  }
}
