import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
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
import { dify } from './adapter.ts'

const noHeader = () => undefined

type DifyAgent = Parameters<typeof dify.probe>[0]
type DifyCall = Parameters<typeof dify.start>[0]

function requestFor(overrides: Partial<DifyCall> = {}, agent: Partial<DifyAgent> = {}) {
  const request = dify.buildRequest(callOf(agentFor(dify, agent), overrides))
  return { ...request, body: JSON.parse(textSent(request)) }
}

function replyTo(frames: readonly object[], mode: DifyAgent['options']['mode'] = 'chat') {
  const state = dify.start(callOf(agentFor(dify, { options: { mode } })))
  const events = frames.flatMap((frame) =>
    dify.translate({ event: undefined, data: JSON.stringify(frame) }, state),
  )
  return [...events, ...dify.finish(state)]
}

const END = { type: 'end', reason: 'stop' }
const FAILED = {
  type: 'error',
  failure: { reason: 'agent_error', platformCode: 'workflow_failed' },
}

test.each(['', '/', '/v1', '/v1/'])('the base URL may end with %j', (suffix) => {
  const { url } = requestFor({}, { baseUrl: `https://d.example${suffix}` })
  expect(url).toBe('https://d.example/v1/chat-messages')
})

test('a first message requests a stream, without a conversation, a title or files', () => {
  expect(requestFor({ variables: { topic: 'x' }, stream: false }).body).toEqual({
    inputs: { topic: 'x' },
    query: 'hello',
    user: '0123456789abcdefghij',
    response_mode: 'streaming',
    auto_generate_name: false,
  })
})

test('continues a conversation', () => {
  expect(requestFor({ platformConversationId: 'c1' }).body.conversation_id).toBe('c1')
})

test('text generators and workflows get the query as an input, unless a variable has that name', () => {
  const completion = requestFor({ platformConversationId: 'c1' }, { options: { mode: 'completion' } })
  expect(completion.url).toBe('https://platform.example/v1/completion-messages')
  expect(completion.body).toMatchObject({ inputs: { query: 'hello' }, query: 'hello' })
  expect(completion.body).not.toHaveProperty('conversation_id')

  const workflow = requestFor({ variables: { query: 'mine', n: 1 } }, { options: { mode: 'workflow' } })
  expect(workflow.url).toBe('https://platform.example/v1/workflows/run')
  expect(workflow.body.inputs).toEqual({ query: 'mine', n: 1 })
})

test("files are sent by URL, with the kind that Dify's own table assigns to their extension", () => {
  const files = [
    'https://x.example/a.svg',
    'https://x.example/b.DOCX?s=1',
    'https://x.example/c.amr',
    'https://x.example/d',
  ]
  expect(requestFor({ files: files.map(agentFile) }).body.files).toEqual([
    { type: 'image', transfer_method: 'remote_url', url: files[0] },
    { type: 'document', transfer_method: 'remote_url', url: files[1] },
    { type: 'audio', transfer_method: 'remote_url', url: files[2] },
    { type: 'custom', transfer_method: 'remote_url', url: files[3] },
  ])
})

test('an uploaded file is sent by its id', () => {
  const file = { name: 'a.pdf', kind: 'document', platformFileId: 'f1' } as const
  expect(requestFor({ files: [file] }).body.files).toEqual([
    { type: 'document', transfer_method: 'local_file', upload_file_id: 'f1' },
  ])
})

function uploadOf(file = fileToUpload('abc', { name: 'a.pdf' })) {
  const upload = dify.uploadFile?.(callOf(agentFor(dify)), file)
  if (upload === undefined) throw new Error('no upload')
  return upload
}

test('uploads a file for the end user, with a name that Dify accepts', async () => {
  const file = fileToUpload('abc', { name: 'Q1: "a/b"?.pdf', mediaType: 'application/pdf' })
  const { url, headers, body } = uploadOf(file).request
  expect(url).toBe('https://platform.example/v1/files/upload')
  expect(headers.authorization).toBe('Bearer key-of-agent')
  expect(body).toBeInstanceOf(Readable)
  const form = await text(Readable.from(body ?? ''))
  expect(form).toContain('name="user"\r\n\r\n0123456789abcdefghij\r\n')
  expect(form).toContain(
    'name="file"; filename="Q1_ _a_b__.pdf"\r\ncontent-type: application/pdf\r\n\r\nabc\r\n',
  )
})

