import { expect, test } from 'vitest'
import { detailsIn } from '#core/agents/chat-events.test-support.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { agentFor, bodyOf, callOf, textSent, transcriptNamed } from '#core/agents/transcripts.test-support.ts'
import { agentFile } from '#core/agents/translate/agent-file.ts'
import { fastgpt } from './adapter.ts'

const agent = agentFor(fastgpt)
const app = { id: '66e0', name: 'Support', default: true, apiKey: 'key-of-app', options: {} }
const noHeader = () => undefined

function bodySent(overrides: Partial<Parameters<typeof fastgpt.start>[0]>) {
  return JSON.parse(textSent(fastgpt.buildRequest(callOf(agent, overrides))))
}

test('the address of version 2 is used where the entry says so', () => {
  const { url } = fastgpt.buildRequest(
    callOf(agentFor(fastgpt, { options: { nodeData: 'filtered', api: 'v2' } })),
  )
  expect(new URL(url).pathname).toBe('/api/v2/chat/completions')
})

test.each([
  // The same word stood beside other numbers, and the same number beside other words.
  [{ code: 500002, statusText: 'aiPointsNotEnough' }, 'agent_quota'],
  [{ code: 500004, statusText: 'unAuthTeam' }, 'agent_misconfigured'],
  [{ code: 500004, statusText: 'error' }, 'agent_quota'],
  [{ code: 500004, statusText: 'newWord' }, 'agent_error'],
  [{ code: 504001, statusText: '', message: 'chatIsGenerating' }, 'conversation_busy'],
  [{ code: 510001, statusText: 'agentSandboxInitializing' }, 'agent_rate_limited'],
  [{ message: "This model's maximum context length is 8192 tokens." }, 'agent_rejected_input'],
  [{ message: 'Rate limit reached for requests per minute' }, 'agent_rate_limited'],
  [{ message: 'Incorrect API key provided' }, 'agent_error'],
])('the error %j is %s', (error, reason) => {
  expect(fastgpt.toFailure(500, error, noHeader).reason).toBe(reason)
})

/** Translates one reply; each frame is the SSE field `event` and the value of `data`. */
function replyTo(
  frames: readonly (readonly [string, unknown])[],
  nodeData: 'filtered' | 'full' = 'filtered',
) {
  const state = fastgpt.start(callOf(agentFor(fastgpt, { options: { nodeData, api: 'v1' } })))
  const events = frames.flatMap(([event, data]) =>
    fastgpt.translate({ event, data: typeof data === 'string' ? data : JSON.stringify(data) }, state),
  )
  return [...events, ...fastgpt.finish(state)]
}

function textFrame(content: string | null, finish_reason: string | null = null) {
  return [
    'answer',
    { choices: [{ delta: { role: 'assistant', content }, index: 0, finish_reason }] },
  ] as const
}

const STOP = textFrame(null, 'stop')
const DONE = ['answer', '[DONE]'] as const

function ofType<Type extends ChatEvent['type']>(events: readonly ChatEvent[], type: Type) {
  return events.filter((event): event is Extract<ChatEvent, { type: Type }> => event.type === type)
}

test.each(['', '/', '/api', '/api/', '/api/v1', '/api/v2/'])('the base URL may end with %j', (suffix) => {
  const { url } = fastgpt.buildRequest(
    callOf(agentFor(fastgpt, { baseUrl: `https://f.example/sub${suffix}` })),
  )
  expect(url).toBe('https://f.example/sub/api/v1/chat/completions')
})

test('always requests a stream with detail', () => {
  expect(bodySent({ stream: false })).toMatchObject({ stream: true, detail: true })
})

test('names the conversation, the app, the end user and the variables', () => {
  expect(bodySent({ platformConversationId: 'c1', appId: '66e1', variables: { topic: 'x' } })).toMatchObject({
    chatId: 'c1',
    appId: '66e1',
    customUid: '0123456789abcdefghij',
    variables: { topic: 'x' },
    messages: [{ role: 'user', content: 'hello' }],
  })
})

test('leaves out a missing conversation and a missing app', () => {
  const body = bodySent({ appId: ' ' })
  expect(body).not.toHaveProperty('chatId')
  expect(body).not.toHaveProperty('appId')
})

test('a configured app supplies its id and its key', () => {
  const request = fastgpt.buildRequest(callOf(agent, { app, appId: '' }))
  expect(request.headers.authorization).toBe('Bearer key-of-app')
  expect(JSON.parse(textSent(request)).appId).toBe('66e0')
})

test('needs an app id only where the configuration has no default', () => {
  expect(fastgpt.requires(agent)).toEqual(['app_id'])
  expect(fastgpt.requires(agentFor(fastgpt, { apps: [app] }))).toEqual([])
})

