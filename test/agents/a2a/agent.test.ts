import { randomUUID } from 'node:crypto'
import { type Message, type Part, Role, type StreamResponse, TaskState } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import type { RunningEmulator } from '@trunkline/sandbox/src/serving/start-emulator.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startA2aAgent } from './agent.ts'

let running: RunningEmulator
beforeAll(async () => {
  running = await startA2aAgent({ delayMs: 0 })
})
afterAll(() => running.close())

describe.each([
  { binding: 'HTTP+JSON', version: '1.0' },
  { binding: 'JSONRPC', version: '1.0' },
  { binding: 'JSONRPC', version: '0.3' },
])('the SDK’s own client, with $binding $version', ({ binding, version }) => {
  let client: Client
  beforeAll(async () => {
    client = await clientOf(binding, version)
  })

  test('reads a text that is streamed in pieces, and the same text at once', async () => {
    const query = 'sandbox:echo Hello 你好 🙂'
    const { pieces, states } = await read(client, message(query))
    expect(pieces).toEqual(['Hello', ' ', '你好', ' ', '🙂'])
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED'])
    const whole = await client.sendMessage(request(message(query)))
    expect('artifacts' in whole && textOf(whole.artifacts[0]?.parts)).toBe('Hello 你好 🙂')
  })

  test('has a conversation of three turns in one context', async () => {
    const contextId = randomUUID()
    await read(client, message('My name is Ada.', { contextId }))
    const second = await read(client, message('What is my name?', { contextId }))
    expect(second.text).toContain('Your name is Ada')
    const third = await read(client, message('Hello', { contextId }))
    expect(third.text).toContain('This is turn 3 of our conversation')
  })

  test('answers the question of a task, which then goes on and completes', async () => {
    const question = await read(client, message('sandbox:interactive Shall I?'))
    expect(question.states.at(-1)).toBe('INPUT_REQUIRED')
    expect(question.said.at(-1)).toBe('Shall I go on with “Shall I?”?')
    const { taskId, contextId } = question
    const rest = await read(client, message('the blue one', { taskId, contextId }))
    expect(rest.states).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED'])
    expect(rest.text).toMatch(/^You answered “the blue one”\.\n\nHello from the A2A emulator/)
    const [run, ...others] = running.agent.seen.runs.filter(({ id }) => id === taskId)
    expect(run).toMatchObject({ state: 'finished', answers: ['the blue one'] })
    expect(others).toEqual([])
  })

  test('answers a form with data, and a text only makes it ask again', async () => {
    const question = await read(client, message('sandbox:interactive=form Buy it'))
    const { taskId, contextId } = question
    expect(question.data.at(-1)).toMatchObject({
      suspendPayload: { toolName: 'go-on', resumeSchema: { type: 'object', required: ['approved'] } },
    })
    const again = await read(client, message('yes', { taskId, contextId }))
    expect(again.states).toEqual(['INPUT_REQUIRED', 'INPUT_REQUIRED'])
    const rest = await read(
      client,
      message('', { taskId, contextId, data: { approved: true, size: 'small' } }),
    )
    expect(rest.text).toMatch(/^You filled in:\n- approved: true\n- size: small\n\n/)
  })

  test('cancels a task, of which its stream is told', async () => {
    const stream = client.sendMessageStream(request(message('sandbox:slow=20 sandbox:long=1000')))
    const states: string[] = []
    let id = ''
    for await (const { payload } of stream) {
      if (payload?.$case === 'task') id = payload.value.id
      if (payload?.$case === 'statusUpdate') states.push(nameOf(payload.value.status?.state))
      if (payload?.$case === 'artifactUpdate' && states.length === 1) {
        states.push('cancelling')
        const task = await client.cancelTask({ id, tenant: '', metadata: {} })
        expect(nameOf(task.status?.state)).toBe('CANCELED')
      }
    }
    expect(states).toEqual(['WORKING', 'cancelling', 'CANCELED'])
    const run = running.agent.seen.runs.find((each) => each.id === id)
    expect(run?.state).toBe('stopped')
    expect(running.agent.seen.stops.at(-1)).toMatchObject({ runId: id })
  })

  test('sees a stream that is cut off, while the task works on', async () => {
    const query = 'sandbox:truncate sandbox:echo one two three four'
    const { taskId, text, states } = await read(client, message(query))
    expect([text, states]).toEqual(['one two', ['SUBMITTED', 'WORKING']])
    const task = await client.getTask({ id: taskId, tenant: '' })
    expect(nameOf(task.status?.state)).toBe('WORKING')
    await expect(client.sendMessage(request(message(query)))).rejects.toThrow()
  })

  test('finds the whole text of a task whose connection was cut before the last state', async () => {
    const { taskId, states } = await read(client, message('a2a:cut-after-end=quiet sandbox:echo one two'))
    expect(states).toEqual(['SUBMITTED', 'WORKING'])
    const task = await client.getTask({ id: taskId, tenant: '' })
    expect(nameOf(task.status?.state)).toBe('COMPLETED')
    expect(textOf(task.artifacts[0]?.parts)).toBe('one two')
  })
})

