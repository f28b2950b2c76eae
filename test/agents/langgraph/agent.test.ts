import { randomUUID } from 'node:crypto'
import { asList, asRecord, asText, type JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningLangGraphAgent, startLangGraphAgent } from './agent.ts'

// A process, because LangGraph's server runs in one of its own.

let running: RunningLangGraphAgent
beforeAll(async () => {
  running = await startLangGraphAgent({ delayMs: 0 })
})
afterAll(() => running.close())

const ECHO = 'sandbox:echo one two three four'

describe('a run', { concurrent: true }, () => {
  test('streams a text in pieces, and the tokens after them', async () => {
    const { texts, usage, location, run } = await ask('sandbox:echo Hello 你好 🙂')
    expect(texts).toEqual(['Hello', ' ', '你好', ' ', '🙂'])
    expect(usage).toMatchObject({ input_tokens: 8, output_tokens: 5, total_tokens: 13 })
    expect(location).toMatch(new RegExp(`^/threads/[0-9a-f-]{36}/runs/${run}$`))
  })

  test('belongs to a conversation, whose turns are in the state of its thread', async () => {
    const thread = randomUUID()
    await ask('My name is Ada.', { thread })
    expect((await ask('What is my name?', { thread })).text).toContain('Your name is Ada')
    expect((await ask('Hello', { thread })).text).toContain('This is turn 3 of our conversation')
    const state = asRecord(await call('GET', `/threads/${thread}/state`))
    expect(asList(asRecord(state.values).messages)).toHaveLength(6)
  })

  test('is logged with the ids of LangGraph, and has ended when its stream ends', async () => {
    const thread = randomUUID()
    const { run: id } = await ask(`${ECHO} ${thread}`, { thread })
    const [run, ...others] = running.agent.seen.runs.filter(({ query }) => query.includes(thread))
    expect(run).toMatchObject({ id, conversationId: thread, state: 'finished' })
    expect(others).toEqual([])
  })

  test('fails in the words of LangGraph', async () => {
    const { text, events } = await ask(`sandbox:error-midstream ${ECHO}`)
    expect(text).toBe('one two')
    expect(events.at(-1)).toEqual({ event: 'error', data: { error: 'TypeError', message: 'terminated' } })
    const failed = await ask(`sandbox:node-failed ${ECHO}`)
    expect([failed.text, failed.events.at(-1)?.event]).toEqual(['one two three four', 'error'])
    const first = await ask(`sandbox:error-first ${ECHO}`)
    expect(first.events.map(({ event }) => event)).toEqual(['metadata', 'error'])
  })

  test('gives several messages, replaces one, and calls tools', async () => {
    const { texts, nodes } = await ask(`sandbox:multi ${ECHO}`)
    expect([texts.join('|'), [...nodes]]).toEqual(['one| two| three| four', ['agent', 'goOn']])
    const thread = randomUUID()
    await ask(`sandbox:replace ${ECHO}`, { thread })
    const state = asRecord(await call('GET', `/threads/${thread}/state`))
    expect(asList(asRecord(state.values).messages).map((message) => asRecord(message).content)).toEqual([
      `sandbox:replace ${ECHO}`,
      '抱歉，我不能回答。Sorry, I cannot answer that.',
    ])
    const tool = await ask(`langgraph:tool ${ECHO}`)
    expect([tool.text, [...tool.nodes]]).toEqual(['one two three four', ['agent', 'tools']])
    expect((await ask(`sandbox:requires-action ${ECHO}`)).text).toBe('')
  })

  test('has the answer of a graph within the graph under an event of its own', async () => {
    const { events } = await ask(`langgraph:subgraph ${ECHO}`, { body: { stream_subgraphs: true } })
    const texts = events.filter(({ event }) => /^messages\|team:[0-9a-f-]{36}$/.test(event))
    expect(texts.map(({ data }) => asRecord(asList(data)[0]).content)).toContain(' three')
    const { texts: whole } = await ask(`langgraph:subgraph ${ECHO}`)
    expect(whole).toEqual(['one two three four'])
  })

  test('gets variables, and files as parts of the message', async () => {
    const { text } = await ask('langgraph:variables', {
      body: { config: { configurable: { topic: 'bees' } } },
    })
    expect(text).toBe('- topic: bees')
    const content = [
      { type: 'text', text: 'Hello' },
      { type: 'image_url', image_url: { url: `${running.agent.baseUrl}/made-files/a.png` } },
      { type: 'file', file: { filename: 'b.txt', file_data: 'data:text/plain;base64,Zm91cg==' } },
      { type: 'file', url: 'https://files.example.com/c.pdf', mimeType: 'application/pdf' },
    ]
    const files = await ask(content)
    expect(files.text).toMatch(
      /I received 3 files:\n- a\.png \(70 bytes, sha256 .*\)\n- b\.txt \(4 bytes, sha256 .*\)\n.*c\.pdf \(not/,
    )
  })
})

describe('an interrupt', { concurrent: true }, () => {
  test('is answered, and what follows is a part of the run that asked', async () => {
    const thread = randomUUID()
    const question = await ask('sandbox:interactive Shall I?', { thread })
    const options = ['Approve', 'Reject']
    expect(question.interrupts).toMatchObject([{ value: { options, question: expect.any(String) } }])
    const [run] = running.agent.seen.runs.filter(({ conversationId }) => conversationId === thread)
    expect(run).toMatchObject({ id: question.run, state: 'paused' })
    const rest = await answer(thread, 'Approve')
    expect(rest.text).toMatch(/^You chose “Approve”\.\n\nHello from the LangGraph emulator/)
    expect(rest.run).not.toBe(question.run)
    expect(run).toMatchObject({ state: 'finished', answers: ['Approve'] })
    const again = await answer(thread, 'Approve')
    expect(again.events.map(({ event }) => event)).toEqual(['metadata'])
    expect(running.agent.seen.turns({ conversationId: thread })).toBe(1)
  })

  test('asks for fields until it gets some', async () => {
    const form = await interrupted('sandbox:interactive=form Buy it')
    expect((await answer(form.thread, 'yes')).interrupts).toMatchObject([{ value: { schema: {} } }])
    const filled = await answer(form.thread, { approved: true, size: 'small' })
    expect(filled.text).toMatch(/^You filled in:\n- approved: true\n- size: small\n\n/)
  })

  test('asks twice', async () => {
    const twice = await interrupted('sandbox:interactive=twice Buy it')
    expect((await answer(twice.thread, 'Approve')).interrupts).toHaveLength(1)
    expect((await answer(twice.thread, 'no')).text).toMatch(/^You chose “Approve”\.\n\nYou answered “no”\./)
  })

  test('asks in two places at once, of which each has its answer', async () => {
    const both = await interrupted('sandbox:interactive=both Buy it')
    const [first = '', second = ''] = both.interrupts.map(({ id }) => asText(id))
    expect((await answer(both.thread, { [first]: 'Approve' })).interrupts).toMatchObject([{ id: second }])
    expect((await answer(both.thread, { [second]: 'Reject' })).text).toContain('You chose “Reject”')
  })

  test('may be a plain text, or what the middleware of LangChain asks', async () => {
    const text = await interrupted('sandbox:interactive=text Buy it')
    expect(text.interrupts[0]?.value).toBe('What should I know about “Buy it”?')
    const review = await interrupted('langgraph:review Bonn')
    expect(review.interrupts[0]?.value).toMatchObject({ actionRequests: [{ args: { city: 'Bonn' } }] })
  })
})

describe('a run that is left', () => {
  const ENDLESS = 'sandbox:slow=10 sandbox:long=100000'

  test('is cancelled by a call, of which the model hears', async () => {
    const { run, thread, response } = await open(ENDLESS)
    const path = `/threads/${thread}/runs/${run}/cancel`
    expect((await send('POST', path)).status).toBe(202)
    expect((await send('POST', path.replace(run, randomUUID()))).status).toBe(404)
    await response.text()
    const { seen } = running.agent
    expect(seen.stops.slice(-2).map(({ runId }) => runId)).toEqual([run, undefined])
    expect(seen.runs.find(({ id }) => id === run)?.state).toBe('stopped')
    expect(await stateOfModel(run)).toBe('left')
  })

  test('is cancelled when its connection closes, within a second, if it has said so', async () => {
    const { run, leave } = await open(ENDLESS)
    const leftAt = performance.now()
    leave()
    expect(await stateOfModel(run)).toBe('left')
    expect(performance.now() - leftAt).toBeLessThan(1_000)
    await running.agent.seen.waitFor(({ runs }) => runs.find(({ id }) => id === run)?.state === 'aborted')
  })

  test('goes on otherwise', async () => {
    const { run, leave } = await open('sandbox:slow=20 sandbox:long=20', { on_disconnect: 'continue' })
    leave()
    expect(await stateOfModel(run)).toBe('finished')
    await running.agent.seen.waitFor(({ runs }) => runs.find(({ id }) => id === run)?.state === 'finished')
  })
})

describe('a fault of the connection', () => {
  test('strikes amid the text, while the graph works on', async () => {
    const { text, run, thread } = await ask(`sandbox:truncate ${ECHO}`, {
      body: { on_disconnect: 'continue' },
    })
    expect(text).toBe('one two')
    const path = `/threads/${thread}/runs/${run}`
    expect(await call('GET', path)).toMatchObject({ status: 'running' })
    const rest = await send('GET', `${path}/stream`, undefined, { 'last-event-id': '0' })
    expect(textOf(framesOf(await rest.text()))).toBe('one two three four')
    await expect(ask(`sandbox:reset ${ECHO}`)).rejects.toThrow()
  })

  test('strikes before the first byte, when the graph works already', async () => {
    const thread = randomUUID()
    const response = await send('POST', `/threads/${thread}/runs/stream`, bodyOf('sandbox:html=503 Hello'))
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('<html>')])
    expect((await ask('Hello', { thread })).text).toContain('it began with “sandbox:html=503 Hello”')
  })
})