test('sends images as images and other files by their real name', () => {
  const files = ['https://x.example/a.PNG?sig=1', 'https://x.example/%E6%8A%A5%E5%91%8A.pdf']
  expect(bodySent({ files: files.map(agentFile) }).messages[0].content).toEqual([
    { type: 'text', text: 'hello' },
    { type: 'image_url', image_url: { url: files[0] } },
    { type: 'file_url', name: '报告.pdf', url: files[1] },
  ])
})

test('heartbeats and unknown events yield nothing', () => {
  expect(replyTo([textFrame(''), ['chatTitle', { title: 'x' }], ['new', { a: 1 }]])).toEqual([])
})

test('an event that does not parse is an error', () => {
  expect(replyTo([['answer', '{"choices":']])).toEqual([
    { type: 'error', failure: { reason: 'agent_malformed' } },
  ])
})

test('adds up the tokens of all levels and counts no node twice', () => {
  const inner = {
    id: 'n3',
    inputTokens: 3,
    outputTokens: 30,
    loopDetail: [{ inputTokens: 4, outputTokens: 40 }],
  }
  const tool = { id: 'n2', toolCallInputTokens: 2, toolCallOutputTokens: 20, toolDetail: [inner] }
  const events = replyTo([
    ['flowNodeResponse', { id: 'n1', inputTokens: 1, outputTokens: 10 }],
    [
      'flowResponses',
      [
        { id: 'n1', inputTokens: 1, outputTokens: 10 },
        { id: 'p', pluginDetail: [tool] },
      ],
    ],
  ])
  expect(ofType(events, 'usage').at(-1)?.usage).toEqual({
    promptTokens: 10,
    completionTokens: 100,
    totalTokens: 110,
  })
})

test('a single total, as old releases send it, leaves the usage unknown', () => {
  expect(ofType(replyTo([['flowResponses', [{ tokens: 12 }]]]), 'usage')).toEqual([])
})

const node = {
  id: 'k2',
  nodeId: 'n',
  moduleName: 'AI',
  moduleType: 'chatNode',
  runningTime: 1.86,
  inputTokens: 1,
  historyPreview: [{ obj: 'System', value: 'the prompt' }],
  query: 'q',
  quoteList: [{ q: 'quote' }],
  errorText: 'key sk-1 refused',
  fieldOfTomorrow: 'x',
}

test('node data shows no prompt, quote, error text or unknown field', () => {
  const [detail] = detailsIn(replyTo([['flowNodeResponse', node]]))
  expect(detail).toEqual({
    type: 'node_finished',
    id: 'n',
    name: 'AI',
    status: 'failed',
    elapsed_ms: 1860,
    data: { node_type: 'chatNode' },
    raw: { id: 'k2', inputTokens: 1 },
  })
})

test('node data is complete if the operator configures it', () => {
  const [detail] = detailsIn(replyTo([['flowNodeResponse', node]], 'full'))
  const { nodeId, moduleName, moduleType, runningTime, ...rest } = node
  expect(detail?.raw).toEqual(rest)
})

test.each([
  ['before the end', [['flowNodeResponse', { error: 'boom' }], STOP, DONE]],
  ['after it', [STOP, DONE, ['flowResponses', [{ error: { message: 'boom' } }]]]],
  ['without one', [['flowNodeResponse', { errorText: 'boom' }]]],
] as const)('a node that failed %s explains an empty reply', (_when, frames) => {
  expect(replyTo(frames)).toContainEqual({
    type: 'error',
    failure: { reason: 'agent_error', platformCode: 'node_failed' },
  })
})

test('a reply whose text comes after a node has failed succeeds', () => {
  const events = replyTo([['flowNodeResponse', { error: 'boom' }], textFrame('ok'), STOP])
  expect(events.slice(1)).toEqual([
    { type: 'text', text: 'ok' },
    { type: 'end', reason: 'stop' },
  ])
})

test.each([
  ['before', [['flowNodeResponse', { finishReason: 'length' }], textFrame('ok'), STOP]],
  ['after', [textFrame('ok'), STOP, DONE, ['flowResponses', [{ finishReason: 'length' }]]]],
] as const)('an answer that node data tells to be cut, %s its end, ends with length', (_when, frames) => {
  expect(ofType(replyTo(frames), 'end').at(-1)?.reason).toBe('length')
})

test('a pause inside a child app asks the question of its innermost node and hides the workflow', () => {
  const form = {
    type: 'userInput',
    params: { description: 'Who?', inputForm: [{ label: 'Name' }, { label: 'Age' }] },
  }
  const interactive = {
    type: 'childrenInteractive',
    nodeOutputs: [{ value: 'secret' }],
    params: { childrenResponse: { type: 'loopInteractive', params: { childrenResponse: form } } },
  }
  const events = replyTo([['interactive', { interactive }]])
  expect(events[0]).toEqual({
    type: 'pause',
    pause: {
      question: 'Who?',
      options: [],
      fields: [
        { name: 'Name', label: 'Name', type: 'text', required: false },
        { name: 'Age', label: 'Age', type: 'text', required: false },
      ],
      takesText: true,
      resume: { answerId: '0190a1b2-0000-7000-8000-000000000001' },
    },
  })
  expect(detailsIn(events)).toEqual([
    {
      type: 'interaction',
      name: 'userInput',
      data: { question: 'Who?', options: [], form: form.params.inputForm },
    },
  ])
})

