import OpenAI, { APIError, APIUserAbortError, BadRequestError, ConflictError, NotFoundError } from 'openai'
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction'
import type { ChatCompletionMessageParam } from 'openai/resources'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collect } from '../../support/collect.ts'
import type { GatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { MODELS, PLATFORM_NAMES, startModels, THOUGHTS, WEATHER } from '../../support/models.ts'

// A process, because the package retries, aborts and reads streams on its own connections, which nothing else does as it does.

let system: GatewayWithSandbox
let client: OpenAI

beforeAll(async () => {
  system = await startModels()
  client = new OpenAI({ baseURL: `${system.gateway.url}/api/v1`, apiKey: system.key, maxRetries: 0 })
})
afterAll(() => system.remove())

function inConversation(id: string) {
  return { headers: { 'x-conversation-id': id } }
}

describe.each(PLATFORM_NAMES)('an agent of %s, asked by the openai package,', (platform) => {
  const model = MODELS[platform]

  test('answers, and remembers the first turn in the second', async () => {
    const talk = inConversation(`${platform}-json`)
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'My name is Ada.' }]
    const first = await client.chat.completions.create({ model, messages }, talk)
    const [choice] = first.choices
    expect(choice?.finish_reason).toBe('stop')
    expect(first.usage?.total_tokens).toBeGreaterThan(10)

    messages.push({ role: 'assistant', content: choice?.message.content ?? '' })
    messages.push({ role: 'user', content: 'What is my name?' })
    const second = await client.chat.completions.create({ model, messages }, talk)
    expect(second.choices[0]?.message.content).toContain('Your name is Ada;')
    expect(second.id).not.toBe(first.id)
  })

  test('streams the same reply, with usage in the last chunk if requested', async () => {
    const messages = [{ role: 'user', content: 'What is a gateway?' } as const]
    const json = await client.chat.completions.create({ model, messages })
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await collect(stream)
    const content = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(content).toBe(json.choices[0]?.message.content)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: json.usage })
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1)
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  test('a failure amid the stream is thrown after the text before it', async () => {
    const messages = [{ role: 'user', content: 'sandbox:error-midstream Hello' } as const]
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    let content = ''
    const failure = await (async () => {
      for await (const { choices } of stream) content += choices[0]?.delta.content ?? ''
    })().catch((error: unknown) => error)
    expect(content).not.toBe('')
    expect(failure).toBeInstanceOf(APIError)
    expect(failure).toMatchObject({ code: 'agent_error', type: 'server_error' })
  })

  test('an abort ends the run at the platform', async () => {
    const messages = [{ role: 'user', content: 'sandbox:slow=10 sandbox:long=100000' } as const]
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    const { seen } = system.sandbox.agents[platform]
    for await (const _ of stream) break
    const run = seen.runs.at(-1)
    await seen.waitFor(() => run?.state === 'stopped' || run?.state === 'aborted')
  })

  test('is listed among the models if it can be called by its name alone', async () => {
    const listed = (await collect(client.models.list())).map(({ id }) => id)
    if (platform === 'fastgpt') {
      expect(listed).not.toContain(platform)
      await expect(client.models.retrieve(platform)).rejects.toMatchObject({ code: 'model_not_found' })
      return
    }
    expect(listed).toContain(model)
    expect(await client.models.retrieve(model)).toMatchObject({ object: 'model', owned_by: platform })
  })

  test('null is treated like an absent field', async () => {
    const { choices } = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello' }],
      stream: null,
      stream_options: null,
      metadata: null,
      temperature: null,
      // The types forbid these two, but programs in other languages may send them.
      ...({ user: null, tools: null } as object),
    })
    expect(choices[0]?.finish_reason).toBe('stop')
    const stream = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
      ...({ stream_options: { include_usage: null }, metadata: { conversation_id: null } } as object),
    })
    const chunks = await collect(stream)
    expect(chunks.some(({ usage }) => usage)).toBe(false)
  })

  test('any text can be the id of a conversation, percent-encoded in request and response headers', async () => {
    const id = `${platform} 100% 会话`
    const headers = { 'x-conversation-id': encodeURIComponent(id) }
    const ask = (content: string, more: object, options: object) =>
      client.chat.completions
        .create({ model, messages: [{ role: 'user', content }], ...more }, options)
        .withResponse()
    const first = await ask('My name is Ada.', {}, { headers })
    expect(first.response.headers.get('x-conversation-id')).toBe(headers['x-conversation-id'])
    if (platform === 'openai') return
    const second = await ask('What is my name?', { metadata: { conversation_id: id } }, {})
    expect(second.response.headers.get('x-conversation-id')).toBe(headers['x-conversation-id'])
    expect(second.data.choices[0]?.message.content).toContain('Your name is Ada;')
  })
})

