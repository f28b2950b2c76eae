import { expect, test } from 'vitest'
import { detailsIn } from '#core/agents/chat-events.test-support.ts'
import { agentFor, callOf, textSent } from '#core/agents/transcripts.test-support.ts'
import { agentFile, describeFile } from '#core/agents/translate/agent-file.ts'
import { objectOf, parseJson } from '#core/base/values/json.ts'
import { openai } from './adapter.ts'

const agent = agentFor(openai, { baseUrl: 'https://o.example/v1', options: { model: 'qwen3' } })
const noHeader = () => undefined

function bodySent(overrides: Partial<Parameters<typeof openai.start>[0]>) {
  return JSON.parse(textSent(openai.buildRequest(callOf(agent, overrides))))
}

function replyTo(frames: readonly unknown[], event?: string) {
  const state = openai.start(callOf(agent))
  return frames.flatMap((frame) =>
    openai.translate({ event, data: typeof frame === 'string' ? frame : JSON.stringify(frame) }, state),
  )
}

function chunkOf(delta: object, finish_reason: string | null = null) {
  return { choices: [{ index: 0, delta, finish_reason }] }
}

test.each(['', '/', '/chat/completions'])('the base URL may end with %j', (suffix) => {
  const { url } = openai.buildRequest(callOf(agentFor(openai, { baseUrl: `https://o.example/v1${suffix}` })))
  expect(url).toBe('https://o.example/v1/chat/completions')
})

test('streams only if the client does, and then requests the usage', () => {
  expect(bodySent({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  expect(bodySent({ stream: false })).toMatchObject({ stream: false })
  expect(bodySent({ stream: false })).not.toHaveProperty('stream_options')
})

test("an app's model and key take precedence over its agent's", () => {
  const app = {
    id: 'big',
    name: 'Big',
    default: false,
    apiKey: 'key-of-app',
    options: { model: 'qwen3-235b' },
  }
  const request = openai.buildRequest(callOf(agent, { app }))
  expect(JSON.parse(textSent(request)).model).toBe('qwen3-235b')
  expect(request.headers.authorization).toBe('Bearer key-of-app')
})

test('a server without a key gets no credentials', () => {
  const { apiKey: _, ...keyless } = agent
  expect(openai.buildRequest(callOf(keyless)).headers).not.toHaveProperty('authorization')
})

test("passes on the client's messages and parameters, but sets model and user itself", () => {
  const messages = [
    { role: 'assistant', content: null, extra: { tool_calls: [{ id: 't' }] } },
    { role: 'tool', content: '21', extra: { tool_call_id: 't' } },
  ]
  const parameters = { temperature: 0.5, tools: [{ type: 'function' }], model: 'other', user: 'other' }
  expect(bodySent({ messages, parameters })).toMatchObject({
    model: 'qwen3',
    user: '0123456789abcdefghij',
    temperature: 0.5,
    tools: [{ type: 'function' }],
    messages: [
      { role: 'assistant', content: null, tool_calls: [{ id: 't' }] },
      { role: 'tool', content: '21', tool_call_id: 't' },
    ],
  })
})

test('a query with files is one message of parts', () => {
  const files = ['https://x.example/a.webp', 'https://x.example/b.pdf']
  expect(bodySent({ files: files.map(agentFile) }).messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image_url', image_url: { url: files[0] } },
        { type: 'file', file: { filename: 'b.pdf', file_data: files[1] } },
      ],
    },
  ])
})

test('files may be data URLs', () => {
  expect(openai.takesDataUrls).toBe(true)
  const url = 'data:application/pdf;base64,YWJj'
  const files = ['a.png', 'b.pdf', 'c.mp3'].map((name) => ({ ...describeFile(name), url }))
  const [, ...parts] = bodySent({ files }).messages[0].content
  expect(parts).toEqual([
    { type: 'image_url', image_url: { url } },
    { type: 'file', file: { filename: 'b.pdf', file_data: url } },
    { type: 'file', file: { filename: 'c.mp3', file_data: url } },
  ])
})

test.each(['reasoning_content', 'reasoning'])('reads reasoning from %s', (field) => {
  expect(replyTo([chunkOf({ [field]: 'hm' })])).toEqual([{ type: 'reasoning', text: 'hm' }])
})

test('empty deltas, repeated roles, null contents and chunks without choices yield nothing', () => {
  const frames = [chunkOf({}), chunkOf({ role: 'assistant', content: '' }), chunkOf({ content: null }), {}]
  expect(replyTo(frames)).toEqual([])
})

