import { expect, test } from 'vitest'
import type { UpstreamRequest } from '#core/agents/adapter.ts'
import { detailsIn } from '#core/agents/chat-events.test-support.ts'
import { pauseEvent } from '#core/agents/pause.test-support.ts'
import { agentFor, bodyOf, callOf, textSent, transcriptNamed } from '#core/agents/transcripts.test-support.ts'
import { agentFile } from '#core/agents/translate/agent-file.ts'
import { hiagent } from './adapter.ts'

const agent = agentFor(hiagent)
const noHeader = () => undefined
const CALL = { AppKey: 'key-of-agent', UserID: '0123456789abcdefghij' }

function bodySent(request: Pick<UpstreamRequest, 'body'>) {
  return JSON.parse(textSent(request))
}

function replyTo(frames: readonly object[]) {
  const state = hiagent.start(callOf(agent))
  return frames.flatMap((frame) => hiagent.translate({ event: 'text', data: JSON.stringify(frame) }, state))
}

test.each(['', '/', '/api/proxy/api/v1', '/api/proxy/api/v1/'])('the base URL may end with %j', (suffix) => {
  const { url } = hiagent.buildRequest(callOf(agentFor(hiagent, { baseUrl: `https://h.example${suffix}` })))
  expect(url).toBe('https://h.example/api/proxy/api/v1/chat_query_v2')
})

test('a message is sent in its conversation, as a stream, with the key in the apikey header', () => {
  const files = ['https://x.example/a.pdf']
  const request = hiagent.buildRequest(
    callOf(agent, { platformConversationId: 'c1', files: files.map(agentFile), stream: false }),
  )
  expect(request.headers).toEqual({ 'content-type': 'application/json', apikey: 'key-of-agent' })
  expect(bodySent(request)).toEqual({
    ...CALL,
    AppConversationID: 'c1',
    Query: 'hello',
    ResponseMode: 'streaming',
    QueryExtends: { Files: [{ Name: 'a.pdf', Path: '', Size: 0, Url: files[0] }] },
  })
})

test('creates a conversation and reads its id', () => {
  const create = hiagent.createConversation?.(callOf(agent, { variables: { city: '杭州', n: 1 } }))
  expect(create?.request.url).toBe('https://platform.example/api/proxy/api/v1/create_conversation')
  expect(bodySent(create?.request ?? {})).toEqual({ ...CALL, Inputs: { city: '杭州', n: '1' } })
  const body = bodyOf(transcriptNamed('hiagent/conversation-create.txt'))
  const made = { ok: { platformConversationId: 'cq8s1v1ed4uc7f' } }
  expect(create?.read(200, body, noHeader)).toEqual(made)
  expect(create?.read(200, `${JSON.stringify(body)}null`, noHeader)).toEqual(made)
  expect(create?.read(200, bodyOf(transcriptNamed('hiagent/error.txt')), noHeader)).toMatchObject({
    failure: { reason: 'agent_credentials', platformCode: 'AuthFailed', platformLogId: '20250101' },
  })
})

test('reads events whose prefix is doubled', () => {
  const data = 'data: {"event":"message","answer":"a"}'
  expect(hiagent.translate({ event: undefined, data }, hiagent.start(callOf(agent)))).toEqual([
    { type: 'text', text: 'a' },
  ])
})

test("stores the ids that stop the run, but not the replies' conversation id, which is a different one", () => {
  const call = callOf(agent)
  const state = hiagent.start(call)
  expect(hiagent.stop?.(call, state)).toBeUndefined()
  hiagent.translate(
    { event: 'text', data: '{"event":"message_start","task_id":"t","id":"m","conversation_id":"d0c1"}' },
    state,
  )
  expect(state.platformConversationId).toBeUndefined()
  const stop = hiagent.stop?.(call, state)
  expect(stop?.request.url).toBe('https://platform.example/api/proxy/api/v1/stop_message')
  expect(bodySent(stop?.request ?? {})).toEqual({ ...CALL, TaskID: 't', MessageID: 'm' })
  expect(stop?.read(200, {}, noHeader)).toEqual({ ok: undefined })
})

test('each of several outputs is a paragraph', () => {
  const output = [
    { event: 'message_output_start' },
    { event: 'message', answer: 'a' },
    { event: 'message', answer: 'b' },
  ]
  const events = replyTo([...output, { event: 'message_output_end' }, ...output])
  expect(events.map((event) => (event.type === 'text' ? event.text : '')).join('')).toBe('ab\n\nab')
})

const detailsTo = (frames: readonly object[]) => detailsIn(replyTo(frames))