test('the reply to an upload contains the id', () => {
  const reply = bodyOf(transcriptNamed('dify/upload.txt'))
  expect(uploadOf().read(201, reply, noHeader)).toEqual({
    ok: { platformFileId: '72fa9618-8f89-4a37-9b33-7e1178a24a67' },
  })
})

test.each([
  [
    413,
    { code: 'file_too_large', message: 'File size exceeded. http://x/y' },
    'a.pdf: File size exceeded. …',
  ],
  [413, '<html>nginx</html>', 'a.pdf: The file is too large for the agent platform.'],
  [415, { code: 'unsupported_file_type' }, 'a.pdf: The agent platform does not accept this type of file.'],
  [400, { code: 'file_extension_blocked' }, 'a.pdf: The file was refused.'],
])('an upload refused with %i %j names the file', (status, body, message) => {
  expect(uploadOf().read(status, body, noHeader)).toMatchObject({
    failure: { reason: 'agent_rejected_input', message, platformStatus: status },
  })
})

test.each([
  [401, { code: 'unauthorized', message: 'secret' }, 'agent_credentials'],
  [201, { id: 7 }, 'agent_malformed'],
  [201, { id: '' }, 'agent_malformed'],
  [201, { id: 'a\u0000' }, 'agent_malformed'],
  [200, '<html>', 'agent_error'],
])('an upload answered with %i %j is %s, which says nothing about the file', (status, body, reason) => {
  const result = uploadOf().read(status, body, noHeader)
  expect(result).toMatchObject({ failure: { reason } })
  expect(JSON.stringify(result)).not.toContain('message')
})

test.each([
  [400, 'Invalid upload file', true],
  [400, 'Invalid upload file id', true],
  [400, 'Invalid upload file id format', true],
  [400, 'Detected file type does not match the specified type. Please verify the file.', false],
  [500, 'Invalid upload file', false],
])('%i %s: an uploaded file is not accepted any more: %s', (status, message, isRefusal) => {
  const code = status === 400 ? 'invalid_param' : 'internal_server_error'
  const inReply = dify.toFailure(status, { code, message, status }, noHeader)
  const inStream = replyTo([{ event: 'error', code, message, status }])[0]
  expect(dify.isFileRefusal?.(inReply)).toBe(isRefusal)
  expect(inStream?.type === 'error' && dify.isFileRefusal?.(inStream.failure)).toBe(isRefusal)
  // Files are looked up before the message is stored.
  expect(inReply.turn).toBe(isRefusal ? 'none' : undefined)
  expect(inStream?.type === 'error' && inStream.failure.turn).toBeUndefined()
})

test('stores the ids that continue the conversation and stop the run', () => {
  const call = callOf(agentFor(dify))
  const state = dify.start(call)
  expect(dify.stop?.(call, state)).toBeUndefined()
  dify.translate(
    { event: undefined, data: '{"event":"message","conversation_id":"c1","task_id":"t/1"}' },
    state,
  )
  expect(state.platformConversationId).toBe('c1')
  const stop = dify.stop?.(call, state)
  expect(stop?.request).toMatchObject({
    url: 'https://platform.example/v1/chat-messages/t%2F1/stop',
    body: '{"user":"0123456789abcdefghij"}',
  })
  expect(stop?.read(200, bodyOf(transcriptNamed('dify/stop-ok.txt')), noHeader)).toEqual({ ok: undefined })
})

test('stops a workflow at its own endpoint', () => {
  const call = callOf(agentFor(dify, { options: { mode: 'workflow' } }))
  const stop = dify.stop?.(call, { ...dify.start(call), runId: 't1' })
  expect(stop?.request.url).toBe('https://platform.example/v1/workflows/tasks/t1/stop')
})

