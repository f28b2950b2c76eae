import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chatBody } from '../support/api.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { EVENT_STREAM, graphql, resultsOf, sendGraphql } from '../support/graphql.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform } from '../support/scripted-platform.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'
import { formUpToFile, openUpload } from '../support/upload-client.ts'

// A process, because the calls of every face are open on sockets at once, and all must end when their key does.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let system: GatewayWithSandbox
/** A Dify server whose replies never end, and which answers stop requests only when the test does. */
let platform: ScriptedPlatform
let conversations = 0
let stopRequests: ServerResponse[] = []

beforeAll(async () => {
  platform = await startScriptedPlatform((path, _body, response) => {
    if (path.endsWith('/stop')) {
      stopRequests.push(response)
      return
    }
    conversations += 1
    const ids = { task_id: `task-${conversations}`, conversation_id: `conversation-${conversations}` }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(sse({ event: 'message', answer: 'Hello', ...ids }))
  })
  system = await startGatewayWithSandbox({
    agents: () => ({ scripted: { platform: 'dify', baseUrl: platform.origin, apiKey: 'none' } }),
  })
})
afterAll(async () => {
  await system?.remove()
  await platform?.close()
})

interface Key {
  readonly id: string
  readonly ownerId: string
  readonly key: string
}

let users = 0
async function newKey(reason?: string): Promise<Key> {
  users += 1
  const owner = await system.api.createUser(system.token, `owner-${users}`, { role: 'premium' })
  const key = await system.api.createKey(system.token, {
    owner_id: owner.id,
    permissions: ['chat', 'upload'],
    expires_at: new Date(Date.now() + (reason === 'key_expired' ? LIFETIME_MS : 3_600_000)).toISOString(),
  })
  return { id: key.id, ownerId: owner.id, key: key.full_key }
}

const asAdmin = () => ({ token: system.token })
const revoke = ({ id }: Key) => system.api.call('POST', `/api/v1/api-keys/${id}/revoke`, asAdmin())
const become = ({ ownerId }: Key, status: string) =>
  system.api.call('PATCH', `/api/v1/users/${ownerId}`, { ...asAdmin(), body: { status } })

/** While a gateway has an embedded database, no other process can change it, so that a key expires there by itself. */
const LIFETIME_MS = 8_000
async function expire({ id }: Key): Promise<void> {
  const { gateway } = system
  if (gateway.databaseUrl === undefined) return
  await gateway.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [id])
}

/** The ends of all calls of a key, once every one is settled. */
async function endsOf({ id }: Key): Promise<string[]> {
  return await until('every call of the key is settled', async () => {
    const ends: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { body } = await system.api.call('GET', `/api/v1/calls?limit=100&key_id=${id}${more}`, asAdmin())
      for (const { outcome, reason } of body.data.items) {
        if (outcome === null) return false
        ends.push(`${outcome} ${reason}`)
      }
      cursor = body.data.next_cursor
    }
    return ends
  })
}