test('reports the model once', () => {
  expect(replyTo([{ model: 'm' }, { model: 'm' }, { model: '' }])).toEqual([{ type: 'model', model: 'm' }])
})

test('passes on the deltas of tool calls', () => {
  const tool_calls = [{ index: 0, id: 't', function: { name: 'f', arguments: '{' } }]
  expect(replyTo([chunkOf({ tool_calls }), chunkOf({}, 'tool_calls')])).toEqual([
    {
      type: 'tool_calls',
      delta: [{ index: 0, id: 't', type: 'function', function: { name: 'f', arguments: '{' } }],
    },
    { type: 'end', reason: 'tool_calls' },
  ])
})

test('tool calls of a blocking reply get the index that deltas would have', () => {
  const message = { content: null, tool_calls: [{ id: 'a' }, { id: 'b' }] }
  const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  expect(openai.translateBody(body, openai.start(callOf(agent)))).toContainEqual({
    type: 'tool_calls',
    delta: [
      { index: 0, id: 'a', type: 'function', function: { arguments: '' } },
      { index: 1, id: 'b', type: 'function', function: { arguments: '' } },
    ],
  })
})

test.each([
  ['an ordinary end', [chunkOf({}, 'stop')], true],
  ['a cut', [{ choices: [{ unknown: 'text', finish_reason: 'length' }] }], true],
  ['no choice at all', ['[DONE]'], false],
  ['a field that is unread', [chunkOf({ blocks: [{ words: 'a' }] }), chunkOf({}, 'stop')], false],
  ['more tokens than one', [chunkOf({}, 'stop'), counted(2)], false],
  ['one token, which ends it', [chunkOf({}, 'stop'), counted(1)], true],
  ['tokens of reasoning', [chunkOf({ reasoning: 'hm' }), chunkOf({}, 'stop'), counted(9)], true],
  [
    'a stop sequence at its beginning',
    [{ choices: [{ delta: {}, finish_reason: 'stop', stop_reason: '###' }] }, counted(3)],
    true,
  ],
])('an empty reply with %s is a reply: %#', (_what, frames, mayBeEmpty) => {
  expect(mayBeEmptyAfter(frames)).toBe(mayBeEmpty)
})

test('after the result of a tool and with stop sequences an empty reply is one, whatever its tokens', () => {
  const frames = [chunkOf({}, 'stop'), counted(9)]
  const messages = [{ role: 'tool', content: '21' }]
  expect(mayBeEmptyAfter(frames, { messages })).toBe(true)
  expect(mayBeEmptyAfter(frames, { parameters: { stop: ['###'] } })).toBe(true)
  expect(mayBeEmptyAfter([chunkOf({ blocks: 'a' }), ...frames], { messages })).toBe(false)
})

function counted(completion_tokens: number) {
  return { choices: [], usage: { prompt_tokens: 1, completion_tokens } }
}

function mayBeEmptyAfter(
  frames: readonly unknown[],
  call: Partial<Parameters<typeof openai.start>[0]> = {},
): boolean | undefined {
  const state = openai.start(callOf(agent, call))
  const events = frames.flatMap((frame) =>
    openai.translate(
      { event: undefined, data: typeof frame === 'string' ? frame : JSON.stringify(frame) },
      state,
    ),
  )
  const end = events.findLast((event) => event.type === 'end')
  const usage = events.find((event) => event.type === 'usage')?.usage
  const hasReasoning = events.some(({ type }) => type === 'reasoning')
  return end && openai.mayBeEmpty?.(state, { reason: end.reason, usage, hasReasoning })
}

test('the likelihood of tokens is passed on if it was asked for', () => {
  const logprobs = { content: [{ token: 'a', logprob: -0.1 }] }
  const chunk = { choices: [{ index: 0, delta: { content: 'a' }, logprobs }] }
  const translate = (parameters: object) =>
    openai.translate(
      { event: undefined, data: JSON.stringify(chunk) },
      openai.start(callOf(agent, { parameters: { ...parameters } })),
    )
  expect(translate({ logprobs: true })).toEqual([
    { type: 'text', text: 'a' },
    { type: 'logprobs', logprobs },
  ])
  expect(translate({})).toEqual([{ type: 'text', text: 'a' }])
})

