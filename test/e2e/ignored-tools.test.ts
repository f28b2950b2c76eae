import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because clients of OpenAI send their tools over HTTP to a gateway that speaks to platforms.

let system: GatewayWithSandbox
beforeAll(async () => {
  system = await startGatewayWithSandbox({
    agents: ({ dify }) => ({ patient: { ...dify, platform: 'dify', tools: 'ignore' } }),
  })
})
afterAll(() => system?.remove())

const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const NESTED = { type: 'function', function: { name: 'weather', parameters } }
const FLAT = { type: 'function', name: 'weather', parameters }

/** The two faces on which a client can offer tools, each with the same question. */
const FACES = [
  ['chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }, NESTED],
  ['responses', { input: 'Hello' }, FLAT],
] as const

async function ask(path: string, body: object, headers: Record<string, string> = {}) {
  return await fetch(`${system.gateway.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${system.key}`, ...headers },
    body: JSON.stringify(body),
  })
}

describe.each(FACES)('%s', (path, question, tool) => {
  test('an agent that ignores tools answers, and the reply says what was left out', async () => {
    for (const stream of [false, true]) {
      const response = await ask(path, { model: 'patient', ...question, tools: [tool], stream })
      expect(response.status).toBe(200)
      expect(response.headers.get('x-dropped-tools')).toBe('function')
      expect(await response.text()).not.toContain('weather')
    }
  })

  test('so it is with a kept call, also where it is answered from its record', async () => {
    const headers = { 'idempotency-key': `tools of ${path}` }
    for (const replayed of [null, 'true']) {
      const response = await ask(path, { model: 'patient', ...question, tools: [tool] }, headers)
      await response.text()
      expect(response.headers.get('idempotent-replayed')).toBe(replayed)
      expect(response.headers.get('x-dropped-tools')).toBe('function')
    }
  })

  test('nothing is said where there was nothing to ignore', async () => {
    for (const more of [{}, { tools: [] }, { tools: [tool], tool_choice: 'none' }]) {
      const response = await ask(path, { model: 'patient', ...question, ...more })
      expect([response.status, response.headers.get('x-dropped-tools')]).toEqual([200, null])
    }
  })

  test.each(['required', 'named'])('a choice that is %s cannot be ignored', async (choice) => {
    const named = path === 'responses' ? { name: 'weather' } : { function: { name: 'weather' } }
    const tool_choice = choice === 'named' ? { type: 'function', ...named } : choice
    const response = await ask(path, { model: 'patient', ...question, tools: [tool], tool_choice })
    expect(response.status).toBe(400)
    expect((await response.json()).error).toMatchObject({ param: 'tool_choice' })
  })

  test('other agents without tools refuse them, and servers of the platform openai get them', async () => {
    const refused = await ask(path, { model: 'dify', ...question, tools: [tool] })
    expect(refused.status).toBe(400)
    expect((await refused.json()).error).toMatchObject({ param: 'tools' })
    const passed = await ask(path, { model: 'openai', ...question, tools: [tool] })
    expect([passed.status, passed.headers.get('x-dropped-tools')]).toEqual([200, null])
  })
})

test('functions of the first API are ignored as well', async () => {
  const functions = [{ name: 'weather', parameters }]
  const response = await ask('chat/completions', { model: 'patient', ...FACES[0][1], functions })
  expect([response.status, response.headers.get('x-dropped-tools')]).toEqual([200, 'function'])
})

test('the progress of a response says it too, beside tools of other kinds in the header', async () => {
  const tools = [FLAT, { type: 'web_search' }]
  const body = { model: 'patient', input: 'Hello', tools, stream: true, include: ['trunkline.detail'] }
  const response = await ask('responses', body)
  expect(response.headers.get('x-dropped-tools')).toBe('web_search, function')
  const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  const details = events.map((line) => JSON.parse(line.slice(6)).trunkline).filter(Boolean)
  expect(details[0]).toEqual({ type: 'other', name: 'tools_ignored', data: {}, raw: { tools: ['function'] } })
})

test('answers in a form that the client asks for can be tried', async () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city', 'days'],
    additionalProperties: false,
  }
  const value = { city: expect.any(String), days: expect.any(Number) }
  const format = { type: 'json_schema', json_schema: { name: 'trip', schema, strict: true } }
  const completion = await ask('chat/completions', {
    model: 'openai',
    ...FACES[0][1],
    response_format: format,
  })
  expect(JSON.parse((await completion.json()).choices[0].message.content)).toEqual(value)
  const { json_schema, type } = format
  const response = await ask('responses', {
    model: 'openai',
    input: 'Hello',
    text: { format: { type, ...json_schema } },
  })
  expect(JSON.parse((await response.json()).output.at(-1).content[0].text)).toEqual(value)
})