test('sends files that it has received as an address or as bytes back as lines', async () => {
  const { baseUrl } = running.agent
  const file = (content: Part['content'], filename: string): Part => ({
    ...{ content, filename, mediaType: 'image/png', metadata: undefined },
  })
  const parts = [
    file({ $case: 'url', value: `${baseUrl}/made-files/a.png` }, 'a.png'),
    file({ $case: 'raw', value: Buffer.from('four') }, 'b.png'),
  ]
  const { text } = await read(await clientOf('HTTP+JSON', '1.0'), message('Hello', { parts }))
  expect(text).toMatch(/I received 2 files:\n- a\.png \(70 bytes, sha256 .*\)\n- b\.png \(4 bytes, sha256 /)
})

test('refuses a wrong key everywhere but for the card, which names the address that was asked', async () => {
  const { baseUrl } = running.agent
  const refused = await fetch(`${baseUrl}/rpc`, { method: 'POST', body: '{}' })
  expect([refused.status, await refused.json()]).toEqual([
    401,
    { error: { message: 'The key is not valid.' } },
  ])
  const headers = { 'a2a-version': '1.0', 'x-forwarded-prefix': '/agents/one' }
  const card = await (await fetch(`${baseUrl}/.well-known/agent-card.json`, { headers })).json()
  expect(card).toMatchObject({ supportedInterfaces: [{ url: `${baseUrl}/agents/one/rest` }, {}, {}, {}] })
})

test('shares its tasks with a second address, of which each can fail as a whole', async () => {
  const second = await running.startSecond(0)
  await running.agent.control.fail('503')
  expect((await fetch(`${running.agent.baseUrl}/.well-known/agent-card.json`)).status).toBe(503)
  const card = await fetch(`${second.agent.baseUrl}/.well-known/agent-card.json`)
  expect(await card.text()).toContain(second.agent.baseUrl)
  await running.agent.control.recover()
  await second.close()
})

async function clientOf(binding: string, version: string): Promise<Client> {
  const { baseUrl, apiKey } = running.agent
  const fetchImpl: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${apiKey}`)
    return fetch(url, { ...init, headers })
  }
  const options = { fetchImpl, legacyCompat: { enabled: true } }
  const card = await new DefaultAgentCardResolver(options).resolve(baseUrl)
  const wanted = card.supportedInterfaces.filter(
    ({ protocolBinding, protocolVersion }) => protocolBinding === binding && protocolVersion === version,
  )
  const transports = [new RestTransportFactory(options), new JsonRpcTransportFactory(options)]
  return new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces: wanted })
}

interface Sent {
  readonly taskId?: string
  readonly contextId?: string
  readonly data?: object
  readonly parts?: readonly Part[]
}

function message(query: string, { taskId = '', contextId = '', data, parts = [] }: Sent = {}): Message {
  const plain = { filename: '', mediaType: '', metadata: undefined }
  const text: Part = { content: { $case: 'text', value: query }, ...plain }
  const fields: Part = { content: { $case: 'data', value: data }, ...plain }
  return {
    messageId: randomUUID(),
    role: Role.ROLE_USER,
    taskId,
    contextId,
    parts: [...(query === '' ? [] : [text]), ...(data === undefined ? [] : [fields]), ...parts],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
}

function request(question: Message) {
  return { tenant: '', message: question, configuration: undefined, metadata: undefined }
}

/** What a stream has told, oldest first. */
async function read(client: Client, question: Message) {
  const pieces: string[] = []
  const states: string[] = []
  const said: string[] = []
  const data: unknown[] = []
  let [taskId, contextId] = ['', '']
  for await (const { payload } of client.sendMessageStream(
    request(question),
  ) as AsyncIterable<StreamResponse>) {
    if (payload?.$case === 'task') {
      taskId = payload.value.id
      contextId = payload.value.contextId
    }
    if (payload?.$case === 'artifactUpdate') pieces.push(textOf(payload.value.artifact?.parts))
    if (payload?.$case !== 'task' && payload?.$case !== 'statusUpdate') continue
    const { status } = payload.value
    states.push(nameOf(status?.state))
    said.push(textOf(status?.message?.parts))
    for (const { content } of status?.message?.parts ?? [])
      if (content?.$case === 'data') data.push(content.value)
  }
  return { taskId, contextId, pieces, states, said, data, text: pieces.join('') }
}

function textOf(parts: readonly Part[] = []): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')
}

function nameOf(state: TaskState | undefined): string {
  return TaskState[state ?? TaskState.TASK_STATE_UNSPECIFIED].replace('TASK_STATE_', '')
}