test('citations are passed on once, and are sources for those who asked for details', () => {
  const found = { title: 'A page', url: 'https://x.example/a', date: '2026-01-01' }
  const chunk = { ...chunkOf({ content: 'a' }), citations: [found.url], search_results: [found] }
  const events = replyTo([chunk, chunk])
  expect(events.filter(({ type }) => type === 'citations')).toEqual([
    { type: 'citations', top: { citations: [found.url], search_results: [found] }, annotations: [] },
  ])
  expect(detailsIn(events)).toEqual([
    {
      type: 'sources',
      data: { items: [{ title: found.title, url: found.url }] },
      raw: { citations: [{ date: found.date }] },
    },
  ])
  const annotations = [{ type: 'url_citation', url_citation: { title: 'A page', url: found.url } }]
  expect(detailsIn(replyTo([chunkOf({ annotations })]))).toEqual([
    { type: 'sources', data: { items: [{ title: 'A page', url: found.url }] } },
  ])
})

test('citations have no credentials in their URLs, and texts about addresses stay as they are', () => {
  const item = (url: string) => ({
    title: 'ada@x.example',
    url,
    snippet: 'https://a:b@x.example is no place',
  })
  const citationOf = (url: string) => ({ type: 'url_citation', url_citation: { title: 'A page', url } })
  const [given, shown] = ['https://ada:secret@x.example/a', 'https://x.example/a']
  const events = replyTo([
    {
      ...chunkOf({ content: 'a', annotations: [citationOf(given)] }),
      citations: [given],
      search_results: [item(given)],
    },
  ])
  expect(events.filter(({ type }) => type === 'citations')).toEqual([
    {
      type: 'citations',
      top: { citations: [shown], search_results: [item(shown)] },
      annotations: [citationOf(shown)],
    },
  ])
  expect(detailsIn(events)).toMatchObject([{ data: { items: [{ url: shown }, { url: shown }] } }])
})

test.each([
  ['in the choice', { choices: [{ delta: {}, usage: { prompt_tokens: 1, completion_tokens: 2 } }] }],
  [
    'in a place of its own',
    { choices: [{ delta: {} }], x_groq: { usage: { prompt_tokens: 1, total_tokens: 3 } } },
  ],
  ['under other names', { choices: null, usage: { input_tokens: 1, output_tokens: 2 } }],
])('usage is found %s', (_where, chunk) => {
  expect(replyTo([chunk])).toEqual([
    { type: 'usage', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
  ])
})

test('the tokens of a failed reply count as well', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2 }
  expect(replyTo([{ choices: [{ delta: {}, finish_reason: 'error' }], usage }])).toMatchObject([
    { type: 'usage' },
    { type: 'error', failure: { reason: 'agent_error', platformCode: 'error' } },
  ])
})

test('frames that differ in their text alone are read alike, until one differs in more', () => {
  const text = 'abcdef'
  const frames = [...text].map((content) => chunkOf({ content }))
  const odd = {
    choices: [{ index: 0, delta: { content: 'g' }, finish_reason: null, error: { message: 'x' } }],
  }
  expect(replyTo([...frames, chunkOf({ content: '' }), chunkOf({ content: 'g' }), odd])).toMatchObject([
    ...[...text, 'g'].map((each) => ({ type: 'text', text: each })),
    { type: 'error' },
  ])
  const models = [...text].map((model) => ({ model, ...chunkOf({ content: 'x' }) }))
  expect(replyTo(models).filter(({ type }) => type === 'text')).toEqual(
    [...text].map(() => ({ type: 'text', text: 'x' })),
  )
})

test('reads the first choice only', () => {
  const choices = [
    { index: 1, delta: { content: 'second' } },
    { index: 0, delta: { content: 'first' } },
  ]
  expect(replyTo([{ choices }])).toEqual([{ type: 'text', text: 'first' }])
})

test('usage on every chunk or after the end is reported each time', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  expect(replyTo([chunkOf({}, 'stop'), { choices: [], usage }])).toEqual([
    { type: 'end', reason: 'stop' },
    { type: 'usage', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
  ])
})

test('[DONE] is an end, and follows an error as well', () => {
  expect(replyTo([chunkOf({ content: 'a' }), '[DONE]']).at(-1)).toEqual({ type: 'end', reason: 'stop' })
  expect(replyTo([{ error: { message: 'x' } }, '[DONE]'])[0]).toEqual({
    type: 'error',
    failure: { reason: 'agent_error' },
  })
})

