import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, framesOf, get, normalise, readJson, textOf } from '../ask.test-support.ts'
import { dataUrl, lineOf, startFileServer } from '../files.test-support.ts'
import { type Sandbox, type SandboxAgent, startSandbox } from '../index.ts'
import { asList, asRecord, asText } from '../serving/narrow.ts'

let sandbox: Sandbox
let agent: SandboxAgent
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
  agent = sandbox.agents.openai
})
afterAll(() => sandbox.close())

const HEAD = '"id":"chatcmpl-HEX","object":"chat.completion.chunk","created":TIME,"model":'

test('a stream of OpenAI with usage is a role, the text, a reason, the usage and [DONE]', async () => {
  const body = { stream_options: { include_usage: true } }
  const bytes = await (await ask.openai(agent, 'sandbox:echo 你好\n🙂', { body })).text()
  const chunk = (choices: string, usage = 'null') =>
    `data: {${HEAD}"sandbox","choices":${choices},"usage":${usage}}\n\n`
  expect(normalise(bytes)).toBe(
    [
      chunk('[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]'),
      chunk('[{"index":0,"delta":{"content":"你好"},"finish_reason":null}]'),
      chunk('[{"index":0,"delta":{"content":"\\n"},"finish_reason":null}]'),
      chunk('[{"index":0,"delta":{"content":"🙂"},"finish_reason":null}]'),
      chunk('[{"index":0,"delta":{},"finish_reason":"stop"}]'),
      chunk('[]', '{"prompt_tokens":8,"completion_tokens":3,"total_tokens":11}'),
      'data: [DONE]\n\n',
    ].join(''),
  )
})

test('without include_usage no chunk has a usage', async () => {
  expect(await (await ask.openai(agent, 'sandbox:echo x')).text()).not.toContain('usage')
})

test('Ollama sends reasoning in delta.reasoning, and an empty content at the end', async () => {
  const body = { model: 'sandbox-ollama' }
  const frames = framesOf(normalise(await (await ask.openai(agent, 'sandbox:echo 好', { body })).text()))
  const head = `{${HEAD}"sandbox-ollama","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant",`
  expect(frames.map(({ data }) => data)).toEqual([
    `${head}"content":"","reasoning":"A question about the sandbox; 简短地回答。"},"finish_reason":null}]}`,
    `${head}"content":"好"},"finish_reason":null}]}`,
    `${head}"content":""},"finish_reason":"stop"}]}`,
    '[DONE]',
  ])
})

test('vLLM sends reasoning in delta.reasoning_content', async () => {
  const bytes = await (await ask.openai(agent, 'sandbox:echo 好', { body: { model: 'sandbox-vllm' } })).text()
  expect(bytes).toContain('"delta":{"reasoning_content":"')
})

test('a blocking reply of OpenAI has the text, a reason and the usage', async () => {
  const body = await (await ask.openai(agent, 'sandbox:echo 你好', { stream: false })).text()
  expect(normalise(body)).toBe(
    '{"id":"chatcmpl-HEX","object":"chat.completion","created":TIME,"model":"sandbox","choices":[{"index":0,"message":{"role":"assistant","content":"你好","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":8,"completion_tokens":1,"total_tokens":9}}',
  )
})

test('the messages are the only context of OpenAI', async () => {
  const messages = [
    { role: 'user', content: 'My name is Ada' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'What is my name?' },
  ]
  const bytes = await (await ask.openai(agent, '', { body: { messages } })).text()
  expect(textOf('openai', bytes)).toContain('Your name is Ada')
})

