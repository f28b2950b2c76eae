import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { detailsIn } from '#core/agents/chat-events.test-support.ts'
import { fileToUpload } from '#core/agents/file-to-upload.test-support.ts'
import {
  agentFor,
  bodyOf,
  callOf,
  read,
  textSent,
  transcriptNamed,
} from '#core/agents/transcripts.test-support.ts'
import { agentFile } from '#core/agents/translate/agent-file.ts'
import { coze } from './adapter.ts'

const noHeader = () => undefined
const CONVERSATION = '7381473525342978089'

type CozeAgent = Parameters<typeof coze.probe>[0]
type CozeCall = Parameters<typeof coze.start>[0]

function requestFor(overrides: Partial<CozeCall> = {}, agent: Partial<CozeAgent> = {}) {
  const request = coze.buildRequest(callOf(agentFor(coze, agent), overrides))
  return { url: request.url, body: JSON.parse(textSent(request)) }
}

function replyTo(frames: readonly (readonly [string, object])[], platformConversationId?: string) {
  const state = coze.start(callOf(agentFor(coze), { platformConversationId }))
  return frames.flatMap(([event, data]) =>
    coze.translate({ event: `conversation.${event}`, data: JSON.stringify(data) }, state),
  )
}

test.each(['', '/', '/v3', '/v1/'])('the base URL may end with %j', (suffix) => {
  expect(requestFor({}, { baseUrl: `https://c.example${suffix}` }).url).toBe('https://c.example/v3/chat')
})

test('the conversation id is sent in the URL, and every id stays a string', () => {
  const { url, body } = requestFor({ platformConversationId: CONVERSATION, appId: '7379462189365198898' })
  expect(url).toBe(`https://platform.example/v3/chat?conversation_id=${CONVERSATION}`)
  expect(body).toEqual({
    bot_id: '7379462189365198898',
    user_id: '0123456789abcdefghij',
    stream: true,
    auto_save_history: true,
    additional_messages: [{ role: 'user', type: 'question', content_type: 'text', content: 'hello' }],
    custom_variables: {},
  })
})

test("the bot is the app's, else the caller's app id, else the agent's", () => {
  const app = { id: 'shop', name: 'Shop', default: true, options: {} }
  const agent = { options: { botId: 'agent-bot' } }
  expect(
    requestFor({ app: { ...app, options: { botId: 'app-bot' } }, appId: 'shop' }, agent).body.bot_id,
  ).toBe('app-bot')
  expect(requestFor({ app }, agent).body.bot_id).toBe('shop')
  expect(requestFor({ appId: '737' }, agent).body.bot_id).toBe('737')
  expect(requestFor({ appId: ' ' }, agent).body.bot_id).toBe('agent-bot')
})

test('needs an app id only where the configuration names no bot', () => {
  expect(coze.requires(agentFor(coze))).toEqual(['app_id'])
  expect(coze.requires(agentFor(coze, { options: { botId: '737' } }))).toEqual([])
})

test('files make the content an object string of one text and the files', () => {
  const files = ['https://x.example/a.png', 'https://x.example/b.mp3', 'https://x.example/c.mp4']
  const [message] = requestFor({ files: files.map(agentFile) }).body.additional_messages
  expect(message.content_type).toBe('object_string')
  expect(JSON.parse(message.content)).toEqual([
    { type: 'text', text: 'hello' },
    { type: 'image', file_url: files[0] },
    { type: 'audio', file_url: files[1] },
    { type: 'file', file_url: files[2] },
  ])
})

test('uploaded files are sent by their ids', () => {
  const files = (['image', 'audio', 'video', 'document', 'custom'] as const).map((kind) => ({
    name: 'x',
    kind,
    platformFileId: '7369',
  }))
  const [message] = requestFor({ files }).body.additional_messages
  const [, ...parts] = JSON.parse(message.content)
  expect(parts).toEqual(['image', 'audio', 'file', 'file', 'file'].map((type) => ({ type, file_id: '7369' })))
})

function uploadOf(file = fileToUpload('abc', { name: '报告.pdf' })) {
  const upload = coze.uploadFile?.(callOf(agentFor(coze)), file)
  if (upload === undefined) throw new Error('no upload')
  return upload
}