test.each([
  ['an object', { error: { message: 'x', code: 'content_filter' } }, 'content_filtered'],
  ['a text', { error: 'out of memory' }, 'agent_error'],
  ['flat', { object: 'error', message: 'x', code: 400 }, 'agent_rejected_input'],
  ['typed', { error: { message: 'x', type: 'invalid_request_error' } }, 'agent_rejected_input'],
  ['limited', { error: { message: 'x', type: 'rate_limit_error' } }, 'agent_rate_limited'],
])('an error in a stream may be %s', (_form, frame, reason) => {
  expect(replyTo([frame])).toMatchObject([{ type: 'error', failure: { reason } }])
})

test('an error may be marked by the event name alone', () => {
  expect(replyTo([{ message: 'x', code: 500 }], 'error')).toMatchObject([
    { failure: { reason: 'agent_error' } },
  ])
})

test('an object without anything in it is no choice', () => {
  const state = openai.start(callOf(agent))
  openai.translate({ event: undefined, data: '{"choices":{}}' }, state)
  expect(openai.mayBeEmpty?.(state, { reason: 'stop', hasReasoning: false, usage: undefined })).toBe(false)
})

test.each([
  [chunkOf({ error: { message: 'x' } })],
  [{ choices: [{ index: 0, message: { content: '', error: 'x' } }] }],
  [{ choices: [], base_resp: { status_code: 1013, status_msg: 'x' } }],
])('%j is an error', (frame) => {
  expect(replyTo([frame])).toMatchObject([{ type: 'error' }])
})

test.each([
  [{ choices: [{ index: 0, delta: { finish_reason: 'error' } }] }, 'error'],
  [{ choices: [], finish_reason: 'length' }, 'end'],
  [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'abort' }] }, 'error'],
  [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'odd' }] }, 'end'],
])('%j reports an end', (frame, type) => {
  expect(replyTo([frame])).toMatchObject([{ type }])
})

test('frames that differ in one text alone mean it as what they had before: text or reasoning', () => {
  const pieces = ['reasoning_content', 'content', 'reasoning', 'refusal', 'content'].flatMap((name) =>
    ['a', 'b', 'c', 'd', 'e'].map((word) => [name, word] as const),
  )
  const events = replyTo(pieces.map(([name, word]) => chunkOf({ [name]: word })))
  expect(events).toEqual(
    pieces.map(([name, text]) => ({ type: name.startsWith('reasoning') ? 'reasoning' : 'text', text })),
  )
})

test.each(['[DONE]', ' [DONE] ', '"[DONE]"', '[done]'])('%j is an end', (data) => {
  expect(replyTo([data])).toEqual([{ type: 'end', reason: 'stop' }])
})

test('of messages that grow only what is new is passed on, before their end', () => {
  const message = (content: string, more: object = {}, finish_reason: string | null = null) => ({
    choices: [{ index: 0, message: { role: 'assistant', content, ...more }, finish_reason }],
  })
  const END = { type: 'end', reason: 'stop' }
  const textsOf = (frames: readonly unknown[]) =>
    replyTo(frames).map((event) => (event.type === 'text' ? event.text : event))
  expect(textsOf([message('On'), message('On the'), message('On the shelf', {}, 'stop')])).toEqual([
    'On',
    ' the',
    ' shelf',
    END,
  ])
  expect(textsOf([message('1'), message('1'), message('', {}, 'stop')])).toEqual(['1', '1', END])
  expect(textsOf([message('1'), message('1'), '[DONE]'])).toEqual(['1', '1', END])
  const call = (args: string) => message('', { tool_calls: [{ function: { name: 'f', arguments: args } }] })
  const calls = replyTo(['{"a', '{"a":1}', '{"a":1}'].map(call)).flatMap((event) =>
    event.type === 'tool_calls' ? event.delta : [],
  )
  expect(calls).toMatchObject([
    { index: 0, function: { name: 'f', arguments: '{"a' } },
    { index: 0, function: { arguments: '":1}' } },
    { index: 0 },
  ])
  expect(calls[2]).not.toHaveProperty('function.arguments')
})

test('an empty answer is none if the server counts its tokens, also without those of the question', () => {
  const state = openai.start(callOf(agent))
  const frame = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { output_tokens: 9 } }
  openai.translate({ event: undefined, data: JSON.stringify(frame) }, state)
  const reply = { reason: 'stop', hasReasoning: false, usage: undefined } as const
  expect(openai.mayBeEmpty?.(state, reply)).toBe(false)
})

