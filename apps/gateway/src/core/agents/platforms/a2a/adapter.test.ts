import { describe, expect, test } from 'vitest'
import type { Agent, HelperCall } from '#core/agents/adapter.ts'
import { detailsIn } from '#core/agents/chat-events.test-support.ts'
import type { Pause } from '#core/agents/pause.ts'
import { agentFor, callOf, fold, textSent, transcriptNamed } from '#core/agents/transcripts.test-support.ts'
import { a2a } from './adapter.ts'
import type { A2aCard } from './card.ts'

type Call = Parameters<typeof a2a.buildRequest>[0]
const URL_OF_AGENT = 'https://agents.example.com/a'
const CARDS: Readonly<Record<string, A2aCard>> = {
  http: { url: URL_OF_AGENT, dialect: 'http', streams: true },
  rpc: { url: URL_OF_AGENT, dialect: 'rpc', streams: true },
  former: { url: URL_OF_AGENT, dialect: 'rpc-0.3', streams: true },
}
const agent = agentFor(a2a) as Agent as Call['agent']
const callTo = (card: A2aCard | undefined, more: Partial<Call> = {}): Call => ({
  ...(callOf(agent) as Call),
  callId: 'call-1',
  ...(card !== undefined && { card }),
  ...more,
})
const sent = (call: Call) => {
  const { method, url, headers, ...request } = a2a.buildRequest(call)
  return { method, url, headers, body: JSON.parse(textSent(request)) }
}
const headerless = () => undefined
const PAUSE = {
  question: 'Which?',
  options: [],
  fields: [],
  takesText: true,
  resume: { taskId: 'task-1', contextId: 'context-1', passed: [['artifact-1', 4, 1, 'Wait']] },
}

describe('the message', () => {
  test('is sent by HTTP, by JSON-RPC and in the form of 0.3, with the version of each', () => {
    expect(sent(callTo(CARDS.http))).toEqual({
      method: 'POST',
      url: `${URL_OF_AGENT}/message:stream`,
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        accept: 'text/event-stream, application/a2a+json, application/json',
        authorization: 'Bearer key-of-agent',
      },
      body: { message: { messageId: 'call-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } },
    })
    expect(sent(callTo(CARDS.rpc))).toMatchObject({
      url: URL_OF_AGENT,
      headers: { 'a2a-version': '1.0' },
      body: { jsonrpc: '2.0', method: 'SendStreamingMessage', params: { message: { role: 'ROLE_USER' } } },
    })
    expect(sent(callTo(CARDS.former))).toMatchObject({
      headers: { 'a2a-version': '0.3' },
      body: {
        method: 'message/stream',
        params: { message: { kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'hello' }] } },
      },
    })
  })

  test('is sent without a stream to an agent that has none', () => {
    const methods = Object.values(CARDS).map((card) => sent(callTo({ ...card, streams: false })))
    expect(methods.map(({ url, body }) => body.method ?? url)).toEqual([
      `${URL_OF_AGENT}/message:send`,
      'SendMessage',
      'message/send',
    ])
  })

  test('names its tenant, and brings the key in the header that the card names', () => {
    const own = { tenant: 'acme/1', keyHeader: 'x-api-key' }
    const { url, headers } = sent(callTo({ ...CARDS.http, ...own } as A2aCard))
    expect([url, headers['x-api-key'], headers.authorization]).toEqual([
      `${URL_OF_AGENT}/acme%2F1/message:stream`,
      'key-of-agent',
      undefined,
    ])
    expect(sent(callTo({ ...CARDS.rpc, ...own } as A2aCard)).body.params.tenant).toBe('acme/1')
  })

  test('goes on in the conversation of the agent', () => {
    const { body } = sent(callTo(CARDS.http, { platformConversationId: 'context-1' }))
    expect(body.message).toMatchObject({ contextId: 'context-1' })
    expect(body.message).not.toHaveProperty('taskId')
  })

  test('has files and variables as parts of both versions', () => {
    const files = [
      { url: 'https://files.example.com/a.pdf', name: 'a.pdf', kind: 'document' as const },
      { url: 'data:image/png;base64,AAAA', name: 'b.png', kind: 'image' as const },
    ]
    const call = { files, variables: { size: 3 } }
    expect(sent(callTo(CARDS.http, call)).body.message.parts).toEqual([
      { text: 'hello' },
      { data: { size: 3 }, mediaType: 'application/json' },
      { url: 'https://files.example.com/a.pdf', filename: 'a.pdf' },
      { raw: 'AAAA', filename: 'b.png', mediaType: 'image/png' },
    ])
    expect(sent(callTo(CARDS.former, call)).body.params.message.parts).toEqual([
      { kind: 'text', text: 'hello' },
      { kind: 'data', data: { size: 3 } },
      { kind: 'file', file: { uri: 'https://files.example.com/a.pdf', name: 'a.pdf' } },
      { kind: 'file', file: { bytes: 'AAAA', name: 'b.png', mimeType: 'image/png' } },
    ])
  })

  test.each([
    ['a text', { fields: {}, text: 'the blue one' }, { text: 'the blue one' }],
    ['the values of a form', { fields: { approved: true }, text: '' }, { data: { approved: true } }],
    [
      'a text that is a JSON object',
      { fields: {}, text: '{"approved":false}' },
      { data: { approved: false } },
    ],
    ['a text that is other JSON', { fields: {}, text: '7' }, { text: '7' }],
  ])('answers a pause in its task: %s', (_name, given, part) => {
    const { body } = sent(callTo(CARDS.http, { answer: { ...given, pause: PAUSE, waiting: [] } }))
    expect(body.message).toMatchObject({ taskId: 'task-1', contextId: 'context-1', parts: [part] })
  })
})