test.each([true, false])(
  'a question at which an agent waits is a reply like others, and the next message answers it (stream: %s)',
  async (stream) => {
    const talk = inConversation(`pause-${stream}`)
    const messages: ChatCompletionMessageParam[] = []
    const say = async (content: string) => {
      messages.push({ role: 'user', content })
      const params = { model: MODELS.fastgpt, messages }
      const completion = stream
        ? await client.chat.completions.stream(params, talk).finalChatCompletion()
        : await client.chat.completions.create(params, talk)
      const [choice] = completion.choices
      expect(choice?.finish_reason).toBe('stop')
      messages.push({ role: 'assistant', content: choice?.message.content ?? '' })
      return choice?.message.content
    }
    expect(await say('sandbox:interactive')).toContain('- 确认\n- 取消')
    expect(await say('确认')).toContain('你选择了“确认”')
    expect(await say('Thanks.')).toContain('Thanks.')
  },
)

test('an answer that names its pause is taken once, over the openai package as well', async () => {
  const talk = inConversation('pause-by-id')
  const model = MODELS.fastgpt
  const asked = await client.chat.completions.create(
    { model, messages: [{ role: 'user', content: 'sandbox:interactive' }] },
    talk,
  )
  const { pause } = asked as unknown as { pause: { id: string; options: { id: string }[] } }
  const answer = { pause: pause.id, option: pause.options[0]?.id }
  // The package passes on fields that it does not know.
  const params = { model, messages: [{ role: 'user' as const, content: '' }], answer }
  const { choices } = await client.chat.completions.create(params, talk)
  expect(choices[0]?.message.content).toContain('你选择了“确认”')
  const again = client.chat.completions.create(params, talk)
  await expect(again).rejects.toMatchObject({ constructor: ConflictError, code: 'pause_over' })
})

test('the model calls a tool, receives its result and answers with it, in JSON and streamed', async () => {
  const toolInputs: unknown[] = []
  const { name, description, parameters } = WEATHER
  const weather: RunnableToolFunctionWithParse<{ city: string }> = {
    type: 'function',
    function: {
      name,
      description,
      parameters,
      parse: JSON.parse,
      function(input) {
        toolInputs.push(input)
        return '21 degrees'
      },
    },
  }
  const request = {
    model: MODELS.openai,
    messages: [{ role: 'user' as const, content: 'Please use the tool' }],
    tools: [weather],
  }
  for (const runner of [
    client.chat.completions.runTools(request),
    client.chat.completions.runTools({ ...request, stream: true }),
  ]) {
    expect(await runner.finalContent()).toMatch(/^The tool answered: 21 degrees\n\n/)
    expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  }
  expect(toolInputs).toEqual([WEATHER.sample, WEATHER.sample])
})

test('tools are rejected for agents that cannot call them', async () => {
  const { name, parameters } = WEATHER
  for (const platform of PLATFORM_NAMES.filter((each) => each !== 'openai')) {
    const refused = client.chat.completions.create({
      model: MODELS[platform],
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ type: 'function', function: { name, parameters } }],
    })
    const failure = await refused.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BadRequestError)
    expect(failure).toMatchObject({ code: 'invalid_request', param: 'tools' })
  }
})

