import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, hiagentConversation, normalise, post, readJson, textOf } from '../ask.test-support.ts'
import { lineOf, startFileServer } from '../files.test-support.ts'
import { type Sandbox, type SandboxAgent, startSandbox } from '../index.ts'
import { asRecord, asText } from '../serving/narrow.ts'

let sandbox: Sandbox
let agent: SandboxAgent
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
  agent = sandbox.agents.hiagent
})
afterAll(() => sandbox.close())

const errorOf = async (response: Response) => {
  const { ResponseMetadata } = await readJson(response)
  return [response.status, asRecord(asRecord(ResponseMetadata).Error).Code]
}

test('a stream of HiAgent sends thought, text, cost, suggestion and end, each named in its JSON', async () => {
  const bytes = await (await ask.hiagent(agent, 'sandbox:echo 你好\n🌏')).text()
  const frame = (event: string, rest = '') =>
    `event:text\ndata:{"event":"${event}","task_id":"HEX","id":"HEX","conversation_id":"inner-HEX"${rest}}\n\n`
  const answerFrame = (event: string, text: string) =>
    frame(event, `,"answer":${JSON.stringify(text)},"created_at":TIME`)
  expect(normalise(bytes)).toBe(
    [
      frame('message_start'),
      frame('think_message_output_start'),
      answerFrame('think_message', '先想一想，再回答。'),
      frame('think_message_output_end'),
      frame('message_output_start'),
      answerFrame('message', '你好'),
      answerFrame('message', '\n'),
      answerFrame('message', '🌏'),
      frame('message_output_end'),
      frame(
        'message_cost',
        ',"input_tokens":8,"output_tokens":3,"start_time_first_resp":TIME,"latency_first_resp":310,"latency":1.9',
      ),
      frame('suggestion', ',"suggested_questions":["还有吗？"]'),
      frame('message_end', ',"agent_configuration":{"retriever_resource":{"enabled":false}}'),
    ].join(''),
  )
})

test('a literal null follows a blocking body of HiAgent', async () => {
  const body = await (await ask.hiagent(agent, 'sandbox:echo 你好', { stream: false })).text()
  expect(normalise(body)).toBe(
    '{"event":"message","task_id":"HEX","id":"HEX","conversation_id":"inner-HEX","answer":"你好","created_at":TIME,"think_messages":null,"tool_messages":null}null',
  )
})

test('a conversation keeps its context and belongs to one user', async () => {
  const AppConversationID = await hiagentConversation(agent)
  await ask.hiagent(agent, 'My name is Ada', { body: { AppConversationID } })
  const again = await ask.hiagent(agent, 'What is my name?', { body: { AppConversationID } })
  expect(textOf('hiagent', await again.text())).toContain('Your name is Ada')
  const foreign = await ask.hiagent(agent, 'x', { body: { AppConversationID, UserID: 'bob' } })
  expect(await errorOf(foreign)).toEqual([200, 'ConversationNotFound'])
})

test('HiAgent lists files by their names', async () => {
  await using files = await startFileServer()
  const Files = [
    { Name: 'a.png', Path: '', Size: 1, Url: `${files.origin}/7f3a` },
    { Name: '', Path: '', Size: 1, Url: `${files.origin}/%E5%9B%BE.png` },
    { Name: 'b.png', Path: '', Size: 1, Url: `${files.origin}/missing` },
  ]
  const bytes = await (await ask.hiagent(agent, 'Look', { body: { QueryExtends: { Files } } })).text()
  expect(textOf('hiagent', bytes)).toContain(
    [lineOf('a.png'), lineOf('图.png'), `- b.png ${files.origin}/missing (not readable: status 404)`].join(
      '\n',
    ),
  )
})

test.each([
  ['a wrong header', { key: 'wrong' }, 'AuthFailed'],
  ['a wrong AppKey', { body: { AppKey: 'wrong' } }, 'AuthFailed'],
  ['an unknown conversation', { body: { AppConversationID: 'x' } }, 'ConversationNotFound'],
  ['no query', { body: { Query: '' } }, 'InvalidParameter'],
  ['a user of 21 characters', { body: { UserID: 'u'.repeat(21) } }, 'InvalidParameter'],
])('HiAgent rejects a question with %s', async (_, question, code) => {
  expect(await errorOf(await ask.hiagent(agent, 'x', question))).toEqual([200, code])
})

