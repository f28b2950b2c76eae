import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, framesOf, get, normalise, post, readJson, textOf } from '../ask.test-support.ts'
import { CONTENT, lineOf, startFileServer, upload } from '../files.test-support.ts'
import { type Sandbox, type SandboxAgent, startSandbox } from '../index.ts'
import { asRecord, asText } from '../serving/narrow.ts'

let sandbox: Sandbox
let agent: SandboxAgent
let studio: { key: string }
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
  agent = sandbox.agents.coze
  studio = { key: agent.keys.studio ?? '' }
})
afterAll(() => sandbox.close())

const frame = (event: string, data: string) => `event:${event}\ndata:${data}\n\n`

test('a stream has the events of Coze’s cloud, byte for byte', async () => {
  const bytes = await (await ask.coze(agent, 'sandbox:echo 2\n⭐')).text()
  const ids = '"conversation_id":"SNOWFLAKE","bot_id":"SNOWFLAKE"'
  const chat = (status: string, rest = '', usage = '{"token_count":0,"output_count":0,"input_count":0}') =>
    frame(
      `conversation.chat.${status}`,
      `{"id":"SNOWFLAKE",${ids},"created_at":TIME,${rest}"last_error":{"code":0,"msg":""},"status":"${status}","usage":${usage},"section_id":"SNOWFLAKE"}`,
    )
  const message = (event: string, content: string, type = 'answer') =>
    frame(
      `conversation.message.${event}`,
      `{"id":"SNOWFLAKE",${ids},"role":"assistant","type":"${type}","content":${JSON.stringify(content)},"content_type":"text","chat_id":"SNOWFLAKE","section_id":"SNOWFLAKE"}`,
    )
  expect(normalise(bytes).replace('7433357037570146342', 'SNOWFLAKE')).toBe(
    [
      chat('created'),
      chat('in_progress'),
      message('delta', '2'),
      message('delta', '\n'),
      message('delta', '⭐'),
      message('completed', '2\n⭐'),
      message(
        'completed',
        '{"msg_type":"generate_answer_finish","data":"{\\"finish_reason\\":0,\\"FinData\\":\\"\\"}","from_module":null,"from_unit":null}',
        'verbose',
      ),
      message('completed', '还有别的吗？', 'follow_up'),
      chat('completed', '"completed_at":TIME,', '{"token_count":11,"output_count":3,"input_count":8}'),
      frame('done', '"[DONE]"'),
    ].join(''),
  )
})

test('a stream of coze-studio has Go’s escapes, no last_error and an end without data', async () => {
  const bytes = await (await ask.coze(agent, 'sandbox:echo <b>&\u2028', studio)).text()
  expect(bytes).toContain('"content":"\\u003cb\\u003e\\u0026\\u2028"')
  expect(bytes).not.toContain('last_error')
  expect(bytes).toContain('"completed_at":0,"failed_at":0,"status":"created"')
  expect(bytes.endsWith('event:conversation.stream.done\ndata:\n\n')).toBe(true)
})

test('a chat of Coze without stream is created at once, polled and listed', async () => {
  const created = await readJson(await ask.coze(agent, 'sandbox:echo 你好', { stream: false }))
  const { id, conversation_id, status } = asRecord(created.data)
  expect([created.code, status]).toEqual([0, 'in_progress'])
  const run = await agent.seen.waitFor(({ runs }) =>
    runs.find((each) => each.id === id && each.state === 'finished'),
  )
  expect(run.conversationId).toBe(conversation_id)
  const query = `?chat_id=${id}&conversation_id=${conversation_id}`
  const { data } = await readJson(await get(agent, `/v3/chat/retrieve${query}`))
  expect(data).toMatchObject({ status: 'completed', usage: { output_count: 1 } })
  const list = await readJson(await get(agent, `/v3/chat/message/list${query}`))
  expect(list.data).toMatchObject([{ type: 'answer', content: '你好', chat_id: id }])
})

test('a conversation keeps its context and belongs to one user', async () => {
  const first = await (await ask.coze(agent, 'My name is Ada')).text()
  const conversation_id = asText(JSON.parse(framesOf(first)[0]?.data ?? '{}').conversation_id)
  const again = await ask.coze(agent, 'What is my name?', { body: { conversation_id } })
  expect(textOf('coze', await again.text())).toContain('Your name is Ada')
  const foreign = await ask.coze(agent, 'x', { body: { conversation_id, user_id: 'bob' } })
  expect(await foreign.json()).toMatchObject({ code: 4002 })
})

test('an unknown conversation is rejected by the cloud and silently replaced by coze-studio', async () => {
  const body = { conversation_id: '7380000000000000000' }
  expect(await (await ask.coze(agent, 'x', { body })).json()).toMatchObject({ code: 4002 })
  const bytes = await (await ask.coze(agent, 'x', { ...studio, body })).text()
  expect(JSON.parse(framesOf(bytes)[0]?.data ?? '{}').conversation_id).toMatch(
    /^(?!7380000000000000000)738\d{16}$/,
  )
})

