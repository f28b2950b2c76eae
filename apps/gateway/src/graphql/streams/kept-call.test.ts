import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { ANSWERING_AGENT } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

let face: Face
let keeping: Face['app']
let notKeeping: Face['app']

beforeAll(async () => {
  face = await openFace()
  keeping = face.app
  const replies = { ...face.config.replies, enabled: false }
  notKeeping = await createServer({ ...face.config, replies }, face.gateway, createLogger('silent'))
})
afterAll(async () => {
  await notKeeping?.close()
  await face?.close()
})

const ITEMS = `{ __typename ... on ChatStarted { callId sequence } ... on ChatText { text sequence } ... on ChatFinished { sequence } }`
const CHAT = `subscription ($input: ChatInput!) { chat(input: $input) ${ITEMS} }`
const REPLY =
  'mutation ($input: ChatInput!) { chat(input: $input) { callId createdAt text usage { totalTokens } } }'
const RESUMED = `subscription ($callId: ID!, $after: Int! = 0) { chatResumed(callId: $callId, after: $after) ${ITEMS} }`
const STOP = 'mutation ($input: StopCallInput!) { stopCall(input: $input) { callId outcome } }'

const inputOf = (idempotencyKey?: string) => ({
  input: { agentId: ANSWERING_AGENT, query: 'Hello', idempotencyKey },
})

interface Sent {
  readonly as?: 'chat key' | 'chat key of an admin' | 'premium'
  readonly app?: Face['app']
  readonly method?: 'GET'
}

function send(query: string, variables: object, { as = 'chat key', app = keeping, method }: Sent = {}) {
  const isStream = query.startsWith('subscription')
  const request: InjectOptions = {
    url: '/graphql',
    headers: {
      authorization: `Bearer ${face.callers[as].credential}`,
      accept: isStream ? 'text/event-stream' : 'application/json',
    },
  }
  return method === 'GET'
    ? app.inject({ ...request, method, query: { query, variables: JSON.stringify(variables) } })
    : app.inject({ ...request, method: 'POST', payload: { query, variables } })
}

/** The results of a subscription. */
async function follow(...request: Parameters<typeof send>): Promise<Any[]> {
  const { body } = await send(...request)
  return [...body.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
}

/** The code and the field of the only error. */
async function refusalOf(...request: Parameters<typeof send>): Promise<unknown[]> {
  const [query] = request
  const [result] = query.startsWith('subscription')
    ? await follow(...request)
    : [(await send(...request)).json()]
  expect(result.errors).toHaveLength(1)
  const { code, field } = result.errors[0].extensions
  return field === undefined ? [code] : [code, field]
}

test.each(['', 'x'.repeat(256), 'a\nb', 'clé'])('the key %j is refused by its name', async (key) => {
  for (const query of [CHAT, REPLY]) {
    expect(await refusalOf(query, inputOf(key))).toEqual(['invalid_request', 'input.idempotencyKey'])
  }
})

test('a gateway that keeps no replies refuses every key, and serves chats without one', async () => {
  for (const query of [CHAT, REPLY]) {
    const refusal = await refusalOf(query, inputOf('some key'), { app: notKeeping })
    expect(refusal).toEqual(['invalid_request', 'input.idempotencyKey'])
  }
  const { data } = (await send(REPLY, inputOf(), { app: notKeeping })).json()
  expect(data.chat.text).toBeTruthy()
})

test('the items of a chat without a key have no numbers', async () => {
  const items = (await follow(CHAT, inputOf())).map(({ data }) => data.chat)
  expect(items.length).toBeGreaterThan(2)
  for (const { sequence } of items) expect(sequence).toBeNull()
})

test('a repeated mutation has the first reply, and says so in a header', async () => {
  const [first, again] = [await send(REPLY, inputOf('mutation')), await send(REPLY, inputOf('mutation'))]
  expect(first.json().errors).toBeUndefined()
  expect(again.json()).toEqual(first.json())
  expect([first, again].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true'])
})

test('another selection of the same chat is no other chat, but another input is', async () => {
  const first = (await send(REPLY, inputOf('selection'))).json()
  const other =
    'mutation ($input: ChatInput!) { chat(input: $input) { callId model details { __typename } } }'
  const again = (await send(other, inputOf('selection'))).json()
  expect(again.data.chat.callId).toBe(first.data.chat.callId)
  expect(again.data.chat.details).toEqual([])
  const { input } = inputOf('selection')
  expect(await refusalOf(REPLY, { input: { ...input, query: 'Bye' } })).toEqual(['idempotency_mismatch'])
  expect(await refusalOf(CHAT, inputOf('selection'))).toEqual(['idempotency_mismatch'])
})

test('a chat is resumed by its id and by its key, with POST and with GET, by its own API key alone', async () => {
  const items = (await follow(CHAT, inputOf('resumed'))).map(({ data }) => data.chat)
  const { callId } = items[0]
  expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_item, index) => index + 1))
  const names = [callId, callId.toUpperCase(), 'key:resumed']
  for (const name of names) {
    for (const method of [undefined, 'GET'] as const) {
      const sent = method === undefined ? {} : { method }
      const resumed = await follow(RESUMED, { callId: name, after: 1 }, sent)
      expect(resumed.map(({ data }) => data.chatResumed)).toEqual(items.slice(1))
    }
    const as = 'chat key of an admin'
    expect(await refusalOf(RESUMED, { callId: name }, { as })).toEqual(['call_not_found'])
    expect(await refusalOf(STOP, { input: { callId: name } }, { as })).toEqual(['call_not_found'])
  }
  expect(await refusalOf(RESUMED, { callId }, { as: 'premium' })).toEqual(['api_key_required'])
  expect(await refusalOf(RESUMED, { callId: 'no id' })).toEqual(['call_not_found'])
})

