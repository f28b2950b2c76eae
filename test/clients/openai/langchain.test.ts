import { ChatOpenAI } from '@langchain/openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collect } from '../../support/collect.ts'
import type { GatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { MODELS, PLATFORM_NAMES, startModels, WEATHER } from '../../support/models.ts'

// A process, because LangChain sends its own requests, and only a gateway behind a socket shows whether they are accepted.

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startModels()
})
afterAll(() => system.remove())

function modelOf(name: string, conversation?: string): ChatOpenAI {
  return new ChatOpenAI({
    model: name,
    apiKey: system.key,
    maxRetries: 0,
    configuration: {
      baseURL: `${system.gateway.url}/api/v1`,
      ...(conversation !== undefined && { defaultHeaders: { 'x-conversation-id': conversation } }),
    },
  })
}

describe.each(PLATFORM_NAMES)('LangChain with an agent of %s', (platform) => {
  test('answers with unique message ids, and remembers the first turn in the second', async () => {
    const model = modelOf(MODELS[platform], `${platform}-langchain`)
    const first = await model.invoke('My name is Ada.')
    const second = await model.invoke([['user', 'My name is Ada.'], first, ['user', 'What is my name?']])
    expect(second.text).toContain('Your name is Ada;')
    expect(second.usage_metadata).toMatchObject({ total_tokens: expect.any(Number) })
    // LangChain replaces a message with another one that has the same id.
    expect(second.id).toMatch(/^chatcmpl-/)
    expect(second.id).not.toBe(first.id)
  })

  test('streams the same reply', async () => {
    const model = modelOf(MODELS[platform])
    const { text } = await model.invoke('What is a gateway?')
    const chunks = await collect(await model.stream('What is a gateway?'))
    expect(chunks.map((chunk) => chunk.text).join('')).toBe(text)
    expect(chunks.some(({ usage_metadata }) => usage_metadata !== undefined)).toBe(true)
  })
})

test('a question at which an agent waits is a message like others, and the next one answers it', async () => {
  const model = modelOf(MODELS.fastgpt, 'langchain-pause')
  const asked = 'sandbox:interactive'
  const question = await model.invoke(asked)
  expect(question.text).toContain('- 确认\n- 取消')
  const chunks = await collect(await model.stream([['user', asked], question, ['user', '确认']]))
  expect(chunks.map((chunk) => chunk.text).join('')).toContain('你选择了“确认”')
})

test('a bound tool of LangChain is called, and its result is used in the answer', async () => {
  const { name, description, parameters } = WEATHER
  const model = modelOf('openai').bindTools([
    { type: 'function', function: { name, description, parameters } },
  ])
  const call = await model.invoke('Please use the tool')
  expect(call.tool_calls).toMatchObject([{ name, args: WEATHER.sample }])
  const answer = await model.invoke([
    ['user', 'Please use the tool'],
    call,
    { role: 'tool', content: '21 degrees', tool_call_id: call.tool_calls?.[0]?.id ?? '' },
  ])
  expect(answer.text).toMatch(/^The tool answered: 21 degrees/)
})