test('a tool call and its result share the position in the message as their id', () => {
  expect(
    detailsTo([
      { event: 'agent_thought', position: 1, thought: 'hm', tool: '' },
      { event: 'agent_thought', position: 2, tool: 'weather', tool_input: '{}' },
      { event: 'agent_thought_end', position: 2, observation: '21', latency: 0.8 },
    ]),
  ).toEqual([
    { type: 'thought', id: '1', data: { text: 'hm' } },
    { type: 'tool_call', id: '2', name: 'weather', data: { arguments: '{}' } },
    { type: 'tool_result', id: '2', data: { output: '21' }, elapsed_ms: 800 },
  ])
})

test('retrieval is reported as progress without its results', () => {
  expect(detailsTo([{ event: 'knowledge_retrieve_end', docs: { text: 'quote' }, latency: 0.1 }])).toEqual([
    { type: 'other', name: 'knowledge_retrieve_end', elapsed_ms: 100, data: {} },
  ])
})

test('unknown events and the costs of suggestions yield nothing', () => {
  expect(
    replyTo([{ event: 'new' }, { event: 'suggestion_cost', input_tokens: 1, output_tokens: 1 }, {}]),
  ).toEqual([])
})

test('an interruption asks its question and ends', () => {
  const events = replyTo([{ event: 'interrupted', interrupted_msg: 'Which city?', interrupted_type: 'ask' }])
  expect(events).toMatchObject([
    pauseEvent('Which city?'),
    { type: 'detail' },
    { type: 'end', reason: 'stop' },
  ])
  expect(detailsIn(events)).toEqual([
    { type: 'interaction', name: 'ask', data: { question: 'Which city?', options: [] } },
  ])
})

test.each([
  { event: 'message_failed', error: 'model key sk-1 refused' },
  { event: 'agent_error', error_msg: 'model key sk-1 refused' },
])('$event is a failure without a message', (frame) => {
  expect(replyTo([frame])).toEqual([
    { type: 'error', failure: { reason: 'agent_error', platformCode: frame.event } },
  ])
})

test('an error may come as an event', () => {
  expect(replyTo([{ ResponseMetadata: { Error: { Code: 'QuotaExceeded' } } }])).toMatchObject([
    { failure: { reason: 'agent_quota' } },
  ])
})

test('a blocking reply includes its thoughts', () => {
  const body = '{"answer":"a","think_messages":["hm"]}null'
  expect(hiagent.translateBody(body, hiagent.start(callOf(agent)))).toEqual([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'a' },
    { type: 'end', reason: 'stop' },
  ])
})

test.each([
  ['AuthFailed', 'api key invalid', 'agent_credentials'],
  ['FlowLimitExceeded', 'x', 'agent_rate_limited'],
  ['InsufficientBalance', 'x', 'agent_quota'],
  ['SensitiveContent', 'x', 'content_filtered'],
  ['NotFound', 'app conversation not found', 'conversation_not_found'],
  ['AppNotFound', 'x', 'app_not_found'],
  ['AppNotPublished', 'x', 'agent_misconfigured'],
  ['InvalidParameter', 'Query is too long', 'agent_rejected_input'],
  ['InternalError', 'x', 'agent_error'],
  ['100001', 'AppKey 无效，请检查', 'agent_credentials'],
  ['100002', '鉴权失败', 'agent_credentials'],
  ['100003', '账户余额不足，请充值', 'agent_quota'],
  ['100004', '模型调用额度已用完', 'agent_quota'],
  ['100005', '应用并发数超过限制', 'agent_rate_limited'],
  ['100006', '请求过于频繁，请稍后重试', 'agent_rate_limited'],
  ['100007', '当前模型服务繁忙', 'agent_rate_limited'],
  ['100008', '输入内容包含敏感信息', 'content_filtered'],
  ['100009', '会话不存在或已删除', 'conversation_not_found'],
  ['100010', '当前会话正在生成回答', 'conversation_busy'],
  ['100011', '应用不存在', 'app_not_found'],
  ['100012', '应用未发布', 'agent_misconfigured'],
  ['100013', '模型未开通', 'agent_misconfigured'],
  ['100014', '没有访问该应用的权限', 'agent_misconfigured'],
  ['100015', '参数错误：Query 不能为空', 'agent_rejected_input'],
  ['100016', '输入内容过长', 'agent_rejected_input'],
  ['100017', '系统内部错误', 'agent_error'],
])('the error %s (%s) is %s', (Code, Message, reason) => {
  expect(hiagent.toFailure(500, { ResponseMetadata: { Error: { Code, Message } } }, noHeader).reason).toBe(
    reason,
  )
})

test('the probe requests the app', () => {
  const probe = hiagent.probe(agent)
  expect(probe.request.url).toBe('https://platform.example/api/proxy/api/v1/get_app_config_preview')
  expect(probe.read(200, '{"Name":"x"}null', noHeader)).toEqual({ ok: 'available' })
  expect(probe.read(200, bodyOf(transcriptNamed('hiagent/error.txt')), noHeader)).toMatchObject({
    failure: { reason: 'agent_credentials' },
  })
})