test('a conversation can be created before its first chat', async () => {
  const made = await readJson(await post(agent, '/v1/conversation/create', { meta_data: { a: 'b' } }))
  expect(made.data).toMatchObject({ meta_data: { a: 'b' } })
  const conversation_id = asText(asRecord(made.data).id)
  expect(
    (await readJson(await get(agent, `/v1/conversation/retrieve?conversation_id=${conversation_id}`))).code,
  ).toBe(0)
  const bytes = await (await ask.coze(agent, 'sandbox:echo x', { body: { conversation_id } })).text()
  expect(bytes).toContain(`"conversation_id":"${conversation_id}"`)
})

const message = (...items: readonly object[]) => ({
  body: {
    additional_messages: [
      { role: 'user', type: 'question', content_type: 'object_string', content: JSON.stringify(items) },
    ],
  },
})
const text = (text: string) => ({ type: 'text', text })

async function uploadedId(file: File, key = agent.apiKey): Promise<string> {
  const { data } = await readJson(await upload(agent, '/v1/files/upload', file, { key }))
  return asText(asRecord(data).id)
}

test('files are sent with the text in an object string, by URL or by upload', async () => {
  await using files = await startFileServer()
  const file = new File([CONTENT], '笔记.txt')
  const uploaded = await upload(agent, '/v1/files/upload', file)
  const { data } = await readJson(uploaded)
  expect(data).toEqual({
    id: expect.stringMatching(/^738\d{16}$/),
    bytes: CONTENT.length,
    created_at: expect.any(Number),
    file_name: '笔记.txt',
  })
  const items = [
    text('Look'),
    { type: 'image', file_url: `${files.origin}/y.png` },
    { type: 'file', file_id: asRecord(data).id },
    { type: 'audio', file_url: `${files.origin}/missing` },
  ]
  const bytes = await (await ask.coze(agent, '', message(...items))).text()
  expect(textOf('coze', bytes)).toContain('You asked: “Look”')
  expect(textOf('coze', bytes)).toContain(
    [lineOf('y.png'), lineOf('笔记.txt'), `- ${files.origin}/missing (not readable: status 404)`].join('\n'),
  )
  expect(agent.seen.requests.find(({ path }) => path === '/v1/files/upload')?.body.file).toMatchObject({
    filename: '笔记.txt',
    size: CONTENT.length,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  // A text alone must be sent as plain text.
  expect(await (await ask.coze(agent, '', message(text('Look')))).json()).toMatchObject({ code: 4000 })
})

test('the id of an upload is known to its own account only', async () => {
  const item = { type: 'file', file_id: await uploadedId(new File(['a'], 'a.csv')) }
  const foreign = await ask.coze(agent, '', { ...message(text('Look'), item), ...studio })
  expect([foreign.status, await foreign.json()]).toMatchObject([400, { code: 400 }])
  for (const file_id of ['7380000000000000000', '', undefined]) {
    const unknown = await ask.coze(agent, '', message(text('Look'), { type: 'file', file_id }))
    expect(await unknown.json()).toMatchObject({ code: 4000, msg: expect.stringContaining('file_id') })
  }
  expect(await (await ask.coze(agent, '', message(text('Look'), item))).text()).toContain('a.csv')
})

test('forget-files forgets every upload before it looks up the query’s own', async () => {
  const item = { type: 'file', file_id: await uploadedId(new File(['a'], 'a.csv')) }
  const refused = await ask.coze(agent, '', message(text('sandbox:forget-files'), item))
  expect(await refused.json()).toMatchObject({ code: 4000 })
  expect(await (await ask.coze(agent, '', message(text('Again'), item))).json()).toMatchObject({ code: 4000 })
  const renewed = { type: 'file', file_id: await uploadedId(new File(['a'], 'a.csv')) }
  expect(await (await ask.coze(agent, '', message(text('Again'), renewed))).text()).toContain('a.csv')
})

test('an upload without a file, or of an empty one, is rejected', async () => {
  const send = async (key: string, file: File) =>
    (await readJson(await upload(agent, '/v1/files/upload', file, { key }))).code
  expect(await send(agent.apiKey, new File([], 'a.csv'))).toBe(4300)
  expect(await send(studio.key, new File([], 'a.csv'))).toBe(400)
  expect(await send('pat_wrong', new File(['a'], 'a.csv'))).toBe(4100)
  expect((await readJson(await post(agent, '/v1/files/upload', {}))).code).toBe(4300)
})

test('a bot with any non-decimal name answers, so that a first try works', async () => {
  const bytes = await (await ask.coze(agent, 'Hello', { body: { bot_id: 'demo' } })).text()
  expect(textOf('coze', bytes)).toContain('You asked: “Hello”')
})

test.each([
  [{ key: 'pat_wrong' }, 4100],
  [{ body: { bot_id: '' } }, 4000],
  [{ body: { user_id: '' } }, 4000],
  [{ body: { additional_messages: [] } }, 4000],
  [{ body: { bot_id: '1' } }, 4200],
  [{ body: { bot_id: '7379462189365198899' } }, 4015],
])('a question of Coze with %j is rejected with code %d, status 200 and a log id', async (question, code) => {
  const refused = await ask.coze(agent, 'x', question)
  expect(refused.status).toBe(200)
  const body = await readJson(refused)
  expect(body.code).toBe(code)
  expect(asRecord(body.detail).logid).toBe(refused.headers.get('x-tt-logid'))
})

test.each([
  ['credentials', 4100, 700012006],
  ['quota', 4019, 500],
  ['rate-limit', 4020, 500],
  ['busy', 4016, 500],
  ['not-found', 4002, 103000002],
  ['app-not-found', 4200, 103100002],
  ['rejected', 4000, 400],
  ['filtered', 4105, 500],
  ['misconfigured', 4015, 103000001],
  ['server', 5000, 500],
])('error=%s has the code %d of Coze’s cloud, and %d of coze-studio', async (kind, cloudCode, studioCode) => {
  expect((await readJson(await ask.coze(agent, `sandbox:error=${kind}`))).code).toBe(cloudCode)
  const refused = await ask.coze(agent, `sandbox:error=${kind}`, studio)
  expect((await readJson(refused)).code).toBe(studioCode)
  expect(refused.status).toBe(studioCode < 1_000 ? studioCode : 200)
})

test('a failed run is reported in its chat, or by coze-studio in a final error event', async () => {
  const cloud = framesOf(await (await ask.coze(agent, 'sandbox:error-midstream')).text())
  expect(cloud.slice(-2).map(({ event }) => event)).toEqual(['conversation.chat.failed', 'done'])
  expect(cloud.at(-2)?.data).toContain(
    '"last_error":{"code":5000,"msg":"event interval error"},"status":"failed"',
  )
  const last = framesOf(await (await ask.coze(agent, 'sandbox:error-midstream', studio)).text()).at(-1)
  expect([last?.event, last?.data.includes('"code":103100001')]).toEqual(['error', true])
})

test('multi divides the text between two answers of Coze', async () => {
  const frames = framesOf(await (await ask.coze(agent, 'sandbox:multi sandbox:echo a b c d')).text())
  const answers = frames
    .filter(
      ({ event, data }) => event === 'conversation.message.completed' && data.includes('"type":"answer"'),
    )
    .map(({ data }) => JSON.parse(data))
  expect(answers.map(({ content }) => content)).toEqual(['a b', ' c d'])
  expect(new Set(answers.map(({ id }) => id)).size).toBe(2)
})

test('requires-action ends the run of Coze with the requested tool', async () => {
  const frames = framesOf(await (await ask.coze(agent, 'sandbox:requires-action')).text())
  expect(frames.at(-2)?.event).toBe('conversation.chat.requires_action')
  expect(frames.at(-2)?.data).toContain('"function":{"name":"get_order"')
})

test('a conversation runs one chat at a time; cancelling changes its state and leaves the stream open', async () => {
  const { data } = await readJson(await post(agent, '/v1/conversation/create', {}))
  const conversation_id = asText(asRecord(data).id)
  const response = await ask.coze(agent, 'sandbox:slow=25 sandbox:long=20', { body: { conversation_id } })
  const run = await agent.seen.waitFor(({ runs }) =>
    runs.find((each) => each.conversationId === conversation_id),
  )
  expect(await (await ask.coze(agent, 'x', { body: { conversation_id } })).json()).toMatchObject({
    code: 4016,
  })

  const cancel = () => post(agent, '/v3/chat/cancel', { conversation_id, chat_id: run.id })
  expect((await readJson(await cancel())).data).toMatchObject({
    id: run.id,
    status: 'canceled',
    last_error: null,
  })
  expect(run.state).toBe('stopped')
  expect(await (await cancel()).json()).toMatchObject({ code: 4104 })
  const frames = framesOf(await response.text())
  expect(frames.filter(({ event }) => event === 'conversation.message.delta')).toHaveLength(20)
  expect(frames.at(-2)?.event).toBe('conversation.chat.canceled')
  expect(agent.seen.stops.map(({ runId }) => runId)).toEqual([run.id, undefined])
})

test('the probes of Coze tell the token’s user and the bot', async () => {
  expect((await readJson(await get(agent, '/v1/users/me'))).code).toBe(0)
  expect((await readJson(await get(agent, '/v1/users/me', 'pat_wrong'))).code).toBe(4100)
  expect((await readJson(await get(agent, `/v1/bots/${agent.appId}`))).code).toBe(0)
  expect((await readJson(await get(agent, '/v1/bot/get_online_info?bot_id=1'))).code).toBe(4200)
})
