import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collect } from '../../support/collect.ts'
import type { GatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { MODELS, PLATFORM_NAMES, startModels, THOUGHTS, WEATHER } from '../../support/models.ts'

// A process, because the package brings its own client of HTTP and reader of streams, which must accept what crosses a socket.

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startModels()
})
afterAll(() => system.remove())

function modelOf(name: string, conversation?: string) {
  const provider = createOpenAICompatible({
    name: 'trunkline',
    baseURL: `${system.gateway.url}/api/v1`,
    apiKey: system.key,
    includeUsage: true,
    ...(conversation !== undefined && { headers: { 'x-conversation-id': conversation } }),
  })
  return provider(name)
}

describe.each(PLATFORM_NAMES)('the AI SDK with an agent of %s', (platform) => {
  const name = MODELS[platform]

  test('generates a reply, and remembers the first turn in the second', async () => {
    const model = modelOf(name, `${platform}-ai`)
    const messages: ModelMessage[] = [{ role: 'user', content: 'My name is Ada.' }]
    const first = await generateText({ model, messages })
    expect(first.finishReason).toBe('stop')
    expect(first.usage.totalTokens).toBeGreaterThan(10)

    messages.push({ role: 'assistant', content: first.text })
    messages.push({ role: 'user', content: 'What is my name?' })
    const second = await generateText({ model, messages })
    expect(second.text).toContain('Your name is Ada;')
    expect(second.response.id).not.toBe(first.response.id)
  })

  test('streams the same reply', async () => {
    const prompt = 'What is a gateway?'
    const { text, usage } = await generateText({ model: modelOf(name), prompt })
    const streamed = streamText({ model: modelOf(name), prompt })
    expect((await collect(streamed.textStream)).join('')).toBe(text)
    expect(await streamed.finishReason).toBe('stop')
    expect((await streamed.usage).totalTokens).toBe(usage.totalTokens)
  })
})

test('a question at which an agent waits is a reply like others, and the next message answers it', async () => {
  const model = modelOf(MODELS.fastgpt, 'ai-pause')
  const messages: ModelMessage[] = [{ role: 'user', content: 'sandbox:interactive' }]
  const question = await generateText({ model, messages })
  expect([question.finishReason, question.text]).toEqual(['stop', expect.stringContaining('- 确认\n- 取消')])
  messages.push({ role: 'assistant', content: question.text }, { role: 'user', content: '确认' })
  expect(await streamText({ model, messages }).text).toContain('你选择了“确认”')
})

test('a tool of the AI SDK is called and its result is used in the answer, both generated and streamed', async () => {
  const toolInputs: unknown[] = []
  const request = {
    prompt: 'Please use the tool',
    stopWhen: isStepCount(2),
    tools: {
      weather: tool({
        description: WEATHER.description,
        inputSchema: jsonSchema<{ city: string }>(WEATHER.parameters),
        execute: async (input) => {
          toolInputs.push(input)
          return '21 degrees'
        },
      }),
    },
  }
  const generated = await generateText({ model: modelOf('openai'), ...request })
  const streamed = streamText({ model: modelOf('openai'), ...request })
  for (const text of [generated.text, await streamed.text])
    expect(text).toMatch(/^The tool answered: .*21 degrees/)
  expect(toolInputs).toEqual([WEATHER.sample, WEATHER.sample])
})

test('the AI SDK keeps reasoning separate from the text', async () => {
  const generated = await generateText({ model: modelOf('thinker'), prompt: 'Hello' })
  const streamed = streamText({ model: modelOf('thinker'), prompt: 'Hello' })
  for (const reasoning of [generated.reasoningText, await streamed.reasoningText])
    expect(reasoning).toBe(THOUGHTS)
  expect(generated.text).toMatch(/^Hello from the HiAgent emulator/)
})

test('a failure amid the stream of the AI SDK yields an error part and no finish part', async () => {
  const streamed = streamText({
    model: modelOf('dify'),
    prompt: 'sandbox:error-midstream Hello',
    onError: () => undefined,
  })
  const parts = await collect(streamed.stream)
  expect(parts.map(({ type }) => type)).toContain('text-delta')
  expect(parts.map(({ type }) => type)).toContain('error')
})