test('refuses in the words of LangGraph', async () => {
  const refusals: unknown[] = []
  for (const kind of ['credentials', 'busy', 'not-found', 'app-not-found', 'rejected', 'rate-limit']) {
    const thread = randomUUID()
    const body = bodyOf(`sandbox:error=${kind} Hello`)
    const response = await send('POST', `/threads/${thread}/runs/stream`, body)
    refusals.push([response.status, (await response.text()).slice(0, 24)])
    expect(running.agent.seen.turns({ conversationId: thread })).toBe(0)
  }
  expect(refusals).toEqual([
    [401, 'Invalid API key'],
    [422, 'Thread is already running'.slice(0, 24)],
    [404, expect.stringMatching(/^Thread with ID /)],
    [404, expect.stringMatching(/^No assistant found for/)],
    [400, expect.stringMatching(/^\{"success":false/)],
    [429, 'Too Many Requests'],
  ])
  const wrong = await fetch(`${running.agent.baseUrl}/assistants/search`, { method: 'POST' })
  expect([wrong.status, await wrong.text()]).toEqual([401, 'Invalid API key'])
})

test('shares its threads with a second address, of which each can fail as a whole', async () => {
  const thread = randomUUID()
  await ask('My name is Ada.', { thread })
  const second = await running.startSecond(0)
  await running.agent.control.fail('503')
  expect((await send('GET', '/info')).status).toBe(503)
  const state = await fetch(`${second.agent.baseUrl}/threads/${thread}/state`, {
    headers: { 'x-api-key': second.agent.apiKey },
  })
  expect(await state.text()).toContain('Ada')
  await running.agent.control.recover()
  await second.close()
})

interface Event {
  readonly event: string
  readonly data: unknown
}

interface Asked {
  readonly thread?: string
  readonly body?: JsonRecord
}

function bodyOf(content: unknown, more: JsonRecord = {}): JsonRecord {
  return {
    assistant_id: 'agent',
    stream_mode: ['messages-tuple', 'updates'],
    stream_resumable: true,
    if_not_exists: 'create',
    on_disconnect: 'cancel',
    input: { messages: [{ role: 'user', content }] },
    ...more,
  }
}

/** What a stream has told. */
async function ask(content: unknown, { thread = randomUUID(), body = {} }: Asked = {}) {
  const response = await send('POST', `/threads/${thread}/runs/stream`, bodyOf(content, body))
  return { thread, ...(await read(response)) }
}

async function answer(thread: string, resume: unknown) {
  const { input: _input, ...body } = bodyOf('')
  return read(await send('POST', `/threads/${thread}/runs/stream`, { ...body, command: { resume } }))
}

async function interrupted(query: string) {
  const told = await ask(query)
  expect(told.text).toBe('')
  expect(told.interrupts.length).toBeGreaterThan(0)
  return told
}

/** Begins a run and reads until its text begins. */
async function open(query: string, more: JsonRecord = {}) {
  const thread = randomUUID()
  const leaving = new AbortController()
  const response = await send(
    'POST',
    `/threads/${thread}/runs/stream`,
    bodyOf(query, more),
    {},
    leaving.signal,
  )
  const run = response.headers.get('content-location')?.split('/').at(-1) ?? ''
  await running.agent.seen.waitFor(() => running.model.calls.some((each) => each.run === run))
  return { thread, run, response, leave: () => leaving.abort() }
}

async function stateOfModel(run: string) {
  const call = await running.agent.seen.waitFor(() =>
    running.model.calls.find((each) => each.run === run && each.state !== 'running'),
  )
  return call.state
}

async function call(method: string, path: string): Promise<unknown> {
  return (await send(method, path)).json()
}

function send(
  method: string,
  path: string,
  body?: JsonRecord,
  more: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const { baseUrl, apiKey } = running.agent
  return fetch(baseUrl + path, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...more },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  })
}