test('uploads a file and reads its id', async () => {
  const { request, read } = uploadOf()
  expect(request.url).toBe('https://platform.example/v1/files/upload')
  expect(request.headers.authorization).toBe('Bearer key-of-agent')
  expect(await text(Readable.from(request.body ?? ''))).toContain('name="file"; filename="报告.pdf"')
  expect(read(200, bodyOf(transcriptNamed('coze/upload.txt')), noHeader)).toEqual({
    ok: { platformFileId: '736949598110202****' },
  })
})

test.each([
  [200, { code: 4304, msg: 'file too big' }, 'agent_rejected_input', '报告.pdf: file too big'],
  [200, { code: 104000004, msg: '文件size过大' }, 'agent_rejected_input', '报告.pdf: 文件size过大'],
  [200, { code: 4100, msg: 'authentication is invalid' }, 'agent_credentials', undefined],
  [200, { code: 104000008, msg: 'system error' }, 'agent_error', undefined],
  [200, { code: 0, data: { id: 7369 } }, 'agent_malformed', undefined],
  [200, { code: 0, data: null }, 'agent_error', undefined],
])('an upload answered with %i %j is %s', (status, body, reason, message) => {
  const result = uploadOf().read(status, body, noHeader)
  expect(result).toMatchObject({ failure: { reason } })
  expect('failure' in result && result.failure.message).toBe(message)
})

test.each([
  [4300, true],
  ['4399', true],
  [104000008, true],
  [4000, true],
  [400, true],
  [4299, false],
  [4400, false],
  [4010, false],
  [undefined, false],
])('code %j: an uploaded file is not accepted any more: %s', (code, isRefusal) => {
  const failure = coze.toFailure(200, { code, msg: 'x' }, noHeader)
  expect(coze.isFileRefusal?.(failure)).toBe(isRefusal)
  // No reply shows what Coze has stored by then.
  expect(failure.turn).toBeUndefined()
  const [event] = replyTo([['chat.failed', { last_error: { code, msg: 'x' } }]])
  expect(event?.type === 'error' && coze.isFileRefusal?.(event.failure)).toBe(isRefusal)
})

test('variables are sent as strings', () => {
  expect(requestFor({ variables: { a: 'x', b: { c: 1 } } }).body.custom_variables).toEqual({
    a: 'x',
    b: '{"c":1}',
  })
})

test('a created chat yields no event, so that a later error can still get its own status', () => {
  expect(
    replyTo([
      ['chat.created', { id: '1' }],
      ['chat.in_progress', { id: '1' }],
    ]),
  ).toEqual([])
})

test('audio, cards, echoes and unknown events yield no text', () => {
  const delta = { type: 'answer', id: 'm', content: 'AAAA' }
  expect(
    replyTo([
      ['message.delta', { ...delta, content_type: 'audio' }],
      ['audio.delta', delta],
      ['message.completed', { ...delta, content_type: 'card' }],
      ['message.completed', { ...delta, type: 'question' }],
      ['new', delta],
    ]),
  ).toEqual([])
})

test('an answer in parts yields the text of its parts, and its images', () => {
  const content = JSON.stringify([
    { type: 'text', text: 'see' },
    { type: 'image', file_url: 'https://x' },
  ])
  expect(
    replyTo([['message.completed', { type: 'answer', id: 'm', content, content_type: 'object_string' }]]),
  ).toEqual([
    { type: 'text', text: 'see' },
    { type: 'file', file: { type: 'image', url: 'https://x' } },
  ])
})

test('a file in an answer of its own has no separator, which the reply gives it', () => {
  const content = JSON.stringify([{ type: 'image', file_url: 'https://x' }])
  expect(
    replyTo([
      ['message.delta', { type: 'answer', id: 'm1', content: 'see', content_type: 'text' }],
      ['message.completed', { type: 'answer', id: 'm2', content, content_type: 'object_string' }],
    ]),
  ).toEqual([
    { type: 'text', text: 'see' },
    { type: 'file', file: { type: 'image', url: 'https://x' } },
  ])
})