test('pings, audio and unknown events yield nothing', () => {
  expect(dify.translate({ event: 'ping', data: '' }, dify.start(callOf(agentFor(dify))))).toEqual([])
  expect(
    replyTo([
      { event: 'tts_message', audio: 'x' },
      { event: 'new', data: {} },
      { event: 'message', answer: '' },
    ]),
  ).toEqual([])
})

test('a stream of pings alone yields no events', () => {
  expect(read(dify, callOf(agentFor(dify)), transcriptNamed('dify/ping-only-hang.txt'))).toEqual([])
})

test('an answer in any event is text', () => {
  expect(replyTo([{ event: 'new', answer: 'a' }])).toEqual([{ type: 'text', text: 'a' }])
})

test.each([
  ['start', { type: 'tool_call', data: { arguments: '{"q":"x"}' } }],
  ['success', { type: 'tool_result', data: { arguments: '{"q":"x"}', output: '21' } }],
  ['error', { type: 'tool_result', data: { arguments: '{"q":"x"}', output: '21' } }],
])('the log of an agent node about a tool, with status %s, is a detail of this tool', (status, expected) => {
  const own = { tool_name: 'search', tool_input: { q: 'x' }, observation: status === 'start' ? null : '21' }
  const log = { id: 'm1', label: 'search', status, data: own, metadata: { kind: 'tool' } }
  expect(detailsIn(replyTo([{ event: 'agent_log', data: log }]))).toEqual([
    { ...expected, id: 'm1', name: 'search', status },
  ])
})

test('the log of an agent node about its thoughts is reasoning, and another one is shown as it is', () => {
  const thought = { id: 't', label: 'thinking', data: { thought: 'Hm.' }, metadata: { kind: 'reasoning' } }
  const other = { id: 'o', label: 'round', status: 'start', data: { secret: 1 }, metadata: {} }
  const events = replyTo([
    { event: 'agent_log', data: thought },
    { event: 'agent_log', data: other },
  ])
  expect(events[0]).toEqual({ type: 'reasoning', text: 'Hm.' })
  expect(detailsIn(events)).toEqual([{ type: 'other', id: 'o', name: 'round', status: 'start', data: {} }])
})

describe('a stream that ends although its run goes on', () => {
  function cut(frames: readonly object[], mode: DifyAgent['options']['mode'] = 'chat') {
    const call = callOf(agentFor(dify, { options: { mode } }))
    const state = dify.start(call)
    for (const frame of frames) dify.translate({ event: undefined, data: JSON.stringify(frame) }, state)
    return {
      url: () => dify.conclude?.(call, state)?.request.url,
      ask: (body: object) => dify.conclude?.(call, state)?.read(200, body, noHeader),
    }
  }
  const ids = { conversation_id: 'c1', message_id: 'm1', workflow_run_id: 'r1' }
  const piece = { event: 'message', ...ids, answer: 'It took ' }

  test('is completed by the result of the run, once there is one', () => {
    const { url, ask } = cut([piece])
    expect(url()).toBe('https://platform.example/v1/workflows/run/r1')
    expect(ask({ status: 'running' })).toEqual({ ok: 'working' })
    expect(ask({ status: 'succeeded', outputs: { answer: 'It took long.' } })).toMatchObject({
      ok: [{ type: 'text', text: 'long.' }, { type: 'detail' }, END],
    })
  })

  test('is replaced by the result of the run where that has another text', () => {
    expect(cut([piece]).ask({ status: 'succeeded', outputs: { answer: 'No.' } })).toMatchObject({
      ok: [{ type: 'replace', text: 'No.' }, { type: 'detail' }, END],
    })
  })

  test('fails as the run does', () => {
    const failed = { status: 'failed', error: 'Rate limit reached', outputs: null }
    expect(cut([piece]).ask(failed)).toMatchObject({
      ok: [{ type: 'detail' }, { type: 'error', failure: { reason: 'agent_rate_limited' } }],
    })
  })

  test('answers with the outputs of a workflow, which older releases send as a text', () => {
    const { ask } = cut([{ event: 'workflow_started', workflow_run_id: 'r1' }], 'workflow')
    expect(ask({ status: 'succeeded', outputs: '{"result":"Done."}' })).toMatchObject({
      ok: [{ type: 'detail' }, { type: 'text', text: 'Done.' }, END],
    })
  })

  test('of an app without a workflow is completed by the latest message, once that has its text', () => {
    const { url, ask } = cut([
      { event: 'agent_message', conversation_id: 'c1', message_id: 'm1', answer: 'a' },
    ])
    expect(url()).toContain('/v1/messages?conversation_id=c1')
    expect(ask({ data: [{ id: 'm1', answer: '' }] })).toEqual({ ok: 'working' })
    expect(ask({ data: [{ id: 'm2', answer: 'of another turn' }] })).toEqual({ ok: [] })
    expect(ask({ data: [{ id: 'm1', answer: 'ab' }] })).toEqual({ ok: [{ type: 'text', text: 'b' }, END] })
  })

  test.each([
    ['an end has come', [piece, { event: 'message_end', ...ids }]],
    ['a pause has asked something', [{ event: 'human_input_required', ...ids, data: { form_token: 't' } }]],
    ['nothing identifies the run', [{ event: 'message', answer: 'a' }]],
  ])('is not asked about where %s', (_when, frames) => {
    expect(cut(frames).url()).toBeUndefined()
  })
})