test('OpenAI reads images and files from the content parts', async () => {
  await using files = await startFileServer()
  const content = [
    { type: 'text', text: 'Look' },
    { type: 'image_url', image_url: { url: `${files.origin}/y.png` } },
    { type: 'image_url', image_url: { url: dataUrl('image/png') } },
    { type: 'file', file: { filename: 'report.pdf', file_data: dataUrl('application/pdf') } },
    { type: 'file', file: { filename: 'linked.pdf', file_data: `${files.origin}/1` } },
    { type: 'image_url', image_url: { url: `${files.origin}/missing` } },
    { type: 'file', file: { file_id: 'file-1' } },
  ]
  const bytes = await (
    await ask.openai(agent, '', { body: { messages: [{ role: 'user', content }] } })
  ).text()
  expect(textOf('openai', bytes)).toContain(
    [
      'I received 6 files:',
      lineOf('y.png'),
      lineOf('data:image/png;base64,…'),
      lineOf('report.pdf'),
      lineOf('linked.pdf'),
      `- ${files.origin}/missing (not readable: status 404)`,
      '- file-1 (not readable: not an accepted URL)',
    ].join('\n'),
  )
})

test('the log of requests keeps no large files', async () => {
  const send = async (bytes: number) => {
    const url = dataUrl('image/png', Buffer.alloc(bytes))
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url } },
    ]
    await (await ask.openai(agent, '', { body: { messages: [{ role: 'user', content }] } })).text()
    return { url, logged: JSON.stringify(agent.seen.requests.at(-1)?.body) }
  }
  const small = await send(1_000)
  expect(small.logged).toContain(small.url)
  const { logged } = await send(2 * 1024 * 1024)
  expect(logged).toContain('{"type":"image_url","image_url":{"url":"data:image/png;base64,…"}}')
  expect(logged).toContain('"text":"Look"')
})

const parameters = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } }
const tools = [{ type: 'function', function: { name: 'weather', parameters } }]

test('a tool call is streamed in deltas when requested, and its result is answered', async () => {
  const asked = { role: 'user', content: 'Please use the tool' }
  const frames = framesOf(await (await ask.openai(agent, '', { body: { tools, messages: [asked] } })).text())
  const choices = frames.slice(0, -1).map(({ data }) => JSON.parse(data).choices[0])
  expect(choices[0].delta.tool_calls[0]).toMatchObject({
    type: 'function',
    function: { name: 'weather', arguments: '' },
  })
  const pieces = choices.slice(1, -1).map((choice) => choice.delta.tool_calls[0].function.arguments)
  expect(pieces.length).toBeGreaterThan(3)
  expect(JSON.parse(pieces.join(''))).toEqual({ city: '沙箱 sandbox', days: 1 })
  expect(choices.at(-1).finish_reason).toBe('tool_calls')

  const result = { role: 'tool', tool_call_id: choices[0].delta.tool_calls[0].id, content: '21℃' }
  const bytes = await (await ask.openai(agent, '', { body: { tools, messages: [asked, result] } })).text()
  expect(textOf('openai', bytes)).toContain('The tool answered: 21℃')
})