test('tools are accepted for such agents if tool_choice forbids calling them', async () => {
  const { name, parameters } = WEATHER
  const { choices } = await client.chat.completions.create({
    model: 'dify',
    messages: [{ role: 'user', content: 'Hello' }],
    tools: [{ type: 'function', function: { name, parameters } }],
    tool_choice: 'none',
  })
  expect(choices[0]?.finish_reason).toBe('stop')
})

test('errors of the OpenAI-compatible interface use its field names', async () => {
  const ask = (more: object, headers: Record<string, string> = {}) =>
    client.chat.completions
      .create({ model: 'dify', messages: [{ role: 'user', content: 'Hello' }], ...more }, { headers })
      .catch((error: unknown) => error)
  const long = 'x'.repeat(257)
  for (const [failure, param] of [
    [await ask({}, { 'x-conversation-id': long }), 'x-conversation-id'],
    [await ask({}, { 'x-conversation-id': '%' }), 'x-conversation-id'],
    [await ask({ metadata: { conversation_id: long } }), 'metadata.conversation_id'],
    [await ask({ metadata: { conversation_id: 'a\nb' } }), 'metadata.conversation_id'],
    [await ask({ user: 'a\nb' }), 'user'],
    [await ask({ model: 'fastgpt' }), 'model'],
    [await ask({ model: 'dify/gpt-4o' }), 'model'],
    [await ask({ model: 'fastgpt/a\nb' }), 'model'],
    [
      await ask({ messages: [{ role: 'user', content: [{ type: 'video_url' }] }] }),
      'messages[0].content[0].type',
    ],
  ] as const) {
    expect(failure).toBeInstanceOf(APIError)
    expect(failure).toMatchObject({ param })
  }
})