test('a closing repetition is dropped only after pieces of an agent', () => {
  expect(
    replyTo([
      { event: 'message', answer: 'a' },
      { event: 'message', answer: 'b' },
    ]),
  ).toHaveLength(2)
  expect(
    replyTo([
      { event: 'agent_message', answer: 'ab' },
      { event: 'message', answer: 'ab' },
    ]),
  ).toHaveLength(1)
})

test('a thought yields a detail for each stage: thought, tool call, tool result', () => {
  const thought = {
    event: 'agent_thought',
    id: 't1',
    thought: 'hm',
    tool: '',
    tool_input: '',
    observation: '',
  }
  const called = { ...thought, tool: 'weather', tool_input: '{}' }
  expect(detailsIn(replyTo([thought, called, { ...called, observation: '21' }]))).toEqual([
    { type: 'thought', id: 't1', data: { text: 'hm' } },
    { type: 'tool_call', id: 't1', name: 'weather', data: { arguments: '{}' } },
    { type: 'tool_result', id: 't1', name: 'weather', data: { arguments: '{}', output: '21' } },
  ])
})

test('node details show no inputs, outputs or process data', () => {
  const data = { node_id: 'n', title: 'LLM', node_type: 'llm', status: 'succeeded', elapsed_time: 0.5 }
  const secret = { inputs: { p: 'secret' }, outputs: { o: 'secret' }, process_data: { prompts: ['secret'] } }
  const events = replyTo([
    { event: 'node_finished', data: { ...data, ...secret } },
    { event: 'workflow_started', data: secret },
  ])
  const details = detailsIn(events)
  expect(details[0]).toEqual({
    type: 'node_finished',
    id: 'n',
    name: 'LLM',
    status: 'succeeded',
    elapsed_ms: 500,
    data: { node_type: 'llm' },
  })
  expect(JSON.stringify(details)).not.toContain('secret')
})

const message = { event: 'message', answer: 'a' }
const messageEnd = { event: 'message_end' }
const finished = (status: string) => ({ event: 'workflow_finished', data: { status } })

const nodeFinished = (node_type: string, finish_reason: string) => ({
  event: 'node_finished',
  data: { node_type, outputs: { finish_reason } },
})

test.each([
  ['length', [nodeFinished('llm', 'length'), messageEnd]],
  ['length', [messageEnd, nodeFinished('llm', 'length')]],
  ['stop', [nodeFinished('llm', 'length'), nodeFinished('llm', 'stop'), messageEnd]],
  ['stop', [nodeFinished('llm', 'tool_calls'), messageEnd]],
  ['stop', [nodeFinished('code', 'length'), messageEnd]],
])('an answer ends with %s, the finish reason of its last model node', (reason, frames) => {
  const ends = replyTo([message, ...frames]).filter(({ type }) => type === 'end')
  expect(ends.at(-1)).toEqual({ type: 'end', reason })
})