test('blocking tool calls are sent whole', async () => {
  const body = await readJson(await ask.openai(agent, 'use the tool', { stream: false, body: { tools } }))
  expect(body).toMatchObject({
    choices: [
      {
        message: {
          content: null,
          tool_calls: [{ function: { arguments: '{"city":"沙箱 sandbox","days":1}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
  })
})

test('a reply of OpenAI can finish for its length', async () => {
  expect(await (await ask.openai(agent, 'sandbox:length')).text()).toContain('"finish_reason":"length"')
})

test.each([
  ['credentials', 401, 'invalid_api_key'],
  ['quota', 429, 'insufficient_quota'],
  ['rate-limit', 429, 'rate_limit_exceeded'],
  ['busy', 503, 'overloaded'],
  ['not-found', 404, null],
  ['app-not-found', 404, 'model_not_found'],
  ['rejected', 400, 'context_length_exceeded'],
  ['filtered', 400, 'content_filter'],
  ['misconfigured', 403, 'model_not_found'],
  ['server', 500, null],
])('error=%s has the status %d and the code %s of OpenAI', async (kind, status, code) => {
  const refused = await ask.openai(agent, `sandbox:error=${kind}`)
  expect(refused.status).toBe(status)
  expect(await refused.json()).toMatchObject({ error: { param: null, code } })
})

test('a rate limit of OpenAI sends Retry-After', async () => {
  expect((await ask.openai(agent, 'sandbox:error=rate-limit')).headers.get('retry-after')).toBe('20')
})

test('vLLM’s errors are flat, Ollama’s have no code', async () => {
  const refused = async (model: string) =>
    (await ask.openai(agent, 'sandbox:error=rejected', { body: { model } })).json()
  expect(await refused('sandbox-vllm')).toMatchObject({ object: 'error', type: 'BadRequestError', code: 400 })
  expect(await refused('sandbox-ollama')).toMatchObject({ error: { code: null } })
})

test.each([
  [
    'sandbox',
    'data: {"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}',
  ],
  ['sandbox-vllm', 'data: [DONE]'],
  ['sandbox-ollama', '"content":""},"finish_reason":null}]}'],
])('the model %s fails in mid-stream its own way', async (model, last) => {
  const bytes = await (await ask.openai(agent, 'sandbox:error-midstream', { body: { model } })).text()
  expect(bytes.trimEnd().endsWith(last)).toBe(true)
  expect(bytes).not.toContain('"finish_reason":"stop"')
})

test('a wrong key, an unknown model and an empty request are rejected', async () => {
  const codes = await Promise.all(
    [{ key: 'sk-wrong' }, { body: { model: 'x' } }, { body: { messages: [] } }].map(
      async (question) => (await ask.openai(agent, 'x', question)).status,
    ),
  )
  expect(codes).toEqual([401, 404, 400])
})

test('models of OpenAI are listed and found', async () => {
  const { data } = (await (await get(agent, '/models')).json()) as { data: { id: string }[] }
  expect(data.map(({ id }) => id)).toEqual(['sandbox', 'sandbox-vllm', 'sandbox-ollama'])
  expect((await get(agent, '/models/sandbox')).status).toBe(200)
  expect((await get(agent, '/models/x')).status).toBe(404)
  expect((await get(agent, '/models', 'sk-wrong')).status).toBe(401)
})

test('a format is honoured, as a stream and whole, but neither by an echo nor by what is not known', async () => {
  const schema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } }
  const formats = [
    [
      { type: 'json_schema', json_schema: { name: 'trip', schema } },
      { city: '沙箱 sandbox', days: 1 },
    ],
    [{ type: 'json_object' }, { answer: expect.stringContaining('“你好”') }],
  ] as const
  const contentOf = async (query: string, body: Record<string, unknown>) => {
    const whole = await readJson(await ask.openai(agent, query, { stream: false, body }))
    return asText(asRecord(asRecord(asList(whole.choices)[0]).message).content)
  }
  for (const [response_format, value] of formats) {
    const body = { response_format }
    const bytes = await (await ask.openai(agent, '你好', { body })).text()
    expect(JSON.parse(textOf('openai', bytes))).toEqual(value)
    expect(JSON.parse(await contentOf('你好', body))).toEqual(value)
    const echo = 'sandbox:echo {"city":"Oslo"} use the tool'
    const echoed = await (await ask.openai(agent, echo, { body: { ...body, tools } })).text()
    expect(textOf('openai', echoed)).toBe('{"city":"Oslo"} use the tool')
    expect(await contentOf('sandbox:multi', body)).toMatch(
      /^The OpenAI emulator does not know `sandbox:multi`/,
    )
  }
})

test.each(['name', 'schema'])('a json_schema without its %s is refused', async (field) => {
  const json_schema = { name: 'trip', schema: {}, [field]: undefined }
  const body = { response_format: { type: 'json_schema', json_schema } }
  const response = await ask.openai(agent, 'Hello', { body })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain(`response_format.json_schema.${field}`)
})