test('parts of a blocking reply are recognized by their keys, and each answer is a paragraph', () => {
  const content = [
    { reasoning: { content: 'hm' } },
    { text: { content: 'one' } },
    { text: { content: 'two' } },
  ]
  const body = { choices: [{ message: { content }, finish_reason: 'stop' }] }
  expect(fastgpt.translateBody(body, fastgpt.start(callOf(agent)))).toEqual([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'one' },
    { type: 'text', text: '\n\n' },
    { type: 'text', text: 'two' },
    { type: 'end', reason: 'stop' },
  ])
})

test('a blocking reply has files among its parts, with their names', () => {
  const picture = { type: 'image', url: 'https://x.example/a.png', name: 'a.png' }
  const report = { type: 'file', url: '/api/file/b.pdf', name: 'b.pdf' }
  const content = [{ text: { content: 'one' } }, { file: picture }, { type: 'file', file: report }]
  const body = { choices: [{ message: { content }, finish_reason: 'stop' }] }
  expect(fastgpt.translateBody(body, fastgpt.start(callOf(agent)))).toEqual([
    { type: 'text', text: 'one' },
    { type: 'file', file: picture },
    { type: 'file', file: { ...report, type: 'document' } },
    { type: 'end', reason: 'stop' },
  ])
})

test.each([
  [403, 'agent_credentials'],
  [514, 'agent_credentials'],
  [429, 'agent_rate_limited'],
  [510, 'agent_quota'],
  [500004, 'agent_quota'],
  [506002, 'agent_quota'],
  [511, 'agent_misconfigured'],
  [513, 'agent_misconfigured'],
  [500001, 'agent_misconfigured'],
  [500003, 'agent_misconfigured'],
  [502001, 'agent_misconfigured'],
  [502000, 'app_not_found'],
  [504000, 'conversation_not_found'],
  [409, 'conversation_busy'],
  [400, 'agent_rejected_input'],
  [500, 'agent_error'],
])('code %i is %s whatever the HTTP status', (code, reason) => {
  for (const status of [400, 403, 500]) {
    expect(fastgpt.toFailure(status, { code, message: 'common:x' }, noHeader)).toMatchObject({
      reason,
      platformStatus: status,
      platformCode: String(code),
    })
  }
})

test.each([
  ['app is empty', 'app_not_found'],
  ['Cast to ObjectId failed for value "x" (type string) at path "_id"', 'app_not_found'],
  ['Key is error. You need to use the app key.', 'agent_rejected_input'],
  ['Url is invalid', 'agent_rejected_input'],
  ['User question is empty', 'agent_rejected_input'],
  ['Your content is not compliant', 'content_filtered'],
  ['Connection error.', 'agent_error'],
])('the error %j without a code is %s', (message, reason) => {
  const [event] = ofType(replyTo([['error', { message }]]), 'error')
  expect(event?.failure.reason).toBe(reason)
})

test('reads the time to wait from the text', () => {
  const { http_status, ...limited } = transcriptNamed('fastgpt/rate-limit.txt')
  const failure = fastgpt.toFailure(http_status, bodyOf({ http_status, ...limited }), noHeader)
  expect(failure).toMatchObject({ reason: 'agent_rate_limited', retryAfterSeconds: 23 })
})

test('a page is an error without a message', () => {
  expect(fastgpt.toFailure(502, '<html>nginx</html>', noHeader)).toEqual({
    reason: 'agent_error',
    platformStatus: 502,
    isPage: true,
  })
})

test('stops a run by app and conversation', () => {
  const stop = fastgpt.stop?.(
    callOf(agent, { platformConversationId: 'c1', app }),
    fastgpt.start(callOf(agent)),
  )
  expect(stop?.request).toMatchObject({
    url: 'https://platform.example/api/v2/chat/stop',
    body: '{"chatId":"c1","appId":"66e0"}',
  })
  expect(stop?.read(200, { code: 200, data: { success: true } }, noHeader)).toEqual({ ok: undefined })
})

test('the probe distinguishes a running FastGPT from a web page', () => {
  const probe = fastgpt.probe(agent)
  expect(probe.request.url).toBe('https://platform.example/api/common/system/getInitData')
  expect(probe.read(200, { code: 200, data: {} }, noHeader)).toEqual({ ok: 'available' })
  expect(probe.read(200, '<!doctype html>', noHeader)).toMatchObject({ failure: { reason: 'agent_error' } })
})
