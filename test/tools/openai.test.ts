import OpenAI, { APIError, APIUserAbortError, BadRequestError, ConflictError, NotFoundError } from 'openai'
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction'
import type { ChatCompletionMessageParam } from 'openai/resources'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collect } from '../support/collect.ts'
import type { Scene } from '../support/scene.ts'
import { MODELS, PLATFORM_NAMES, startModels, THOUGHTS, WEATHER } from './models.ts'

let scene: Scene
let client: OpenAI

beforeAll(async () => {
  scene = await startModels()
  client = new OpenAI({ baseURL: `${scene.gateway.url}/api/v1`, apiKey: scene.key, maxRetries: 0 })
})
afterAll(() => scene.remove())

function inConversation(id: string) {
  return { headers: { 'x-conversation-id': id } }
}

describe.each(PLATFORM_NAMES)('%s', (platform) => {
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

  test('streams the same reply, with usage in the last chunk where it is asked for', async () => {
    const messages = [{ role: 'user', content: 'What is a gateway?' } as const]
    const json = await client.chat.completions.create({ model, messages })
    const stream = await client.chat.completions.create({
      ...{ model, messages },
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
    const { seen } = scene.sandbox.agents[platform]
    for await (const _ of stream) break
    const run = seen.runs.at(-1)
    await seen.waitFor(() => run?.state === 'stopped' || run?.state === 'aborted')
  })

  test('is among the models, under this name', async () => {
    const listed = await collect(client.models.list())
    const [agent = ''] = model.split('/')
    expect(listed.map(({ id }) => id)).toContain(agent)
    expect(await client.models.retrieve(agent)).toMatchObject({ object: 'model', owned_by: platform })
  })
})

test('tools: the model calls one, gets its result and answers with it, in JSON and streamed', async () => {
  const asked: unknown[] = []
  const { name, description, parameters } = WEATHER
  const weather: RunnableToolFunctionWithParse<{ city: string }> = {
    type: 'function',
    function: {
      ...{ name, description, parameters },
      parse: JSON.parse,
      function(input) {
        asked.push(input)
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
  expect(asked).toEqual([WEATHER.sample, WEATHER.sample])
})

test('tools that no platform could call are refused', async () => {
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

test('reasoning comes where the agent allows it, and nowhere else', async () => {
  for (const [model, thoughts] of [
    ['thinker', THOUGHTS],
    ['hiagent', undefined],
  ] as const) {
    const messages = [{ role: 'user', content: 'Hello' } as const]
    const { choices } = await client.chat.completions.create({ model, messages })
    expect(choices[0]?.message).toMatchObject(thoughts ? { reasoning_content: thoughts } : {})
    const chunks = await collect(await client.chat.completions.create({ model, messages, stream: true }))
    const told = chunks.map(({ choices: [choice] }) => Reflect.get(choice?.delta ?? {}, 'reasoning_content'))
    expect(told.filter((text) => text !== undefined).join('')).toBe(thoughts ?? '')
  }
})

test('errors are of the class that their status has', async () => {
  const ask = (model: string, content: string) =>
    client.chat.completions
      .create({ model, messages: [{ role: 'user', content }] })
      .catch((error: unknown) => error)
  const stranger = new OpenAI({ baseURL: client.baseURL, apiKey: 'sk-somebody-else', maxRetries: 0 })
  await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, type: 'authentication_error' })
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

test('it repeats what may be repeated, and nothing else', async () => {
  const { seen } = scene.sandbox.agents.hiagent
  const eager = new OpenAI({ baseURL: client.baseURL, apiKey: scene.key, maxRetries: 1 })
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

test('an abort before the reply is an abort to the caller', async () => {
  const leaving = new AbortController()
  const { seen } = scene.sandbox.agents.openai
  const content = 'sandbox:hang and goodbye'
  const asked = client.chat.completions.create(
    { model: 'openai', messages: [{ role: 'user', content }] },
    { signal: leaving.signal },
  )
  const failure = asked.catch((error: unknown) => error)
  await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'running')
  leaving.abort()
  expect(await failure).toBeInstanceOf(APIUserAbortError)
  await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
})