test.each([
  ['before', [message, finished('succeeded'), messageEnd]],
  ['after', [message, messageEnd, finished('succeeded')]],
  ['without', [message, finished('partial-succeeded')]],
])('a chatflow whose run is reported %s the end of its message ends with stop', (_when, frames) => {
  const events = replyTo(frames)
  expect(events.filter(({ type }) => type === 'error')).toEqual([])
  expect(events.filter(({ type }) => type === 'end')).toContainEqual(END)
})

test.each([
  ['before', [message, finished('stopped'), messageEnd]],
  ['after', [message, messageEnd, finished('stopped')]],
  ['without', [message, finished('stopped')]],
])(
  'a run that somebody else has stopped, as reported %s the end of its message, is truncated',
  (_when, frames) => {
    expect(replyTo(frames).at(-1)).toEqual({
      type: 'error',
      failure: { reason: 'agent_truncated', platformCode: 'workflow_stopped' },
    })
  },
)

test('an answer that goes on after its workflow has finished has not ended', () => {
  const finished = { event: 'workflow_finished', data: { status: 'succeeded', outputs: { answer: 'abc' } } }
  const message = { event: 'message', answer: 'abc' }
  const thought = { event: 'reasoning_chunk', data: { reasoning: 'why' } }
  const typesOf = (frames: readonly object[]) =>
    replyTo(frames).flatMap(({ type }) => (type === 'detail' ? [] : type))
  expect(typesOf([finished, message])).toEqual(['end', 'text'])
  expect(typesOf([message, finished, thought])).toEqual(['text', 'end', 'reasoning'])
  expect(typesOf([finished, message, message, { event: 'message_end' }])).toEqual([
    'end',
    'text',
    'text',
    'end',
  ])
  expect(typesOf([message, finished])).toEqual(['text', 'end'])
})

test('a message without message_end yields no end', () => {
  expect(replyTo([message])).toEqual([{ type: 'text', text: 'a' }])
})

test.each([
  ['alone', [finished('failed')]],
  ['before the end of the message', [message, finished('failed'), messageEnd]],
  ['after it', [message, messageEnd, finished('failed')]],
])('a run that failed is a failure, %s', (_when, frames) => {
  expect(replyTo(frames).at(-1)).toEqual(FAILED)
})

test('the error event of a failed run is preferred, because it is more precise', () => {
  const error = { event: 'error', code: 'provider_quota_exceeded', status: 400, message: 'x' }
  const [, event] = replyTo([finished('failed'), error])
  expect(event).toEqual({
    type: 'error',
    failure: { reason: 'agent_quota', platformStatus: 400, platformCode: 'provider_quota_exceeded' },
  })
})

test.each([
  [{ result: 'a', text: 'b' }, 'b'],
  [{ translation: 'a' }, 'a'],
  [{ first: 'a', n: 1, second: 'b' }, 'a\n\nb'],
  [{ score: 3, tags: ['x'] }, '{"score":3,"tags":["x"]}'],
])('a workflow without pieces of text answers with its outputs %j', (outputs, text) => {
  const events = replyTo([{ event: 'workflow_finished', data: { status: 'succeeded', outputs } }], 'workflow')
  expect(events.slice(1)).toEqual([{ type: 'text', text }, END])
})

test('a workflow without outputs answers nothing', () => {
  const events = replyTo(
    [{ event: 'workflow_finished', data: { status: 'succeeded', outputs: { a: null } } }],
    'workflow',
  )
  expect(events.slice(1)).toEqual([END])
})

test('a pause asks its question and ends', () => {
  const events = replyTo([
    { event: 'human_input_required', data: { form_content: 'Sure?', form_token: 'secret' } },
    { event: 'workflow_paused', data: {} },
  ])
  expect(events).toMatchObject([{ type: 'pause', pause: { question: 'Sure?' } }, { type: 'detail' }, END])
  expect(detailsIn(events)).toEqual([{ type: 'interaction', data: { question: 'Sure?', options: [] } }])
})