function post(path: string, { key }: Key, body: object, agent = 'openai'): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', agent }
  return fetch(system.gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** Sends a request whose answer is one body; resolves when that has arrived, which must be a refusal. */
async function refusalOf(response: Promise<Response>): Promise<unknown> {
  const { status, headers, ...answer } = await response.then(async (refused) => ({
    status: refused.status,
    headers: refused.headers,
    body: await refused.json(),
  }))
  expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')])
  return answer.body
}

/** Sends a request for a stream, and resolves with a function for its payloads when the text has begun. */
async function begin(
  path: string,
  key: Key,
  body: object,
  agent?: string,
): Promise<() => Promise<unknown[]>> {
  const reader = readerOf(await post(path, key, body, agent))
  await reader.until(/Hello|"1 /)
  return async () => {
    const stream = await reader.rest()
    expect(stream).not.toContain('[DONE]')
    expect(stream).not.toContain('"finish_reason":"stop"')
    return stream.match(/(?<=^data: ).*$/gm)?.map((data) => JSON.parse(data)) ?? []
  }
}

const SUBSCRIPTION = 'subscription ($input: ChatInput!) { chat(input: $input) { __typename } }'
/** The text has begun and never ends. */
const QUERY = 'sandbox:silence Hello'
const MODEL = 'openai'
const MESSAGES = [{ role: 'user', content: QUERY }]

describe.each<[reason: string, end: (key: Key) => unknown]>([
  ['key_revoked', revoke],
  ['owner_suspended', (key) => become(key, 'suspended')],
  ['key_expired', expire],
])('%s', (reason, end) => {
  test('ends the running calls of every face, with the reason, and stops their platform', async () => {
    const { seen } = system.sandbox.agents.openai
    const before = seen.runs.length
    const key = await newKey(reason)
    const stream = true

    const rest = refusalOf(post('/api/v1/chat', key, chatBody({ query: QUERY })))
    const openai = refusalOf(post('/api/v1/chat/completions', key, { model: MODEL, messages: MESSAGES }))
    const responses = refusalOf(post('/api/v1/responses', key, { model: MODEL, input: QUERY }))
    const mutation = graphql(
      system.gateway,
      'mutation ($input: ChatInput!) { chat(input: $input) { text } }',
      { as: key.key, variables: { input: { agentId: 'openai', query: QUERY } } },
    )
    const restStream = await begin('/api/v1/chat', key, chatBody({ query: QUERY, stream }))
    const openaiStream = await begin('/api/v1/chat/completions', key, {
      model: MODEL,
      messages: MESSAGES,
      stream,
    })
    const responsesStream = await begin('/api/v1/responses', key, { model: MODEL, input: QUERY, stream })
    const follow = (query: string) => {
      const variables = { input: { agentId: 'openai', query } }
      return sendGraphql(system.gateway, SUBSCRIPTION, { as: key.key, variables, headers: EVENT_STREAM })
    }
    const beforeText = await follow('sandbox:hang Hello')
    const unread = await follow(QUERY)
    await seen.waitFor(({ runs }) => runs.length === before + 9)
    await end(key)

    const openaiError = { error: { code: reason, type: 'authentication_error' } }
    expect(await rest).toMatchObject({ code: 401, reason })
    expect(await openai).toMatchObject(openaiError)
    expect(await responses).toMatchObject({ error: { code: reason } })
    const { errors } = await mutation
    const graphqlErrors = [{ path: ['chat'], extensions: { code: reason, status: 401 } }]
    expect(errors).toMatchObject(graphqlErrors)
    for (const response of [beforeText, unread]) {
      const { results } = resultsOf(await response.text())
      expect(results.at(-1)).toMatchObject({ data: { chat: null }, errors: graphqlErrors })
    }
    expect((await restStream()).at(-1)).toMatchObject(openaiError)
    expect((await openaiStream()).at(-1)).toMatchObject(openaiError)
    expect((await responsesStream()).slice(-2)).toMatchObject([
      { type: 'error' },
      { type: 'response.failed', response: { status: 'failed', error: expect.any(Object) } },
    ])
    await seen.waitFor(({ runs }) => runs.slice(before).every(({ state }) => state === 'aborted'))
    expect(await endsOf(key)).toEqual(Array.from({ length: 9 }, () => `rejected ${reason}`))
  })

  test('ends a running upload, with the reason, and leaves nothing of its file', async () => {
    const { gateway } = system
    const stored = (await gateway.storage.contents()).length
    const key = await newKey(reason)
    const upload = openUpload(gateway.url, key.key)
    await upload.write(formUpToFile('film.mp4'))
    await upload.write(HALF_A_FILM)
    await until('the file is in the storage', async () => {
      return (await gateway.storage.contents()).length === stored + 1
    })
    await end(key)
    const { status, headers, body } = await upload.answer
    expect([status, body.reason, headers.get('connection')]).toEqual([401, reason, 'close'])
    expect(await endsOf(key)).toEqual([`rejected ${reason}`])
    await until('the storage is as before', async () => {
      return (await gateway.storage.contents()).length === stored
    })
  })
})

/** More than one part of a multipart upload to S3, so that something has been stored when the upload ends. */
const HALF_A_FILM = Buffer.concat([
  readFileSync(join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures/ffmpeg.mp4')),
  randomBytes(5_500_000),
])

test('calls of other keys and of an owner who is active again go on', async () => {
  const [ending, key] = [await newKey(), await newKey()]
  const body = chatBody({ query: 'sandbox:slow=20 sandbox:long=100 Hello', stream: true })
  const reader = readerOf(await post('/api/v1/chat', key, body))
  await reader.until(/"content":"1 /)
  const ended = await begin('/api/v1/chat', ending, chatBody({ query: QUERY, stream: true }))
  await become(ending, 'suspended')
  expect((await ended()).at(-1)).toMatchObject({ error: { code: 'owner_suspended' } })
  await become(ending, 'active')
  const again = await post('/api/v1/chat', ending, chatBody({ query: 'Hello' }))
  expect(again.status).toBe(200)
  expect(await reader.rest()).toMatch(/data: \[DONE\]\n\n$/)
})

test('the streams of an owner end together, and their platform gets at most 100 stop requests at once', async () => {
  const STREAMS = 150
  const key = await newKey()
  stopRequests = []
  const body = chatBody({ app_id: '', chat_id: '', stream: true })
  const streams: (() => Promise<unknown[]>)[] = []
  // Not all at once, which a busy machine would refuse; they end at once.
  while (streams.length < STREAMS)
    streams.push(
      ...(await Promise.all(Array.from({ length: 10 }, () => begin('/api/v1/chat', key, body, 'scripted')))),
    )
  await become(key, 'suspended')
  for (const ended of streams) {
    expect((await ended()).at(-1)).toMatchObject({ error: { code: 'owner_suspended' } })
  }
  const ends = await endsOf(key)
  expect([ends.length, [...new Set(ends)]]).toEqual([STREAMS, ['rejected owner_suspended']])
  // The others wait, since none of these has been answered.
  await until('a hundred streams are being stopped', () => stopRequests.length >= 100)
  expect(stopRequests).toHaveLength(100)
  let answered = 0
  await until('every stream is stopped', () => {
    for (const response of stopRequests.slice(answered)) response.end('{"result":"success"}')
    answered = stopRequests.length
    return answered === STREAMS
  })
})
