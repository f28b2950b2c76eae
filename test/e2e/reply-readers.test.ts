import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { EVENT_STREAM, sendGraphql } from '../support/graphql.ts'
import { type KeptClient, keptClient, reasonOf } from '../support/kept-calls.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because readers are sockets of clients that never read.

const PER_CALL = 3
const PER_OWNER = 5
/** Never ends by itself after its first fragment. */
const SILENT = 'sandbox:silence Hello'
const CHAT = 'subscription ($input: ChatInput!) { chat(input: $input) { ... on ChatStarted { callId } } }'
const RESUMED = 'subscription ($callId: ID!) { chatResumed(callId: $callId) { __typename } }'

let system: GatewayWithSandbox
let client: KeptClient
let sockets: Socket[] = []
let calls: string[] = []

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    settings: { replies: { readersPerCallMax: PER_CALL, readersPerOwnerMax: PER_OWNER } },
  })
  client = clientOf(system.key)
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const callId of calls) await client.stop(callId)
  sockets = []
  calls = []
})
afterAll(() => system?.remove())

const clientOf = (apiKey: string) => keptClient({ url: system.gateway.url, apiKey })

/** Asks under a key. The call runs until it is stopped. */
const ask = (key: string) => client.ask('chat', key, { query: SILENT, stream: true })

/** Begins a call, and returns its id. */
async function begin(key: string = randomUUID()): Promise<string> {
  const response = await ask(key)
  await readerOf(response).until(/^id: 1$/m)
  const callId = response.headers.get('x-call-id') ?? ''
  calls.push(callId)
  return callId
}

/** Resumes the stream of a call on a socket of its own, from which no more than the status is read. */
async function resume(callId: string): Promise<{ socket: Socket; status: number }> {
  const { hostname, port } = new URL(system.gateway.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.write(
    `GET /api/v1/calls/${callId}/stream HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${system.key}\r\n\r\n`,
  )
  const [head] = await once(socket, 'data')
  socket.pause()
  return { socket, status: Number(/^HTTP\/1\.1 (\d+)/.exec(String(head))?.[1]) }
}

const statusesOf = (readers: readonly { status: number }[]) => readers.map(({ status }) => status).sort()

/** Refusals by their limit, as the metrics count them. */
async function refusedBy(limit: string): Promise<number> {
  const { body } = await system.api.call('GET', '/metrics')
  const line = new RegExp(
    `^trunkline_refusals_total\\{reason="rate_limited",limit="${limit}"\\} (\\d+)$`,
    'm',
  )
  return Number(line.exec(body)?.[1] ?? 0)
}

test('one reply has a bounded number of readers, however they ask, until one of them leaves', async () => {
  const callId = await begin('one reply')
  const before = await refusedBy('readers_of_call')
  const readers = await Promise.all(Array.from({ length: PER_CALL + 4 }, () => resume(callId)))
  expect(statusesOf(readers)).toEqual([200, 200, 200, 429, 429, 429, 429])
  for (const refused of [await client.resume(callId), await ask('one reply')]) {
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(reasonOf(await refused.text())).toBe('rate_limited')
  }
  await until('each is counted', async () => (await refusedBy('readers_of_call')) === before + 6)

  readers.find(({ status }) => status === 200)?.socket.destroy()
  await until('its place is free', async () => {
    const { status } = await resume(callId)
    return status === 200
  })
})

test('the same holds for a chat of GraphQL', async () => {
  const send = (document: string, variables: object) =>
    sendGraphql(system.gateway, document, { variables, as: system.key, headers: EVENT_STREAM })
  const input = { agentId: 'openai', query: SILENT, idempotencyKey: randomUUID() }
  const first = readerOf(await send(CHAT, { input }))
  const callId = /"callId":"([^"]+)"/.exec(await first.until(/"callId":"[^"]+"/))?.[1] ?? ''
  calls.push(callId)
  for (let reader = 0; reader < PER_CALL; reader += 1) {
    await readerOf(await send(RESUMED, { callId })).until(/"__typename":"ChatStarted"/)
  }
  expect(await (await send(RESUMED, { callId })).text()).toContain('"code":"rate_limited"')
})

test('the readers of one owner are bounded over all its replies, and those of another are not refused', async () => {
  const [one, two] = [await begin(), await begin()]
  const before = await refusedBy('readers_of_owner')
  const readers = [
    ...(await Promise.all(Array.from({ length: PER_CALL }, () => resume(one)))),
    ...(await Promise.all(Array.from({ length: PER_CALL }, () => resume(two)))),
  ]
  expect(statusesOf(readers)).toEqual([200, 200, 200, 200, 200, 429])
  await until('it is counted', async () => (await refusedBy('readers_of_owner')) === before + 1)

  const { id } = await system.api.createUser(system.token, 'neighbour', { role: 'premium' })
  const key = await system.api.createKey(system.token, { owner_id: id })
  const neighbour = clientOf(key.full_key)
  const asked = { query: 'Hello', stream: true }
  const first = await neighbour.ask('chat', 'neighbours', asked)
  await first.text()
  const resumed = await neighbour.resume(first.headers.get('x-call-id') ?? '')
  expect(resumed.status).toBe(200)
  expect(await resumed.text()).toContain('[DONE]')
})