test.each([
  [400, { code: 'context_length_exceeded' }, 'agent_rejected_input'],
  [400, { code: 'content_policy_violation' }, 'content_filtered'],
  [401, { code: 'invalid_api_key' }, 'agent_credentials'],
  [402, { message: 'Insufficient Balance' }, 'agent_quota'],
  [403, { code: 'unsupported_country' }, 'agent_misconfigured'],
  [403, { code: 'invalid_api_key' }, 'agent_credentials'],
  [404, { code: 'model_not_found' }, 'agent_misconfigured'],
  [413, {}, 'agent_rejected_input'],
  [422, { detail: [{ loc: ['body'] }] }, 'agent_rejected_input'],
  [429, { code: 'insufficient_quota' }, 'agent_quota'],
  [429, { type: 'requests' }, 'agent_rate_limited'],
  [500, { type: 'server_error' }, 'agent_error'],
  [503, {}, 'agent_error'],
])('status %i with %j is %s', (status, error, reason) => {
  expect(openai.toFailure(status, { error }, noHeader).reason).toBe(reason)
  expect(openai.toFailure(status, error, noHeader).reason).toBe(reason)
})

test('the fields that the gateway adds are left out if the entry or a refusal says so, but not those of the caller', () => {
  const sentBy = (omit: ('stream_options' | 'user')[], call: Partial<Parameters<typeof openai.start>[0]>) => {
    const made = callOf(agentFor(openai, { options: { omit } }), call)
    const request = openai.buildRequest(made)
    const body = objectOf(parseJson(textSent(request)))
    const sent = ['stream_options', 'user'].filter((field) => field in body)
    return [sent, request.addedFields]
  }
  const both = ['stream_options', 'user']
  expect(sentBy([], {})).toEqual([both, both])
  expect(sentBy([], { stream: false })).toEqual([['user'], ['user']])
  expect(sentBy(['user'], {})).toEqual([['stream_options'], ['stream_options']])
  expect(sentBy([], { refusedFields: ['stream_options'] })).toEqual([['user'], ['user']])
  expect(sentBy([], { sentFields: ['user'] })).toEqual([both, ['stream_options']])
  expect(sentBy([], { refusedFields: both, sentFields: ['user'] })).toEqual([['user'], []])
  expect(sentBy(['stream_options', 'user'], { sentFields: ['user'] })).toEqual([['user'], []])
})

test('a refusal of these fields says that nothing was taken, and only by its form', () => {
  const error = { message: 'Unknown parameter: user', param: 'user' }
  expect(openai.toFailure(422, { error }, noHeader)).toMatchObject({ turn: 'none', refusedFields: ['user'] })
  for (const status of [404, 500]) {
    expect(openai.toFailure(status, { error }, noHeader)).not.toHaveProperty('refusedFields')
  }
})

test('keeps the code, the request id and the retry delay of an error', () => {
  const header = (name: string) => ({ 'x-request-id': 'req_1', 'retry-after': '900' })[name]
  const error = { code: 'rate_limit_exceeded', message: 'Limit of org-1 reached' }
  expect(openai.toFailure(429, { error }, header)).toEqual({
    reason: 'agent_rate_limited',
    retryAfterSeconds: 59,
    platformStatus: 429,
    platformCode: 'rate_limit_exceeded',
    platformLogId: 'req_1',
  })
})

test('the message of a caller names the field that a validator refuses', () => {
  const detail = [{ loc: ['body', 'messages', 0, 'content'], msg: 'Field required', type: 'missing' }]
  for (const body of [{ detail }, { message: { detail } }, { error: { message: { detail } } }]) {
    expect(openai.toFailure(422, body, noHeader).message).toBe('messages.0.content: Field required')
  }
})

test("the message of a caller's error is reduced to one sanitized line", () => {
  const message = 'Too long\nfor sk-proj-abc123; see https://o.example/docs'
  expect(openai.toFailure(400, { error: { message } }, noHeader).message).toBe('Too long for …; see …')
})

test.each([
  [200, { data: [] }, { ok: 'available' }],
  [404, { detail: 'Not Found' }, { ok: 'degraded' }],
  [429, { error: {} }, { ok: 'degraded' }],
  [401, { error: { code: 'invalid_api_key' } }, { failure: { reason: 'agent_credentials' } }],
  [200, '<html>', { failure: { reason: 'agent_error' } }],
  [404, '<html>', { failure: { reason: 'agent_error' } }],
])('a probe answered with %i and %j is %j', (status, body, result) => {
  expect(openai.probe(agent).read(status, body, noHeader)).toMatchObject(result)
})

test('the probe lists the models', () => {
  expect(openai.probe(agent).request).toMatchObject({ method: 'GET', url: 'https://o.example/v1/models' })
})