test('an exhausted quota is reported as insufficient_quota', async () => {
  const owner = await system.api.createUser(system.token, 'poor', { max_api_calls: 0 })
  const { full_key: apiKey } = await system.api.createKey(system.token, { owner_id: owner.id })
  const poor = new OpenAI({ baseURL: client.baseURL, apiKey, maxRetries: 0 })
  const request = poor.chat.completions.create({
    model: 'dify',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  await expect(request).rejects.toMatchObject({
    status: 429,
    type: 'insufficient_quota',
    message: expect.stringContaining(
      'The call quota of this user is used up. max_api_calls of 0 is reached; an administrator can raise it.',
    ),
  })
})

test('errors for routes that are not served name the alternative', async () => {
  const requests = [
    client.embeddings.create({ model: 'dify', input: 'Hello' }),
    client.completions.create({ model: 'dify', prompt: 'Hello' }),
    client.images.generate({ prompt: 'a gateway' }),
    new OpenAI({ baseURL: `${system.gateway.url}/v1`, apiKey: system.key, maxRetries: 0 }).models.list(),
  ]
  const failures = await Promise.all(
    requests.map((each) =>
      each.then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  )
  for (const failure of failures) {
    expect(failure).toBeInstanceOf(NotFoundError)
    expect(failure).toMatchObject({
      code: 'route_not_found',
      message: expect.stringMatching(/\/api\/v1/),
    })
  }
})

test('content parts of known types reach an openai agent, but private URLs do not', async () => {
  const { seen } = system.sandbox.agents.openai
  const send = (...content: object[]) =>
    client.chat.completions
      .create({ model: 'openai', messages: [{ role: 'user', content } as ChatCompletionMessageParam] })
      .catch((error: unknown) => error)
  const text = { type: 'text', text: 'Parts' }
  const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
  const image = { type: 'image_url', image_url: { url: 'https://files.example.com/a.png' } }
  await send(text, audio, image, { type: 'refusal', refusal: 'no' })
  const before = seen.requests.length
  expect(seen.requests.at(-1)?.body).toMatchObject({ messages: [{ content: [text, audio, image] }] })
  for (const part of [
    { type: 'video_url', video_url: { url: 'http://10.0.0.1/' } },
    { type: 'audio_url', audio_url: { url: 'http://10.0.0.1/' } },
    { type: 'input_file', file_url: 'http://10.0.0.1/' },
    { ...image, file: { file_url: 'http://kubernetes.default.svc/' } },
    { type: 'file', file: { file_data: 'data:,', url: 'http://[2001:0:7f00:1::]/' } },
  ]) {
    expect(await send(text, part)).toBeInstanceOf(BadRequestError)
  }
  expect(seen.requests).toHaveLength(before)
})

test('reasoning is sent only if the agent allows it', async () => {
  for (const [model, thoughts] of [
    ['thinker', THOUGHTS],
    ['hiagent', undefined],
  ] as const) {
    const messages = [{ role: 'user', content: 'Hello' } as const]
    const { choices } = await client.chat.completions.create({ model, messages })
    expect(choices[0]?.message).toMatchObject(thoughts ? { reasoning_content: thoughts } : {})
    const chunks = await collect(await client.chat.completions.create({ model, messages, stream: true }))
    const fragments = chunks.map(({ choices: [choice] }) =>
      Reflect.get(choice?.delta ?? {}, 'reasoning_content'),
    )
    expect(fragments.filter((text) => text !== undefined).join('')).toBe(thoughts ?? '')
  }
})

test('errors have the class of the SDK for their status', async () => {
  const ask = (model: string, content: string) =>
    client.chat.completions
      .create({ model, messages: [{ role: 'user', content }] })
      .catch((error: unknown) => error)
  const unauthenticated = new OpenAI({ baseURL: client.baseURL, apiKey: 'sk-somebody-else', maxRetries: 0 })
  await expect(unauthenticated.models.list()).rejects.toMatchObject({
    status: 401,
    type: 'authentication_error',
  })
  for (const [failure, kind, code] of [
    [await ask('nobody', 'Hello'), NotFoundError, 'model_not_found'],
    [await ask('coze', 'sandbox:error=app-not-found'), NotFoundError, 'app_not_found'],
    [await ask('hiagent', 'sandbox:error=busy'), ConflictError, 'conversation_busy'],
    [await ask('openai', 'sandbox:error=rejected'), BadRequestError, 'agent_rejected_input'],
    [await ask('openai', 'sandbox:error=quota'), OpenAI.InternalServerError, 'agent_quota'],
    [await ask('openai', 'sandbox:error=rate-limit'), OpenAI.RateLimitError, 'agent_rate_limited'],
  ] as const) {
    expect(failure).toBeInstanceOf(kind)
    expect(failure).toMatchObject({ code })
  }
})

test('the SDK retries only what may be retried', async () => {
  const { seen } = system.sandbox.agents.hiagent
  const eager = new OpenAI({ baseURL: client.baseURL, apiKey: system.key, maxRetries: 1 })
  for (const [kind, times] of [
    ['busy', 2],
    ['quota', 1],
    ['server', 1],
    ['rejected', 1],
  ] as const) {
    const content = `sandbox:error=${kind} Hello`
    const failure = await eager.chat.completions
      .create({ model: 'hiagent', messages: [{ role: 'user', content }] })
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(APIError)
    expect(seen.requests.filter(({ body }) => body.Query === content)).toHaveLength(times)
  }
})

test('an abort before the reply throws an abort error of the SDK', async () => {
  const leaving = new AbortController()
  const { seen } = system.sandbox.agents.openai
  const content = 'sandbox:hang and goodbye'
  const request = client.chat.completions.create(
    { model: 'openai', messages: [{ role: 'user', content }] },
    { signal: leaving.signal },
  )
  const failure = request.catch((error: unknown) => error)
  await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'running')
  leaving.abort()
  expect(await failure).toBeInstanceOf(APIUserAbortError)
  await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
})
