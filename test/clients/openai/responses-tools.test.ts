import { createOpenAI } from '@ai-sdk/openai'
import { Agent, tool as agentTool } from '@openai/agents'
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from 'ai'
import { NotFoundError } from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { MODELS, PLATFORM_NAMES, startModels, THOUGHTS, WEATHER } from '../../support/models.ts'
import { type Connection, langChain, openai, runner } from '../support/responses-clients.ts'

// A process, because each package runs the loop of a tool by its own requests, and leaves streams by closing connections.

let system: GatewayWithSandbox
let connection: Connection

beforeAll(async () => {
  system = await startModels()
  connection = { baseURL: `${system.gateway.url}/api/v1`, apiKey: system.key }
})
afterAll(() => system.remove())

const { name, description, parameters, sample } = WEATHER
const FUNCTION = { type: 'function' as const, name, description, parameters, strict: true }
const QUESTION = 'Please use the tool'
const ANSWER = /^The tool answered: .*21 degrees/

describe('a tool is called, and its result is used in the answer', () => {
  test.each([false, true])('by the openai package (stream helper: %s)', async (isStream) => {
    const { responses } = openai(connection)
    const input: ResponseInput = [{ role: 'user', content: QUESTION }]
    const respond = async () => {
      const body = { model: 'openai', input, tools: [FUNCTION] }
      return isStream ? responses.stream(body).finalResponse() : responses.create(body)
    }
    const { output } = await respond()
    const call = output.find(({ type }) => type === 'function_call')
    if (call?.type !== 'function_call') throw new Error('no function was called')
    expect([call.name, JSON.parse(call.arguments)]).toEqual([name, sample])
    const { call_id, arguments: args } = call
    input.push({ type: 'function_call', call_id, name, arguments: args })
    input.push({ type: 'function_call_output', call_id, output: '21 degrees' })
    expect((await respond()).output_text).toMatch(ANSWER)
  })

  test('by the AI SDK, generated and streamed', async () => {
    const inputs: unknown[] = []
    const request = {
      model: createOpenAI(connection)('openai'),
      prompt: QUESTION,
      stopWhen: isStepCount(2),
      maxRetries: 0,
      tools: {
        weather: tool({
          description,
          inputSchema: jsonSchema<{ city: string }>(parameters),
          execute: async (input) => {
            inputs.push(input)
            return '21 degrees'
          },
        }),
      },
    }
    for (const answer of [(await generateText(request)).text, await streamText(request).text])
      expect(answer).toMatch(ANSWER)
    expect(inputs).toEqual([sample, sample])
  })

  test('by the AI SDK, in the second turn of a conversation, to whose first it refers', async () => {
    const execute = async () => '21 degrees'
    const inputSchema = jsonSchema<{ city: string }>(parameters)
    const request = {
      model: createOpenAI(connection)('openai'),
      stopWhen: isStepCount(2),
      maxRetries: 0,
      tools: { weather: tool({ description, inputSchema, execute }) },
    }
    const messages: ModelMessage[] = []
    const say = async (content: string) => {
      messages.push({ role: 'user', content })
      const { text, response } = await generateText({ ...request, messages })
      messages.push(...response.messages)
      return text
    }
    await say('My name is Ada.')
    expect(await say(QUESTION)).toMatch(ANSWER)
    expect(await say('What is my name?')).toContain('Your name is Ada;')
  })

  test.each([false, true])('by the OpenAI Agents SDK (stream: %s)', async (isStream) => {
    const inputs: unknown[] = []
    const weather = agentTool({
      name,
      description,
      parameters,
      strict: true,
      execute: async (input) => {
        inputs.push(input)
        return '21 degrees'
      },
    })
    const agent = new Agent({ name: 'Assistant', model: 'openai', tools: [weather] })
    const run = runner(connection)
    if (isStream) {
      const streamed = await run.run(agent, QUESTION, { stream: true })
      await streamed.completed
      expect(streamed.finalOutput).toMatch(ANSWER)
    } else {
      expect((await run.run(agent, QUESTION)).finalOutput).toMatch(ANSWER)
    }
    expect(inputs).toEqual([sample])
  })

  test('by LangChain', async () => {
    const model = langChain(connection, 'openai').bindTools([
      { type: 'function', function: { name, description, parameters } },
    ])
    const call = await model.invoke(QUESTION)
    expect(call.tool_calls).toMatchObject([{ name, args: sample }])
    const answer = await model.invoke([
      ['user', QUESTION],
      call,
      { role: 'tool', content: '21 degrees', tool_call_id: call.tool_calls?.[0]?.id ?? '' },
    ])
    expect(answer.text).toMatch(ANSWER)
  })
})

test.each(PLATFORM_NAMES.filter((platform) => platform !== 'openai'))(
  '%s, which has no tools, refuses them and names the parameter',
  async (platform) => {
    const refused = openai(connection).responses.create({
      model: MODELS[platform],
      input: 'Hello',
      tools: [FUNCTION],
    })
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'tools' })
  },
)

test('reasoning reaches the clients that show it, if the agent allows it', async () => {
  const model = createOpenAI(connection)('thinker')
  const generated = await generateText({ model, prompt: 'Hello', maxRetries: 0 })
  expect(generated.reasoningText).toBe(THOUGHTS)
  expect(await streamText({ model, prompt: 'Hello', maxRetries: 0 }).reasoningText).toBe(THOUGHTS)
  const { output } = await openai(connection).responses.create({ model: 'hiagent', input: 'Hello' })
  expect(output.map(({ type }) => type)).toEqual(['message'])
})

test('breaking out of a stream ends the run at the platform', async () => {
  for (const platform of PLATFORM_NAMES) {
    const { seen } = system.sandbox.agents[platform]
    const input = 'sandbox:slow=10 sandbox:long=100000'
    const stream = await openai(connection).responses.create({
      model: MODELS[platform],
      input,
      stream: true,
    })
    for await (const { type } of stream) if (type === 'response.output_text.delta') break
    const run = seen.runs.at(-1)
    await seen.waitFor(() => run?.state === 'stopped' || run?.state === 'aborted')
  }
})

test('what is kept by no response is a 404 of the SDK that names the alternative', async () => {
  const { responses, conversations } = openai(connection)
  for (const request of [
    responses.retrieve('resp_1'),
    responses.delete('resp_1'),
    responses.cancel('resp_1'),
    responses.inputItems.list('resp_1'),
  ]) {
    const failure = await Promise.resolve(request).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(NotFoundError)
    expect(failure).toMatchObject({ code: 'route_not_found', message: expect.stringMatching(/\/api\/v1/) })
  }
  // The gateway lists conversations at this path, and makes one with its first turn.
  await expect(conversations.create()).rejects.toMatchObject({
    status: 405,
    code: 'method_not_allowed',
    message: expect.stringContaining('/api/v1/responses'),
  })
})