async function read(response: Response) {
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const events = framesOf(await response.text())
  const pieces = events.filter(isText).map(({ data }) => asList(data).map(asRecord))
  const messages = pieces.map(([message = {}]) => message)
  return {
    events,
    location: response.headers.get('content-location') ?? '',
    run: asText(asRecord(events[0]?.data).run_id),
    text: textOf(events),
    texts: messages.map(({ type, content }) => (type === 'ai' ? asText(content) : '')).filter(Boolean),
    nodes: new Set(pieces.map(([, metadata]) => asText(metadata?.langgraph_node))),
    usage: messages.findLast(({ usage_metadata }) => usage_metadata !== undefined)?.usage_metadata,
    interrupts: events.flatMap(({ data }) => asList(asRecord(data).__interrupt__).map(asRecord)),
  }
}

function isText({ event }: Event): boolean {
  return event === 'messages' || event.startsWith('messages|')
}

function textOf(events: readonly Event[]): string {
  const messages = events.filter(isText).map(({ data }) => asRecord(asList(data)[0]))
  return messages.map(({ type, content }) => (type === 'ai' ? asText(content) : '')).join('')
}

function framesOf(stream: string): readonly Event[] {
  return stream
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)/.exec(frame) ?? []
      return { event, data: JSON.parse(data) as unknown }
    })
}