test('sources are documents, and what else is known of them is at the same place in raw', () => {
  const found = { document_name: 'guide.md', document_id: 'd1', content: 'Text', score: 0.9, page: null }
  const metadata = { retriever_resources: [found, null, { document_name: 5 }] }
  expect(detailsIn(replyTo([{ event: 'message_end', metadata }]))).toEqual([
    {
      type: 'sources',
      data: { items: [{ title: 'guide.md', document: 'd1', text: 'Text' }, {}, {}] },
      raw: { retriever_resources: [{ score: 0.9 }, {}, { document_name: 5 }] },
    },
  ])
})

test('a replaced text is one detail, with the reason', () => {
  const events = replyTo([{ event: 'message_replace', answer: 'no', reason: 'moderation' }])
  expect(events).toMatchObject([{ type: 'replace', text: 'no' }])
  expect(detailsIn(events)).toEqual([{ type: 'replaced', status: 'moderation', data: { text: 'no' } }])
})

test.each([
  [
    400,
    { code: 'invalid_param', message: 'Too many requests. Please try again later.' },
    'agent_rate_limited',
  ],
  [400, { code: 'invalid_param', message: 'Run failed: [openai] 400' }, 'agent_error'],
  [400, { code: 'invalid_param', message: 'Run failed: [azure] 400 content_filter' }, 'content_filtered'],
  [400, { code: 'invalid_param', message: 'Arg user must be provided.' }, 'agent_rejected_input'],
  [400, { errors: { query: 'Missing' }, message: 'Input payload validation failed' }, 'agent_rejected_input'],
  [400, { code: 'not_workflow_app' }, 'agent_misconfigured'],
  [400, { code: 'agent_not_published' }, 'agent_misconfigured'],
  [400, { code: 'provider_not_initialize' }, 'agent_misconfigured'],
  [400, { code: 'model_currently_not_support' }, 'agent_misconfigured'],
  [400, { code: 'provider_quota_exceeded' }, 'agent_quota'],
  [400, { code: 'completion_request_error' }, 'agent_error'],
  [400, { code: 'conversation_completed' }, 'conversation_not_found'],
  [
    404,
    { code: 'not_found', message: 'Conversation Not Exists. You have requested this URI [/v1]' },
    'conversation_not_found',
  ],
  [404, { code: 'not_found', message: 'Workflow not found' }, 'agent_misconfigured'],
  [413, { code: 'file_too_large' }, 'agent_rejected_input'],
  [415, { code: 'unsupported_file_type' }, 'agent_rejected_input'],
  [429, { code: 'rate_limit_error' }, 'agent_rate_limited'],
  [429, 'error code: 1015', 'agent_rate_limited'],
  [500, { code: 'internal_server_error' }, 'agent_error'],
  [502, '<html>nginx</html>', 'agent_error'],
])('status %i with %j is %s', (status, body, reason) => {
  expect(dify.toFailure(status, body, noHeader).reason).toBe(reason)
})

test("the probe uses an app's key if the agent has none", () => {
  const { apiKey: _, ...keyless } = agentFor(dify)
  const app = { id: 'a', name: 'A', default: false, apiKey: 'key-of-app', options: {} }
  expect(dify.probe({ ...keyless, apps: [app] }).request.headers.authorization).toBe('Bearer key-of-app')
})

test('the message of a validation error is taken from its field', () => {
  const body = { errors: { query: 'Missing required parameter' }, message: 'Input payload validation failed' }
  expect(dify.toFailure(400, body, noHeader).message).toBe('Missing required parameter')
})

test('the probe detects an app of another kind than configured', () => {
  const info = bodyOf(transcriptNamed('dify/info.txt'))
  expect(dify.probe(agentFor(dify)).read(200, info, noHeader)).toEqual({ ok: 'available' })
  expect(dify.probe(agentFor(dify, { options: { mode: 'workflow' } })).read(200, info, noHeader)).toEqual({
    failure: { reason: 'agent_misconfigured', platformStatus: 200, platformCode: 'mode advanced-chat' },
  })
  expect(dify.probe(agentFor(dify)).read(401, { code: 'unauthorized' }, noHeader)).toMatchObject({
    failure: { reason: 'agent_credentials' },
  })
})