test('reasoning is separated from the answer', () => {
  expect(
    replyTo([['message.delta', { type: 'answer', id: 'm', content: '', reasoning_content: 'hm' }]]),
  ).toEqual([{ type: 'reasoning', text: 'hm' }])
})

test('tools, knowledge and suggestions are details', () => {
  const events = replyTo([
    ['message.completed', { id: '1', type: 'function_call', content: '{"name":"get","arguments":{"a":1}}' }],
    ['message.completed', { id: '2', type: 'tool_response', content: 'found' }],
    ['message.completed', { id: '3', type: 'knowledge', content: 'quote' }],
    [
      'message.completed',
      { id: '4', type: 'verbose', content: '{"msg_type":"knowledge_recall","data":"secret"}' },
    ],
    ['message.completed', { id: '5', type: 'follow_up', content: 'More?' }],
  ])
  expect(detailsIn(events)).toEqual([
    { type: 'tool_call', id: '1', name: 'get', data: { arguments: '{"a":1}' } },
    { type: 'tool_result', id: '2', data: { output: 'found' } },
    { type: 'sources', id: '3', data: { items: [{ text: 'quote' }] } },
    { type: 'other', id: '4', name: 'knowledge_recall', data: {} },
    { type: 'other', id: '5', name: 'follow_up', data: {}, raw: { content: 'More?' } },
  ])
})

test('a reply in another conversation than the requested one is an error, and its id is not stored', () => {
  const transcript = transcriptNamed('coze/studio-stream.txt')
  const call = callOf(agentFor(coze), { platformConversationId: '1' })
  expect(read(coze, call, transcript)[0]).toEqual({
    type: 'error',
    failure: { reason: 'conversation_not_found', platformCode: 'conversation_replaced' },
  })
  const state = coze.start(call)
  coze.translate({ event: 'conversation.chat.created', data: `{"conversation_id":"${CONVERSATION}"}` }, state)
  expect(state.platformConversationId).toBeUndefined()
  expect(read(coze, { ...call, platformConversationId: CONVERSATION }, transcript).at(-1)).toEqual({
    type: 'end',
    reason: 'stop',
  })
})

test('a missing resource is the conversation if the request named one', () => {
  const { bytes } = transcriptNamed('coze/resource-not-found.txt')
  const body = JSON.parse(bytes.toString())
  const reasonFor = (platformConversationId: string | undefined) =>
    coze.translateBody(body, coze.start(callOf(agentFor(coze), { platformConversationId })))
  expect(reasonFor(undefined)).toMatchObject([{ failure: { reason: 'app_not_found' } }])
  expect(reasonFor('1')).toMatchObject([{ failure: { reason: 'conversation_not_found' } }])
})

test.each(['chat.canceled', 'chat.cancelled'])(
  'a chat that somebody else has stopped (%s) is truncated',
  (event) => {
    expect(replyTo([[event, {}]])).toEqual([
      { type: 'error', failure: { reason: 'agent_truncated', platformCode: event.slice('chat.'.length) } },
    ])
  },
)

test('a failed chat may carry its error without an envelope', () => {
  expect(replyTo([['chat.failed', { code: 4105, msg: 'sensitive' }]])).toEqual([
    { type: 'error', failure: { reason: 'content_filtered', message: 'sensitive', platformCode: '4105' } },
  ])
})

test.each([
  [4000, 'agent_rejected_input'],
  [4006, 'app_not_found'],
  [4008, 'agent_rate_limited'],
  [4009, 'agent_rate_limited'],
  [4010, 'agent_rejected_input'],
  [4011, 'agent_quota'],
  [4012, 'agent_misconfigured'],
  [4013, 'agent_error'],
  [4015, 'agent_misconfigured'],
  [4016, 'conversation_busy'],
  [4019, 'agent_quota'],
  [4020, 'agent_rate_limited'],
  [4022, 'agent_quota'],
  [4100, 'agent_credentials'],
  ['700012006', 'agent_credentials'],
  [4105, 'content_filtered'],
  [4302, 'agent_rejected_input'],
  [5000, 'agent_error'],
  [103000002, 'conversation_not_found'],
  [103100002, 'app_not_found'],
  [9999, 'agent_error'],
])('code %s is %s', (code, reason) => {
  const state = coze.start(callOf(agentFor(coze)))
  expect(coze.translateBody({ code, msg: 'x' }, state)).toMatchObject([{ failure: { reason } }])
})

