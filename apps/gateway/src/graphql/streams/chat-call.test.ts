import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { ANSWERING_AGENT } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

let face: Face
/** Where the clock of the gateway stands still, if it does. */
let stoppedMs: number | undefined

beforeAll(async () => {
  face = await openFace({ runtime: { elapsedMs: () => stoppedMs ?? performance.now() } })
})
afterAll(() => face?.close())
afterEach(() => {
  stoppedMs = undefined
  vi.restoreAllMocks()
})

const CHAT = `chat(input: { agentId: "${ANSWERING_AGENT}", query: "Hello" })`

/** The items of a chat, read to its end. */
async function follow(selection: string): Promise<Any[]> {
  const { credential } = face.callers['chat key']
  const response = await face.app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { authorization: `Bearer ${credential}`, accept: 'text/event-stream' },
    payload: { query: `subscription { ${CHAT} { __typename ${selection} } }` },
  })
  return [...response.body.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data).data.chat)
}

test('the call of a reply has its end when the reply arrives', async () => {
  const { data, errors } = await face.query(
    'chat key',
    `mutation { ${CHAT} { callId text call { id outcome endedAt durationMs agentId key { name } } } }`,
  )
  expect(errors).toBeUndefined()
  expect(data.chat.call).toEqual({
    id: data.chat.callId,
    outcome: 'DONE',
    endedAt: expect.any(String),
    durationMs: expect.any(Number),
    agentId: ANSWERING_AGENT,
    key: { name: 'a key' },
  })
})

test('the first item of a chat has its call, which still runs', async () => {
  const [started, ...rest] = await follow('... on ChatStarted { callId call { id outcome endedAt } }')
  expect(started).toEqual({
    __typename: 'ChatStarted',
    callId: expect.any(String),
    call: { id: started.callId, outcome: null, endedAt: null },
  })
  expect(rest.at(-1)).toEqual({ __typename: 'ChatFinished' })
})

test('what a chat costs without its call is not more than before: no read of the ledger, no look-up of the key', async () => {
  // The limits of a key are read with its first chat and then once a second.
  stoppedMs = performance.now()
  await face.query('chat key', `mutation { ${CHAT} { text } }`)
  const texts = await face.statements(async () => {
    await face.query('chat key', `mutation { ${CHAT} { callId text } }`)
    await follow('... on ChatStarted { callId }')
  })
  expect(texts.filter((text) => /^SELECT[\s\S]*(?:"calls"|api_keys)/.test(text))).toEqual([])
})

test('a call that cannot be read leaves the reply whole', async () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  vi.spyOn(face.gateway.services.chatCalls, 'findSettled').mockRejectedValue(refused)
  const { data, errors } = await face.query('chat key', `mutation { ${CHAT} { text call { id } } }`)
  expect(data.chat).toEqual({ text: expect.stringMatching(/./), call: null })
  expect(errors).toMatchObject([{ path: ['chat', 'call'], extensions: { code: 'unavailable' } }])
})
