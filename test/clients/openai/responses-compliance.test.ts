import { Response as ResponseResource } from '@effect/ai-openai/Generated'
import { ResponseStreamEvent } from '@effect/ai-openai/OpenAiClient'
import { Schema } from 'effect'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { MODELS, PLATFORM_NAMES, startModels, WEATHER } from '../../support/models.ts'

// A process, because the standard is about what a server sends over HTTP, down to the lines of its event stream.

/*
 * The requests with which Open Responses (https://www.openresponses.org) tests a server, and further ones of every
 * kind. Replies and events are decoded with the schemas that @effect/ai-openai generates from OpenAI's description.
 */

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startModels()
})
afterAll(() => system.remove())

const decodeResponse = Schema.decodeUnknownSync(ResponseResource)
const decodeEvent = Schema.decodeUnknownSync(ResponseStreamEvent)

/** The fields that Open Responses requires of every response. */
const REQUIRED = [
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'incomplete_details', 'model', 'error'],
  ...['previous_response_id', 'instructions', 'output', 'tools', 'tool_choice', 'truncation', 'text'],
  ...['parallel_tool_calls', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs', 'temperature'],
  ...['reasoning', 'usage', 'max_output_tokens', 'max_tool_calls', 'store', 'background', 'service_tier'],
  ...['metadata', 'safety_identifier', 'prompt_cache_key'],
]

/** A picture of one pixel. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const { name, description, parameters } = WEATHER

const user = (content: unknown) => ({ type: 'message', role: 'user', content })

const REQUESTS: Readonly<Record<string, object>> = {
  'a text': { input: [user('Say hello in three words.')] },
  'a system prompt': {
    input: [{ type: 'message', role: 'system', content: 'Answer like a pirate.' }, user('Say hello.')],
  },
  'an image': {
    input: [
      user([
        { type: 'input_text', text: 'What is in this picture?' },
        { type: 'input_image', image_url: 'https://files.example.com/photo.png' },
      ]),
    ],
  },
  'several turns': {
    input: [
      user('My name is Alice.'),
      { type: 'message', role: 'assistant', content: 'Hello Alice!' },
      user('What is my name?'),
    ],
  },
  'a text that is cut': { input: 'sandbox:length Hello' },
  'instructions and metadata': {
    input: 'Hello',
    instructions: 'Be brief.',
    metadata: { topic: 'greeting' },
    user: 'ada',
    temperature: 0.5,
    top_p: 0.9,
    max_output_tokens: 1000,
    store: false,
  },
}

const TOOL_REQUESTS: Readonly<Record<string, object>> = {
  'a function': {
    input: [user('Please use the tool')],
    tools: [{ type: 'function', name, description, parameters }],
  },
  'an image in the request': {
    input: [user([{ type: 'input_image', image_url: PIXEL }])],
  },
}

const CASES = PLATFORM_NAMES.flatMap((platform) =>
  Object.entries({ ...REQUESTS, ...(platform === 'openai' && TOOL_REQUESTS) }).map(([what, request]) => ({
    model: MODELS[platform],
    what,
    request,
  })),
)

interface Item {
  readonly type: string
  readonly content?: readonly { readonly text: string }[]
}

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly response?: Reply
  readonly item?: Item
}

interface Reply {
  readonly id: string
  readonly status: string
  readonly output: readonly Item[]
}

function respond(model: string, request: object, stream: boolean): Promise<Response> {
  return fetch(`${system.gateway.url}/api/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${system.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...request, stream }),
  })
}

/** Reads the events by hand, because the clients' readers stop at a failure. */
async function eventsOf(response: Response): Promise<{ events: readonly Event[]; end: string }> {
  const text = await response.text()
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line = '']) => line)
  const events = data.filter((line) => line !== '[DONE]').map((line): Event => JSON.parse(line))
  return { events, end: text.slice(text.lastIndexOf('data: ')) }
}

function requireResponse(reply: Reply): void {
  decodeResponse(reply)
  expect(Object.keys(reply)).toEqual(expect.arrayContaining(REQUIRED))
}

describe.each(CASES)('$model: $what', ({ model, what, request }) => {
  const status = what === 'a text that is cut' ? ['completed', 'incomplete'] : ['completed']

  test('the JSON reply is as published', async () => {
    const response = await respond(model, request, false)
    expect(response.status).toBe(200)
    const reply = (await response.json()) as Reply
    requireResponse(reply)
    expect(status).toContain(reply.status)
    expect(reply.output.map(({ type }) => type)).toContain(
      what === 'a function' ? 'function_call' : 'message',
    )
  })

  test('every event of the stream is as published, and its last response is that of the JSON reply', async () => {
    const response = await respond(model, request, true)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const { events, end } = await eventsOf(response)
    for (const event of events) {
      expect(() => decodeEvent(event), JSON.stringify(event)).not.toThrow()
      if (event.response !== undefined) requireResponse(event.response)
    }
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
    expect(events[0]?.type).toBe('response.created')
    const ids = events.flatMap(({ response }) => response?.id ?? [])
    expect(new Set(ids).size).toBe(1)
    const last = events.at(-1)
    expect(status.map((word) => `response.${word}`)).toContain(last?.type)
    expect(end).toBe('data: [DONE]\n\n')
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    expect(last?.response?.output).toEqual(done)
    if (what !== 'a function') return
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
      ]),
    )
  })
})

test.each(PLATFORM_NAMES)(
  '%s: a failure amid the stream is an error event and a failed response, without an end marker',
  async (platform) => {
    const question = { input: 'sandbox:error-midstream Hello' }
    const { events, end } = await eventsOf(await respond(MODELS[platform], question, true))
    for (const event of events) expect(() => decodeEvent(event), JSON.stringify(event)).not.toThrow()
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed'])
    expect(events.at(-2)).toMatchObject({
      code: 'agent_error',
      message: expect.any(String),
      param: null,
      error: { type: 'server_error', code: 'agent_error', message: expect.any(String), param: null },
    })
    expect(events.at(-1)?.response).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
    requireResponse(events.at(-1)?.response as Reply)
    expect(end).not.toContain('[DONE]')
  },
)