const stateOf = (more: Partial<Call> = {}) => a2a.start(callTo(CARDS.http, more))
const frame = (value: object) => ({ event: undefined, data: JSON.stringify(value) })
const textsOf = (events: readonly { type: string }[]) => events.filter(({ type }) => type !== 'detail')
const task = (state: string, texts: readonly string[], more: object = {}) => ({
  task: {
    id: 'task-1',
    contextId: 'context-1',
    status: { state: `TASK_STATE_${state}` },
    artifacts: [{ artifactId: 'artifact-1', parts: texts.map((text) => ({ text })) }],
    ...more,
  },
})
const piece = (text: string, more: object = {}) => ({
  artifactUpdate: {
    taskId: 'task-1',
    contextId: 'context-1',
    artifact: { artifactId: 'artifact-1', parts: [{ text }] },
    ...more,
  },
})

describe('the reply', () => {
  test('to an answer leaves out what was part of the reply before the pause', () => {
    const state = stateOf({ answer: { fields: {}, text: 'blue', pause: PAUSE, waiting: [] } })
    expect(textsOf(a2a.translate(frame(task('INPUT_REQUIRED', ['Wait'])), state))).toEqual([])
    expect(textsOf(a2a.translate(frame(piece(' Blue.', { append: true })), state))).toEqual([
      { type: 'text', text: ' Blue.' },
    ])
    expect(textsOf(a2a.translate(frame(task('COMPLETED', ['Wait', ' Blue.'])), state))).toEqual([
      { type: 'end', reason: 'stop' },
    ])
  })

  test('to an answer without a stream has the same, and may pause again', () => {
    const state = stateOf({ answer: { fields: {}, text: 'blue', pause: PAUSE, waiting: [] } })
    const asks = { status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'And?' }] } } }
    const events = textsOf(a2a.translateBody(task('', ['Wait', ' Blue.'], asks), state))
    expect(events).toMatchObject([
      { type: 'text', text: ' Blue.' },
      {
        type: 'pause',
        pause: { question: 'And?', resume: { passed: [['artifact-1', 10, 1, 'Wait Blue.']] } },
      },
      { type: 'end' },
    ])
  })

  test('to an answer has the whole of an artifact that the agent has put in the place of the one before', () => {
    const other = ['The tool says: ', 'done']
    const ask = () => stateOf({ answer: { fields: {}, text: 'blue', pause: PAUSE, waiting: [] } })
    const cutAmid = ask()
    a2a.translate(frame(task('WORKING', ['Wait'])), cutAmid)
    const begun = textsOf(a2a.translate(frame(piece('The tool ')), cutAmid))
    const rest = textsOf(a2a.translateBody(task('COMPLETED', other), cutAmid))
    expect([...begun, ...rest]).toEqual([
      { type: 'text', text: 'The tool ' },
      { type: 'text', text: 'says: done' },
      { type: 'end', reason: 'stop' },
    ])
    expect(textsOf(a2a.translateBody(task('COMPLETED', other), ask()))).toEqual([
      { type: 'text', text: 'The tool says: done' },
      { type: 'end', reason: 'stop' },
    ])
  })

  test('grows where an agent sends an artifact anew with more text, and is replaced by another text', () => {
    const state = stateOf()
    const read = (update: object) => textsOf(a2a.translate(frame(update), state))
    expect(read(piece('Hel'))).toEqual([{ type: 'text', text: 'Hel' }])
    expect(read(piece('Hello'))).toEqual([{ type: 'text', text: 'lo' }])
    expect(read(piece('Sorry'))).toEqual([{ type: 'replace', text: 'Sorry' }])
    expect(read(piece('.', { append: true }))).toEqual([{ type: 'text', text: '.' }])
  })

  test('with more artifacts than anybody reads is malformed, so that it cannot fill the memory', () => {
    const state = stateOf()
    const empty = (index: number) => ({
      artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: `a${index}`, parts: [] } },
    })
    for (let index = 0; index < 1_000; index += 1) a2a.translate(frame(empty(index)), state)
    expect(a2a.translate(frame(empty(1_000)), state)).toMatchObject([
      { type: 'error', failure: { reason: 'agent_malformed' } },
    ])
  })

  test('in another conversation than was asked in goes on under the first id, unless the entry is strict', () => {
    const strict = { ...agent, options: { ...agent.options, context: 'strict' } } as const
    for (const update of [
      task('WORKING', []),
      piece('Hello'),
      { message: { contextId: 'context-1', parts: [] } },
    ]) {
      const refused = stateOf({ platformConversationId: 'context-0', agent: strict })
      expect(a2a.translate(frame(update), refused)).toMatchObject([
        { type: 'error', failure: { reason: 'conversation_not_found' } },
      ])
      const state = stateOf({ platformConversationId: 'context-0' })
      expect(a2a.translate(frame(update), state)).not.toContainEqual(
        expect.objectContaining({ type: 'error' }),
      )
      expect(state).toMatchObject({
        platformConversationId: 'context-0',
        note: expect.stringContaining('another context id'),
      })
    }
  })

  test('keeps the thoughts, calls and results of ADK apart from the answer', () => {
    const adk = (adk_type: string, data: object) => ({ data, metadata: { adk_type } })
    const parts = [
      { text: 'The user asks for the capital. ', metadata: { adk_thought: true } },
      adk('function_call', { id: 'c1', name: 'look_up', args: { of: 'France' } }),
      adk('function_response', { id: 'c1', name: 'look_up', response: { secret: 'x' } }),
      { text: 'Paris.' },
    ]
    const said = task('COMPLETED', [], { artifacts: [{ artifactId: 'a', parts }] })
    const events = a2a.translate(frame(said), stateOf())
    expect(textsOf(events)).toEqual([
      { type: 'reasoning', text: 'The user asks for the capital. ' },
      { type: 'text', text: 'Paris.' },
      { type: 'end', reason: 'stop' },
    ])
    expect(detailsIn(events)).toMatchObject([
      { type: 'tool_call', id: 'c1', name: 'look_up', data: { arguments: '{"of":"France"}' } },
      { type: 'tool_result', id: 'c1', name: 'look_up', data: { output: '{"secret":"x"}' } },
    ])
    const alone = task('COMPLETED', [], { artifacts: [{ artifactId: 'a', parts: parts.slice(0, 3) }] })
    expect(textsOf(a2a.translate(frame(alone), stateOf())).map(({ type }) => type)).toEqual([
      'reasoning',
      'end',
    ])
  })

  test.each([
    [{ option: 'approve' }, { confirmed: true }],
    [{ option: 'reject' }, { confirmed: false }],
  ])('that waits for the confirmation of a tool is answered by %j as ADK reads it', (given, response) => {
    const original = { name: 'delete_file', args: { path: '/a' } }
    const args = {
      originalFunctionCall: original,
      toolConfirmation: { hint: 'Delete it?', confirmed: false },
    }
    const data = { id: 'adk-7', name: 'adk_request_confirmation', args }
    const metadata = { adk_type: 'function_call', adk_is_long_running: true }
    const status = { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ data, metadata }] } }
    const events = a2a.translate(frame(task('INPUT_REQUIRED', [], { status })), stateOf())
    const pause = events.flatMap((event) => (event.type === 'pause' ? event.pause : []))[0]
    expect(pause).toMatchObject({
      question: 'Delete it?\n\ndelete_file {"path":"/a"}',
      options: [{ id: 'approve' }, { id: 'reject' }],
      takesText: false,
    })
    const answer = { ...given, fields: {}, text: '', pause: pause as Pause, waiting: [] }
    expect(sent(callTo(CARDS.http, { answer })).body.message).toMatchObject({
      taskId: 'task-1',
      parts: [
        {
          data: { id: 'adk-7', name: 'adk_request_confirmation', response },
          metadata: { adk_type: 'function_response' },
        },
      ],
    })
  })

  test('that waits for the result of another tool of ADK takes any JSON', () => {
    const data = { id: 'adk-8', name: 'ask_manager', args: { amount: 5 } }
    const metadata = { adk_type: 'function_call', adk_is_long_running: true }
    const status = { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ data, metadata }] } }
    const events = a2a.translate(frame(task('INPUT_REQUIRED', [], { status })), stateOf())
    const pause = events.flatMap((event) => (event.type === 'pause' ? event.pause : []))[0] as Pause
    expect(pause).toMatchObject({ question: 'ask_manager {"amount":5}', options: [], takesText: true })
    const responseTo = (given: object) => {
      const answer = { fields: {}, text: '', ...given, pause, waiting: [] }
      return sent(callTo(CARDS.http, { answer })).body.message.parts[0].data.response
    }
    expect(responseTo({ text: 'fine' })).toEqual({ result: 'fine' })
    expect(responseTo({ text: '{"status":"approved"}' })).toEqual({ status: 'approved' })
    expect(responseTo({ value: false })).toEqual({ result: false })
  })

  test('has its interleaved artifacts one after the other where it is one text', () => {
    const of = (artifactId: string, text: string) => ({
      artifactUpdate: { taskId: 'task-1', append: true, artifact: { artifactId, parts: [{ text }] } },
    })
    const updates = [
      of('a', 'Red '),
      of('b', 'Blue '),
      of('a', 'wine.'),
      of('b', 'sky.'),
      task('COMPLETED', [], { artifacts: [] }),
    ]
    const wholeOf = (stream: boolean) => {
      const state = stateOf({ stream })
      return fold(updates.flatMap((update) => a2a.translate(frame(update), state))).text
    }
    expect(wholeOf(false)).toBe('Red wine.\n\nBlue sky.')
    expect(wholeOf(true)).toBe('Red \n\nBlue wine.sky.')
  })

  test('is read where each frame begins with a record separator', () => {
    const { event, data } = frame(task('COMPLETED', ['Hello']))
    expect(textsOf(a2a.translate({ event, data: `\u001e${data}` }, stateOf()))).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'end', reason: 'stop' },
    ])
  })

  test('that fails inside the agent is not the fault of its caller, whatever the status', () => {
    const body = { error: { code: -32603, message: 'Internal error' } }
    expect(a2a.toFailure(400, body, headerless).reason).toBe('agent_error')
  })

  test('that waits for a sign-in fails, and one that asks nothing asks for further input', () => {
    expect(a2a.translate(frame(task('AUTH_REQUIRED', [])), stateOf())).toMatchObject([
      { type: 'error', failure: { reason: 'agent_requires_action' } },
    ])
    expect(textsOf(a2a.translate(frame(task('INPUT_REQUIRED', [])), stateOf()))).toMatchObject([
      { type: 'pause', pause: { question: 'The agent waits for further input.' } },
      { type: 'end' },
    ])
  })

  test.each([
    ['of a sign-in that its model lacks', 'invalid api key', 'agent_error'],
    ['of a rate limit', 'Rate limit reached, 3 requests per minute', 'agent_rate_limited'],
    ['of a filter', 'The content was flagged by moderation', 'content_filtered'],
    ['without a reason', '', 'agent_error'],
  ])('of a task that has failed because %s', (_name, text, reason) => {
    const status = { state: 'TASK_STATE_FAILED', message: { parts: [{ text }] } }
    expect(a2a.translate(frame(task('', [], { status })), stateOf())).toMatchObject([
      { type: 'error', failure: { reason } },
    ])
  })
})