test('only the number of an item is a place to resume from', async () => {
  const { length } = await follow(CHAT, inputOf('places'))
  const after = (number: number) => ({ callId: 'key:places', after: number })
  expect(await follow(RESUMED, after(length))).toEqual([])
  for (const number of [-1, length + 1]) {
    expect(await refusalOf(RESUMED, after(number))).toEqual(['invalid_request', 'after'])
  }
})

test('a call is resumed on the interface on which it was asked, and only if it was a stream', async () => {
  const ofRest = await face.newKeptCall()
  expect(await refusalOf(RESUMED, { callId: ofRest })).toEqual(['invalid_request', 'callId'])
  await follow(CHAT, inputOf('faces'))
  expect((await face.get('chat key', '/api/v1/calls/key:faces/stream')).json()).toMatchObject({
    reason: 'invalid_request',
    fields: [{ field: 'path.call_id' }],
  })
  await send(REPLY, inputOf('whole'))
  expect(await refusalOf(RESUMED, { callId: 'key:whole' })).toEqual(['invalid_request', 'callId'])
})

test('the whole reply of a chat, also of a subscription, can be read over REST', async () => {
  const { data } = (await send(REPLY, inputOf('as a whole'))).json()
  await follow(CHAT, inputOf('as a stream'))
  for (const key of ['as a whole', 'as a stream']) {
    const reply = await face.get('chat key', `/api/v1/calls/key:${encodeURIComponent(key)}/reply`)
    expect(reply.json()).toMatchObject({ text: data.chat.text, finishReason: 'stop' })
  }
  expect((await face.get('chat key', '/api/v1/calls/key:as%20a%20whole/reply')).json()).toMatchObject({
    callId: data.chat.callId,
    createdAt: data.chat.createdAt,
  })
})

test('to stop a chat that has ended does no harm', async () => {
  const { data } = (await send(REPLY, inputOf('ended'))).json()
  const stopped = (await send(STOP, { input: { callId: 'key:ended' } })).json()
  expect(stopped.data.stopCall).toEqual({ callId: data.chat.callId, outcome: 'DONE' })
})

test('to resume a chat counts as one read, and as no chat', async () => {
  await send(REPLY, inputOf('limits'))
  await follow(CHAT, inputOf('limits of a stream'))
  const { headers } = await send(RESUMED, { callId: 'key:limits of a stream' })
  const { headers: later } = await send(RESUMED, { callId: 'key:limits of a stream' })
  const left = (header: unknown) => /^"reads";r=(\d+)/.exec(String(header))?.[1]
  expect(Number(left(headers.ratelimit)) - Number(left(later.ratelimit))).toBe(1)
})