test.each([
  ['credentials', 'AuthFailed'],
  ['quota', 'QuotaExceeded'],
  ['rate-limit', 'TooManyRequests'],
  ['busy', 'ConversationBusy'],
  ['not-found', 'ConversationNotFound'],
  ['app-not-found', 'AppNotFound'],
  ['rejected', 'InvalidParameter'],
  ['filtered', 'SensitiveContent'],
  ['misconfigured', 'AppNotPublished'],
  ['server', 'InternalError'],
])('error=%s has the code %s of HiAgent', async (kind, code) => {
  expect(await errorOf(await ask.hiagent(agent, `sandbox:error=${kind}`))).toEqual([200, code])
})

test('stop_message ends a run with its usual last frames, but not another user’s', async () => {
  const response = await ask.hiagent(agent, 'sandbox:silence sandbox:echo a b')
  const run = agent.seen.runs.at(-1)
  const stop = (UserID: string) =>
    post(agent, '/stop_message', { AppKey: agent.apiKey, UserID, TaskID: run?.id })
  await stop('bob')
  expect(run?.state).toBe('running')
  await stop('ada')
  const bytes = await response.text()
  expect([textOf('hiagent', bytes), bytes.includes('"event":"message_end"')]).toEqual(['a', true])
  expect(agent.seen.stops.map(({ runId }) => runId)).toEqual([undefined, run?.id])
  expect(run?.state).toBe('stopped')
})

test('an interrupted run goes on with the next query, whatever it says', async () => {
  const body = { AppConversationID: await hiagentConversation(agent) }
  const say = async (query: string) => (await ask.hiagent(agent, query, { body })).text()
  const interrupted = (question: string) =>
    `event:text\ndata:{"event":"message_start","task_id":"HEX","id":"HEX","conversation_id":"inner-HEX"}\n\nevent:text\ndata:{"event":"interrupted","task_id":"HEX","id":"HEX","conversation_id":"inner-HEX","created_at":TIME,"interrupted_msg":"${question}","interrupted_type":"ask"}\n\nevent:text\ndata:{"event":"message_end","task_id":"HEX","id":"HEX","conversation_id":"inner-HEX"}\n\n`
  const query = 'sandbox:interactive=twice Book a room'
  expect(normalise(await say(query))).toBe(interrupted('请问要去哪个城市？ Which city?'))
  const run = agent.seen.runs.at(-1)
  expect(run?.state).toBe('paused')
  expect(normalise(await say('Hangzhou'))).toBe(interrupted('请问哪一天？ Which day?'))
  const rest = textOf('hiagent', await say('Friday'))
  expect(rest).toMatch(/^You answered “Friday”\.\n\n/)
  expect(rest).toContain(`it began with “${query}”`)
  expect(agent.seen.runs.at(-1)).toBe(run)
  expect(run).toMatchObject({ query, state: 'finished', answers: ['Hangzhou', 'Friday'] })
})

test('an interrupted run of HiAgent without a stream is a body with the question', async () => {
  const body = { AppConversationID: await hiagentConversation(agent) }
  const paused = await readJson(await ask.hiagent(agent, 'sandbox:interactive', { stream: false, body }))
  expect(paused).toMatchObject({ event: 'interrupted', answer: '', interrupted_type: 'ask' })
  const answered = await readJson(await ask.hiagent(agent, '杭州', { stream: false, body }))
  expect(answered.answer).toMatch(/^你回答了“杭州”。/)
})

test('the probe of HiAgent requires the key', async () => {
  const probe = (AppKey: string) => post(agent, '/get_app_config_preview', { AppKey, UserID: 'probe' })
  expect(asText((await readJson(await probe(agent.apiKey))).Name)).toBe('sandbox')
  expect(await errorOf(await probe('wrong'))).toEqual([200, 'AuthFailed'])
})