describe('what is asked beside a message', () => {
  const read = <Result>(call: HelperCall<Result> | undefined, status: number, body: unknown) =>
    call?.read(status, body, headerless)
  const bodyOf = (name: string) => JSON.parse(transcriptNamed(`a2a/${name}.txt`).bytes.toString())

  test('the task of a reply without a stream, which is asked for at once, until it ends', () => {
    const plain: A2aCard = { url: URL_OF_AGENT, dialect: 'http', streams: false }
    expect(sent(callTo(plain)).body.configuration).toEqual({ returnImmediately: true })
    expect(sent(callTo({ ...plain, dialect: 'rpc-0.3' })).body.params.configuration).toEqual({
      blocking: false,
    })
    const state = stateOf()
    a2a.translateBody(task('SUBMITTED', [], { artifacts: [] }), state)
    const call = a2a.conclude?.(callTo(plain), state)
    expect(read(call, 200, task('WORKING', []).task)).toEqual({ ok: 'working' })
    expect(read(call, 200, task('COMPLETED', ['Done.']).task)).toEqual({
      ok: [
        { type: 'text', text: 'Done.' },
        { type: 'end', reason: 'stop' },
      ],
    })
  })

  test('the task of a stream that was cut, if it is not over and has an id', () => {
    const state = stateOf()
    expect(a2a.conclude?.(callTo(CARDS.rpc), state)).toBeUndefined()
    a2a.translate(frame(piece('Wait')), state)
    const call = a2a.conclude?.(callTo(CARDS.rpc), state)
    expect(JSON.parse(textSent(call?.request ?? {}))).toMatchObject({
      method: 'GetTask',
      params: { id: 'task-1' },
    })
    expect(call?.withinMs).toBe(10_000)
    expect(read(call, 200, { result: task('WORKING', ['Wait', ' mo']).task })).toEqual({ ok: 'working' })
    expect(read(call, 200, { result: task('COMPLETED', ['Wait', ' more']).task })).toEqual({
      ok: [
        { type: 'text', text: ' more' },
        { type: 'end', reason: 'stop' },
      ],
    })
    expect(a2a.conclude?.(callTo(CARDS.rpc), state)).toBeUndefined()
  })

  test.each([
    ['has ended', { result: task('CANCELED', []).task }],
    ['is not known', { error: { code: -32001, message: 'Task not found' } }],
  ])('a stream that breaks off before its first frame, where the task of an answer %s', (_name, body) => {
    const call = callTo(CARDS.former, { answer: { fields: {}, text: 'blue', pause: PAUSE, waiting: [] } })
    expect(read(a2a.conclude?.(call, a2a.start(call)), 200, body)).toMatchObject({
      ok: [{ type: 'error', failure: { reason: 'pause_over' } }],
    })
  })

  test.each([
    [-32600, 'Task t is in terminal state canceled and cannot be restarted.'],
    [-32602, 'Task t is in terminal state: completed'],
    [-32004, 'No.'],
  ])('an answer that is refused with %i because its task has ended', (code, message) => {
    const call = callTo(CARDS.former, { answer: { fields: {}, text: 'blue', pause: PAUSE, waiting: [] } })
    expect(a2a.translateBody({ error: { code, message } }, a2a.start(call))).toMatchObject([
      { type: 'error', failure: { reason: 'pause_over' } },
    ])
  })

  test.each([
    ['rpc-cancel', 200, 'ok'],
    ['rpc-cancel-completed', 200, 'ok'],
    ['rpc-get-unknown', 200, 'ok'],
    ['rpc-unknown-method', 200, 'failure'],
  ])('a cancellation that is answered %s', (name, status, result) => {
    const call = a2a.stop?.(callTo(CARDS.rpc), { ...stateOf(), runId: 'task-1' })
    expect(call?.withinMs).toBe(2_000)
    expect(read(call, status, bodyOf(name))).toHaveProperty(result)
  })

  test('a cancellation needs the id of the task, which is part of the path over HTTP', () => {
    expect(a2a.stop?.(callTo(CARDS.http), stateOf())).toBeUndefined()
    const call = a2a.stop?.(callTo(CARDS.http), { ...stateOf(), runId: 'a/b' })
    expect(call?.request.url).toBe(`${URL_OF_AGENT}/tasks/a%2Fb:cancel`)
  })

  test.each<[string, number, unknown, object]>([
    ['that there is no such task', 200, bodyOf('rpc-get-unknown'), { ok: 'available' }],
    ['the same over HTTP', 404, bodyOf('http-not-found'), { ok: 'available' }],
    ['that the key is wrong', 401, { error: 'Unauthorized' }, { failure: { reason: 'agent_credentials' } }],
    ['that there is no such path', 404, {}, { ok: 'degraded' }],
    ['a page', 502, '<html>', { failure: { reason: 'agent_error' } }],
  ])('a probe that is answered %s', (_name, status, body, result) => {
    const call = a2a.probe(agent, CARDS.rpc)
    expect(read(call, status, body)).toMatchObject(result)
  })
})
