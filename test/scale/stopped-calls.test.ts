import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EVENT_STREAM, resultsOf, sendGraphql } from '../support/graphql.ts'
import { failureOf, KEPT_FACES, reasonOf } from '../support/kept-calls.ts'
import { type KeptReplicas, startKeptReplicas } from '../support/kept-replicas.ts'
import { query } from '../support/query.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'
import { formUpToFile, openUpload } from '../support/upload-client.ts'

// A process, because a call is stopped at one replica and ends at another, which shares nothing with it but the database.

const server = process.env.E2E_DATABASE_URL ?? ''

/** The text has begun and never ends. */
const SILENT = 'sandbox:silence Hello'

describe.skipIf(server === '')('calls that run at one of two replicas and are stopped at the other', () => {
  let replicas: KeptReplicas
  let owner: { readonly id: string; readonly token: string; readonly key: string; readonly otherKey: string }
  let stranger: { readonly token: string; readonly key: string }

  beforeAll(async () => {
    replicas = await startKeptReplicas(server, [{}, {}])
    const { api, token } = replicas
    const join = async (name: string) => {
      const { id, password } = await api.createUser(token, name, { role: 'premium' })
      const keyWith = async (...permissions: string[]) =>
        (await api.createKey(token, { owner_id: id, permissions })).full_key
      const [key, otherKey] = [await keyWith('chat', 'upload'), await keyWith('chat')]
      return { id, key, otherKey, token: await api.login(name, password) }
    }
    owner = await join('owner')
    stranger = await join('stranger')
  })
  afterAll(() => replicas?.remove())

  const urlOf = (index: number) => replicas.gateways[index]?.url ?? ''

  /** The ids of the owner's running calls, once there are so many. */
  const runningCalls = (count: number) =>
    until(`${count} calls run`, async () => {
      const rows = await query<{ id: string }>(
        replicas.databaseUrl,
        'SELECT id FROM calls WHERE owner_id = $1 AND outcome IS NULL ORDER BY id',
        [owner.id],
      )
      return rows.length === count && rows.map(({ id }) => id)
    })

  async function stop(callId: string, credential: string, index = 1) {
    const headers = { authorization: `Bearer ${credential}` }
    const response = await fetch(`${urlOf(index)}/api/v1/calls/${encodeURIComponent(callId)}/stop`, {
      method: 'POST',
      headers,
    })
    // biome-ignore lint/suspicious/noExplicitAny: an answer or an error
    return { status: response.status, body: (await response.json()) as any }
  }

  /** How calls have ended, once all have. */
  const endsOf = (callIds: readonly string[]) =>
    until('the calls are settled', async () => {
      const rows = await query<{ end: string | null }>(
        replicas.databaseUrl,
        "SELECT outcome || ' ' || reason AS end FROM calls WHERE id = ANY ($1)",
        [callIds],
      )
      return rows.every(({ end }) => end !== null) && rows.map(({ end }) => end)
    })

  const eventsOf = (callIds: readonly string[]) =>
    query<{ user_id: string; target_id: string; after: string }>(
      replicas.databaseUrl,
      "SELECT user_id, target_id, after FROM audit_events WHERE operation = 'calls.stop' AND target_id = ANY ($1)",
      [callIds],
    )

  test('end on every face, as JSON and as a stream, with their platform, and who stopped them is on record', async () => {
    const { seen } = replicas.sandbox.agents.openai
    const before = seen.runs.length
    const client = replicas.client(0, owner.key)
    const replies = KEPT_FACES.map((face) => client.ask(face, undefined, { query: SILENT }))
    const streams = KEPT_FACES.map(async (face) => {
      const response = await client.ask(face, undefined, { query: SILENT, stream: true })
      const reader = readerOf(response)
      await reader.until(/Hello/)
      return reader
    })
    const ask = (kind: string, fields: string, headers = {}) =>
      sendGraphql({ url: urlOf(0) }, `${kind} ($input: ChatInput!) { chat(input: $input) { ${fields} } }`, {
        as: owner.key,
        headers,
        variables: { input: { agentId: 'openai', query: SILENT } },
      })
    const mutation = ask('mutation', 'text')
    const subscription = ask('subscription', '__typename', EVENT_STREAM)
    const readers = await Promise.all(streams)
    const ids = await runningCalls(8)
    await seen.waitFor(({ runs }) => runs.length === before + 8)

    for (const id of ids) {
      const { status, body } = await stop(id, replicas.token)
      expect([status, body.data]).toEqual([200, { call_id: id, outcome: null }])
    }
    for (const pending of replies) {
      const refused = await pending
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false'])
      expect(reasonOf(await refused.text())).toBe('stopped')
    }
    for (const reader of readers) {
      const stream = await reader.rest()
      expect(failureOf(stream)).toBe('stopped')
      expect(stream).not.toContain('[DONE]')
    }
    const error = [{ path: ['chat'], extensions: { code: 'stopped', status: 409 } }]
    expect(await (await mutation).json()).toMatchObject({ errors: error })
    expect(resultsOf(await (await subscription).text()).results.at(-1)).toMatchObject({ errors: error })
    await seen.waitFor(({ runs }) => runs.slice(before).every(({ state }) => state === 'aborted'))

    expect(await endsOf(ids)).toEqual(ids.map(() => 'rejected stopped'))
    expect((await stop(ids[0] ?? '', replicas.token)).body.data.outcome).toBe('rejected')
    const events = await eventsOf(ids)
    expect(events.map(({ target_id }) => target_id).sort()).toEqual(ids)
    expect(JSON.parse(events[0]?.after ?? '')).toMatchObject({ owner_id: owner.id })
  })

  test('are stopped by the token and by another key of their owner, over GraphQL too, and by nobody else', async () => {
    const client = replicas.client(0, owner.key)
    const replies = [1, 2, 3].map(() => client.ask('chat', undefined, { query: SILENT }))
    const ids = await runningCalls(3)
    const [byToken = '', byKey = '', byGraphql = ''] = ids
    for (const credential of [stranger.token, stranger.key]) {
      const { status, body } = await stop(byToken, credential)
      expect([status, body.reason]).toEqual([404, 'call_not_found'])
    }
    expect(await runningCalls(3)).toEqual(ids)
    expect((await stop(byToken, owner.token)).status).toBe(200)
    expect((await stop(byKey, owner.otherKey)).status).toBe(200)
    const document = 'mutation ($id: ID!) { stopCall(input: { callId: $id }) { callId outcome } }'
    const variables = { id: byGraphql }
    const answer = await sendGraphql({ url: urlOf(1) }, document, { as: owner.token, variables })
    expect(await answer.json()).toEqual({ data: { stopCall: { callId: byGraphql, outcome: null } } })
    for (const pending of replies) expect((await pending).status).toBe(409)
    expect(await endsOf(ids)).toEqual(ids.map(() => 'rejected stopped'))
  })

  test('may be uploads, of which nothing is kept', async () => {
    const upload = openUpload(urlOf(0), owner.key)
    await upload.write(formUpToFile())
    await upload.write('a text that goes on')
    const [id = ''] = await runningCalls(1)
    expect((await stop(id, owner.token)).status).toBe(200)
    const { status, body } = await upload.answer
    expect([status, body.reason]).toEqual([409, 'stopped'])
    expect(await endsOf([id])).toEqual(['rejected stopped'])
    const rows = await query(replicas.databaseUrl, 'SELECT 1 FROM uploads WHERE owner_id = $1', [owner.id])
    expect(rows).toEqual([])
  })

  test('keep their Idempotency-Key if they have one, and are on record if another credential stopped them', async () => {
    const client = replicas.client(0, owner.key)
    const question = { query: SILENT, stream: true }
    const reader = readerOf(await client.ask('chat', 'stopped-by-owner', question))
    await reader.until(/Hello/)
    const [id = ''] = await runningCalls(1)
    expect((await stop(id, owner.token)).body.data).toEqual({ call_id: id, outcome: null })
    expect(failureOf(await reader.rest())).toBe('stopped')
    expect(await endsOf([id])).toEqual(['client_gone stopped'])
    const again = await client.ask('chat', 'stopped-by-owner', question)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(failureOf(await again.text())).toBe('stopped')
    expect(await eventsOf([id])).toMatchObject([{ user_id: owner.id }])

    const own = readerOf(await client.ask('chat', 'stopped-by-its-key', question))
    await own.until(/Hello/)
    const [ofKey = ''] = await runningCalls(1)
    expect((await stop('key:stopped-by-its-key', owner.otherKey)).status).toBe(404)
    expect((await stop('key:stopped-by-its-key', owner.token)).body.reason).toBe('api_key_required')
    expect((await stop('key:stopped-by-its-key', owner.key)).body.data.call_id).toBe(ofKey)
    expect(failureOf(await own.rest())).toBe('stopped')
    expect(await eventsOf([ofKey])).toEqual([])
  })
})