test('a forbidden token is agent_credentials, any other forbidden access agent_misconfigured', () => {
  const reasonOf = (msg: string) => coze.toFailure(403, { code: 4101, msg }, noHeader).reason
  expect(reasonOf('The token you entered is incorrect')).toBe('agent_credentials')
  expect(reasonOf('no permission')).toBe('agent_misconfigured')
})

test("a model's error with status 429 is a rate limit", () => {
  expect(coze.toFailure(429, { code: 4013, msg: 'x' }, noHeader).reason).toBe('agent_rate_limited')
})

test('keeps the log id of the body, else of the header', () => {
  const header = (name: string) => (name === 'x-tt-logid' ? 'of-header' : undefined)
  const failure = (detail: object) => coze.toFailure(401, { code: 4100, detail }, header)
  expect(failure({ logid: 'of-body' }).platformLogId).toBe('of-body')
  expect(failure({}).platformLogId).toBe('of-header')
})

test('a blocking reply that is still in progress is not an answer', () => {
  const state = coze.start(callOf(agentFor(coze)))
  expect(coze.translateBody(bodyOf(transcriptNamed('coze/blocking-create.txt')), state)).toEqual([])
  expect(
    coze.translateBody(bodyOf(transcriptNamed('coze/blocking-retrieve-in-progress.txt')), state),
  ).toEqual([])
})

test('a completed blocking chat has the usage', () => {
  const body = bodyOf(transcriptNamed('coze/blocking-retrieve-completed.txt'))
  expect(coze.translateBody(body, coze.start(callOf(agentFor(coze))))).toEqual([
    { type: 'usage', usage: { promptTokens: 614, completionTokens: 19, totalTokens: 633 } },
    { type: 'end', reason: 'stop' },
  ])
})

test('cancels a chat by the ids in its first frame', () => {
  const call = callOf(agentFor(coze))
  const state = coze.start(call)
  expect(coze.stop?.(call, state)).toBeUndefined()
  coze.translate({ event: 'conversation.chat.created', data: '{"id":"7","conversation_id":"8"}' }, state)
  const stop = coze.stop?.(call, state)
  expect(stop?.request).toMatchObject({
    url: 'https://platform.example/v3/chat/cancel',
    body: '{"conversation_id":"8","chat_id":"7"}',
  })
  expect(stop?.read(200, bodyOf(transcriptNamed('coze/cancel.txt')), noHeader)).toEqual({ ok: undefined })
  expect(stop?.read(200, { code: 4104, msg: 'x' }, noHeader)).toMatchObject({
    failure: { platformCode: '4104' },
  })
})

test('the probe checks the token', () => {
  const probe = coze.probe(agentFor(coze))
  expect(probe.request.url).toBe('https://platform.example/v1/users/me')
  expect(probe.read(200, bodyOf(transcriptNamed('coze/users-me.txt')), noHeader)).toEqual({ ok: 'available' })
  expect(probe.read(200, { code: 700012006 }, noHeader)).toMatchObject({
    failure: { reason: 'agent_credentials' },
  })
  expect(probe.read(404, 'not found', noHeader)).toEqual({ ok: 'degraded' })
})

test.each([
  ['completed', 'canceled', 'agent_truncated'],
  ['completed', 'failed', 'agent_error'],
  ['aborted', 'aborted', 'agent_error'],
  ['interrupted', undefined, 'agent_truncated'],
  ['expired', 'expired', 'agent_error'],
])('a chat that is %s with the status %j is %s', (name, status, reason) => {
  const events = replyTo([[`chat.${name}`, { id: 'r1', conversation_id: 'c1', status }]])
  expect(events).toMatchObject([{ type: 'error', failure: { reason } }])
})

test('a workflow that waits for an answer has none', () => {
  const state = coze.start(callOf(agentFor(coze)))
  const data = JSON.stringify({ interrupt_data: { event_id: 'e1', type: 2 } })
  expect(coze.translate({ event: 'Interrupt', data }, state)).toMatchObject([
    { failure: { reason: 'agent_requires_action' } },
  ])
})
