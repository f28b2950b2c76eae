import { describe, expect, test } from 'vitest'
import type { Agent, HelperCall } from '#core/agents/adapter.ts'
import { detailsIn } from '#core/agents/chat-events.test-support.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import type { PauseAnswer } from '#core/agents/pause.ts'
import { agentFor, callOf, textSent } from '#core/agents/transcripts.test-support.ts'
import { langgraph } from './adapter.ts'
import { BREAKPOINT, pauseOf } from './interrupts.ts'

type Call = Parameters<typeof langgraph.buildRequest>[0]
const KEY = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
const THREAD = '01234567-89ab-8def-8123-456789abcdef'

function callTo(more: Partial<Call> = {}, options: object = {}): Call {
  const agent = agentFor(langgraph)
  return {
    ...callOf({ ...agent, options: { ...agent.options, ...options } } as Agent as Call['agent']),
    platformConversationId: KEY,
    ...more,
  }
}
const sent = (call: Call) => {
  const { url, headers, ...request } = langgraph.buildRequest(call)
  return { url, headers, body: JSON.parse(textSent(request)) }
}

describe('the run', () => {
  test('is one of a thread with a UUID of the conversation, and ends with its client unless it is kept', () => {
    const { url, headers, body } = sent(callTo())
    expect(url).toBe(`https://platform.example/threads/${THREAD}/runs/stream`)
    expect(headers).toMatchObject({ 'x-api-key': 'key-of-agent' })
    expect(body).toEqual({
      assistant_id: 'agent',
      input: { messages: [{ role: 'user', content: 'hello' }] },
      stream_mode: ['messages-tuple', 'updates'],
      stream_subgraphs: true,
      stream_resumable: true,
      if_not_exists: 'create',
      multitask_strategy: 'reject',
      on_disconnect: 'cancel',
      metadata: { end_user: '0123456789abcdefghij' },
    })
    expect(sent(callTo({ isKept: true })).body.on_disconnect).toBe('continue')
  })

  test('is that of the assistant of the app, or of the agent', () => {
    const app = { id: 'writer', name: 'Writer', default: true }
    const assistants = [
      callTo({ app: { ...app, options: {} } }),
      callTo({ app: { ...app, options: { assistantId: 'a1' } } }),
      callTo({}, { assistantId: 'research' }),
    ].map((call) => sent(call).body.assistant_id)
    expect(assistants).toEqual(['writer', 'a1', 'research'])
  })

  test('takes the key as a bearer token where the entry says so, and variables that cannot replace the messages', () => {
    const { headers, body } = sent(
      callTo({ variables: { city: 'Paris', messages: [] } }, { keyHeader: 'authorization' }),
    )
    expect(headers).toMatchObject({ authorization: 'Bearer key-of-agent' })
    expect(headers).not.toHaveProperty('x-api-key')
    expect(body.input).toEqual({ city: 'Paris', messages: [{ role: 'user', content: 'hello' }] })
  })
})

describe('an interrupt', () => {
  const answerTo = (value: unknown, given: Partial<PauseAnswer>, waiting: PauseAnswer['waiting'] = []) => {
    const pause = pauseOf({ id: 'i1', values: [value] })
    const answer: PauseAnswer = { fields: {}, text: '', ...given, pause, waiting }
    const { body } = sent(callTo({ answer }))
    expect(body).not.toHaveProperty('input')
    return body.command.resume
  }

  test.each<[string, unknown, object]>([
    ['a text', 'Which one?', { question: 'Which one?', options: [], takesText: true }],
    [
      'an object with options',
      { question: 'Which one?', options: ['red', { value: 7, label: 'blue' }] },
      {
        question: 'Which one?',
        options: [
          { id: 'red', title: 'red' },
          { id: '7', title: 'blue' },
        ],
      },
    ],
    [
      'an object with a schema',
      { message: 'Fill in.', schema: { properties: { ok: { type: 'boolean' } }, required: ['ok'] } },
      { question: 'Fill in.', fields: [{ name: 'ok', type: 'checkbox', required: true }], takesText: false },
    ],
    ['another object', { a: 1 }, { question: '{"a":1}', takesText: true }],
    [
      'a review of tool calls',
      {
        action_requests: [
          { name: 'send', args: { to: 'Ada' } },
          { name: 'pay', description: 'Pay 3 €.' },
        ],
        review_configs: [
          { allowed_decisions: ['approve', 'edit', 'reject'] },
          { allowed_decisions: ['approve'] },
        ],
      },
      {
        question: 'send {"to":"Ada"}\n\nPay 3 €.',
        options: [{ id: 'approve', title: 'approve' }],
        takesText: false,
      },
    ],
  ])('with %s is a pause', (_name, value, pause) => {
    expect(pauseOf({ id: 'i1', values: [value] })).toMatchObject(pause)
  })

  test('is answered with a text, the value of an option, a form, or decisions', () => {
    expect(answerTo('Which?', { text: 'blue' })).toBe('blue')
    expect(answerTo('Which?', { text: '{"a":1}' })).toEqual({ a: 1 })
    expect(answerTo({ options: ['red', { value: 7, label: 'blue' }] }, { option: '7' })).toBe(7)
    expect(answerTo({ schema: { properties: { ok: {} } } }, { fields: { ok: true } })).toEqual({ ok: true })
    const review = { action_requests: [{ name: 'send' }, { name: 'pay' }] }
    expect(answerTo(review, { option: 'approve' })).toEqual({
      decisions: [{ type: 'approve' }, { type: 'approve' }],
    })
  })

  test('is answered by a value of any type, which stays what it is', () => {
    expect(answerTo('Approve?', { value: false })).toBe(false)
    expect(answerTo('Approve?', { text: 'false' })).toBe('false')
    expect(answerTo('Which?', { text: '[1,2]' })).toEqual([1, 2])
    expect(answerTo({ question: 'Approve?', options: [true, false] }, { option: 'false' })).toBe(false)
  })

  test('in the older form of reviews is answered by one reply for each request', () => {
    const request = (action: string, allow_respond: boolean) => ({
      action_request: { action, args: {} },
      config: { allow_accept: true, allow_ignore: action === 'send', allow_respond },
    })
    const one = [request('send', true)]
    const two = [request('send', false), request('pay', true)]
    expect(pauseOf({ id: 'i1', values: [two] })).toMatchObject({
      question: 'send {}\n\npay {}',
      options: [{ id: 'accept', title: 'accept' }],
      takesText: false,
    })
    const accepted = { type: 'accept', args: null }
    expect(answerTo(two, { option: 'accept' })).toEqual([accepted, accepted])
    expect(answerTo(one, { text: 'To Bob.' })).toEqual([{ type: 'response', args: 'To Bob.' }])
  })

  test('at which a graph was made to wait goes on without an answer', () => {
    const { body } = sent(
      callTo({ answer: { fields: {}, text: '', option: 'continue', pause: BREAKPOINT, waiting: [] } }),
    )
    expect(body).toMatchObject({ input: null })
    expect(body).not.toHaveProperty('command')
  })

  test('is named by its id where others wait as well', () => {
    const other = pauseOf({ id: 'i2', values: ['And?'] })
    expect(answerTo('Which?', { text: 'blue' }, [other])).toEqual({ i1: 'blue' })
  })
})

function read(
  frames: readonly (readonly [string, unknown])[],
  more: Partial<Call> = {},
  options: object = {},
) {
  const call = callTo(more, options)
  const state = langgraph.start(call)
  const events = frames.flatMap(([event, data]) =>
    langgraph.translate({ event, data: JSON.stringify(data) }, state),
  )
  return { call, state, events, answer: events.filter(({ type }) => type !== 'detail') }
}
const piece = (content: unknown, id = 'm1', more: object = {}, node = 'model') =>
  [{ type: 'ai', id, content, ...more }, { langgraph_node: node }] as const
const usage = (input: number, output: number) => ({
  usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output },
})

describe('the answer', () => {
  test.each(['ai', 'AIMessageChunk'])('consists of the pieces of a message of the type %s', (type) => {
    const { answer } = read([
      ['messages', piece('Hel', 'm1', { type })],
      ['messages', piece('lo', 'm1', { type })],
      ['messages', piece('!', 'm1', { type })],
      ['messages', [{ type: 'human', content: 'no' }, {}]],
      ['messages', [{ type: 'tool', content: 'no' }, {}]],
    ])
    expect(answer).toEqual(['Hel', 'lo', '!'].map((text) => ({ type: 'text', text })))
  })

  test('is the last message, also one of a sub-graph', () => {
    const { answer } = read([
      ['messages', piece('Let me see.')],
      ['messages|write:1', piece('So', 'm2')],
      ['messages|write:1', piece(' it is.', 'm2')],
    ])
    expect(answer).toEqual([
      { type: 'text', text: 'Let me see.' },
      { type: 'replace', text: 'So' },
      { type: 'text', text: ' it is.' },
    ])
  })

  test('is the message that began last where nodes answer at the same time', () => {
    const { answer } = read([
      ['messages', piece('one ', 'm1', {}, 'a')],
      ['messages', piece('eins ', 'm2', {}, 'b')],
      ['messages', piece('two ', 'm1', {}, 'a')],
      ['messages', piece('zwei ', 'm2', {}, 'b')],
      ['messages', piece('three', 'm1', {}, 'a')],
      ['messages', piece('drei', 'm2', {}, 'b')],
    ])
    expect(answer).toEqual([
      { type: 'text', text: 'one ' },
      { type: 'replace', text: 'eins ' },
      { type: 'text', text: 'zwei ' },
      { type: 'text', text: 'drei' },
    ])
  })

  test('is what the named node or sub-graph says', () => {
    const frames = [
      ['messages', piece('plan', 'm1', {}, 'plan')],
      ['messages', piece('one', 'm2', {}, 'write')],
      ['messages|write:7', piece('two', 'm3', {}, 'inner')],
      ['messages', piece('review', 'm4', {}, 'review')],
    ] as const
    expect(read(frames, {}, { node: 'write' }).answer).toEqual([
      { type: 'text', text: 'one' },
      { type: 'replace', text: 'two' },
    ])
  })

  test('is replaced where the state of the graph has another text for the same message', () => {
    const { answer } = read([
      ['messages', piece('secret')],
      ['updates', { guard: { messages: [{ type: 'ai', id: 'm1', content: '***' }] } }],
      ['updates', { guard: { messages: [{ type: 'ai', id: 'm1', content: '***' }] } }],
    ])
    expect(answer).toEqual([
      { type: 'text', text: 'secret' },
      { type: 'replace', text: '***' },
    ])
  })

  test('may have files and reasoning among its parts', () => {
    const image = { type: 'image_url', image_url: { url: 'https://files.example.com/a.png' } }
    const { answer } = read([
      ['messages', piece([{ type: 'text', text: 'Here: ' }, image])],
      ['messages', piece('', 'm1', { additional_kwargs: { reasoning_content: 'Hm.' } })],
    ])
    expect(answer).toMatchObject([
      { type: 'text', text: 'Here: ' },
      { type: 'file', file: { url: 'https://files.example.com/a.png' } },
      { type: 'reasoning', text: 'Hm.' },
    ])
  })

  test('counts the tokens of each message once', () => {
    const { answer } = read([
      ['messages', piece('', 'm1', usage(5, 1))],
      ['updates', { model: { messages: [{ type: 'ai', id: 'm1', content: '', ...usage(5, 1) }] } }],
      ['updates', { model: { messages: [{ type: 'ai', id: 'm2', content: '', ...usage(7, 2) }] } }],
    ])
    expect(answer).toEqual([
      { type: 'usage', usage: { promptTokens: 5, completionTokens: 1, totalTokens: 6 } },
      { type: 'usage', usage: { promptTokens: 12, completionTokens: 3, totalTokens: 15 } },
    ])
  })

  test('comes with its tool calls, results and nodes as details, each once', () => {
    const call = { name: 'search', args: { q: 'x' }, id: 'c1' }
    const messages = [
      { type: 'ai', id: 'm1', content: '', tool_calls: [call] },
      { type: 'tool', id: 't1', tool_call_id: 'c1', name: 'search', content: 'found', status: 'success' },
    ]
    const { events } = read([
      ['updates|agent:1', { model: { messages } }],
      ['updates', { agent: { messages } }],
    ])
    expect(detailsIn(events)).toMatchObject([
      { type: 'node_finished', name: 'model' },
      { type: 'tool_call', id: 'c1', name: 'search', data: { arguments: '{"q":"x"}' } },
      { type: 'tool_result', id: 'c1', name: 'search', status: 'success', data: { output: 'found' } },
      { type: 'node_finished', name: 'agent' },
    ])
  })

  test('may be several questions, each of which is asked once', () => {
    const interrupts = [
      { id: 'i1', value: 'One?' },
      { id: 'i2', value: 'Two?' },
    ]
    const { answer } = read([
      ['updates|a:1', { __interrupt__: [interrupts[0]] }],
      ['updates', { __interrupt__: interrupts }],
    ])
    expect(answer).toMatchObject(
      interrupts.map(({ value }) => ({ type: 'pause', pause: { question: value } })),
    )
  })

  test.each<[object, string]>([
    [{ error: 'TypeError', message: 'terminated' }, 'agent_error'],
    [{ error: 'AuthenticationError', message: 'Incorrect API key provided' }, 'agent_error'],
    [{ error: 'RateLimitError', message: 'Rate limit reached: 3 requests per minute' }, 'agent_rate_limited'],
    [{ error: 'EmptyInputError', message: 'Received no input' }, 'agent_rejected_input'],
  ])('fails by an error of its run: %j', (error, reason) => {
    expect(read([['error', error]]).answer).toMatchObject([{ type: 'error', failure: { reason } }])
  })
})

describe('what is asked beside the run', () => {
  const RUN = ['metadata', { run_id: 'r1', attempt: 1 }] as const
  const ask = <Result>(call: HelperCall<Result> | undefined, status: number, body: unknown) =>
    call?.read(status, body, () => undefined)
  const conclusion = (
    status: string,
    frames: readonly (readonly [string, unknown])[],
    more: Partial<Call> = {},
  ) => {
    const { call, state } = read([RUN, ...frames], more)
    const helper = langgraph.conclude?.(call, state)
    expect(helper?.request.url).toBe(`https://platform.example/threads/${THREAD}/runs/r1`)
    const result = ask(helper, 200, { status })
    return result !== undefined && 'ok' in result ? (result.ok as readonly ChatEvent[]) : result
  }

  test.each<[string, object[]]>([
    ['success', [{ type: 'end', reason: 'stop' }]],
    ['interrupted', [{ type: 'error', failure: { reason: 'agent_truncated', platformCode: 'interrupted' } }]],
    ['error', [{ type: 'error', failure: { reason: 'agent_error', platformCode: 'error' } }]],
    ['timeout', [{ type: 'error', failure: { reason: 'agent_timeout', platformCode: 'timeout' } }]],
  ])('a run whose status is %s after the end of its bytes', (status, events) => {
    const update = { model: { messages: [{ type: 'ai', id: 'm1', content: 'Hello' }] } }
    const frames = [
      ['messages', piece('Hello')],
      ['updates', update],
    ] as const
    expect(conclusion(status, frames)).toEqual(events)
  })

  test('an answer of which no piece was sent is taken from the state of the graph', () => {
    const update = { write: { messages: [{ type: 'ai', id: 'm1', content: 'Hello' }] } }
    expect(conclusion('success', [['updates', update]])).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'end', reason: 'stop' },
    ])
  })

  test('a run that did nothing with an answer shows that nothing waited for one', () => {
    const answer = { fields: {}, text: 'blue', pause: pauseOf({ id: 'i1', values: ['?'] }), waiting: [] }
    expect(conclusion('success', [], { answer })).toMatchObject([
      { type: 'error', failure: { reason: 'pause_over' } },
    ])
  })

  test('a run that ends with a tool call and no text is agent_requires_action', () => {
    const called = { type: 'ai', id: 'm1', content: '', tool_calls: [{ id: 'c1', name: 'search', args: {} }] }
    const frames = [['updates', { model: { messages: [called] } }]] as const
    expect(conclusion('success', frames)).toMatchObject([
      { type: 'error', failure: { reason: 'agent_requires_action' } },
    ])
  })

  test('a run that still works is asked about again', () => {
    expect(conclusion('running', [['messages', piece('Hello')]])).toBe('working')
  })

  test('the run is known from the head of its reply, so that a stop reaches a run that waits', () => {
    const call = callTo({})
    const state = langgraph.start(call)
    langgraph.begin?.((name) => (name === 'content-location' ? '/threads/t1/runs/r-1' : undefined), state)
    expect(langgraph.stop?.(call, state)?.request.url).toContain('/runs/r-1/cancel')
  })

  test('a pause needs no further question about its run', () => {
    const { call, state } = read([RUN, ['updates', { __interrupt__: [{ id: 'i1', value: 'Which?' }] }]])
    expect(langgraph.conclude?.(call, state)).toBeUndefined()
    expect(langgraph.finish(state)).toEqual([{ type: 'end', reason: 'stop' }])
  })

  test('nothing is asked of a run that has failed, or that has no id', () => {
    const failed = read([RUN, ['error', { error: 'TypeError', message: 'terminated' }]])
    expect(langgraph.conclude?.(failed.call, failed.state)).toBeUndefined()
    const unknown = read([])
    expect(langgraph.conclude?.(unknown.call, unknown.state)).toBeUndefined()
    expect(langgraph.stop?.(unknown.call, unknown.state)).toBeUndefined()
  })

  test('a run is cancelled without waiting for its end, and one that is over was', () => {
    const { call, state } = read([RUN])
    const stop = langgraph.stop?.(call, state)
    expect(stop?.request.url).toBe(
      `https://platform.example/threads/${THREAD}/runs/r1/cancel?wait=0&action=interrupt`,
    )
    for (const status of [202, 204, 404]) expect(ask(stop, status, '')).toEqual({ ok: undefined })
    expect(ask(stop, 401, 'Unauthorized')).toMatchObject({ failure: { reason: 'agent_credentials' } })
  })

  test.each<[number, unknown, object]>([
    [200, [], { ok: 'available' }],
    [401, 'Invalid key', { failure: { reason: 'agent_credentials' } }],
    [404, 'Not Found', { ok: 'degraded' }],
    [502, '<html>', { failure: { reason: 'agent_error' } }],
    [200, '<html>', { failure: {} }],
  ])('a probe that is answered %i with %j', (status, body, result) => {
    expect(ask(langgraph.probe(callTo().agent), status, body)).toMatchObject(result)
  })

  test.each<[number, unknown, string, 'none' | undefined]>([
    [422, 'Thread is already running a task. Wait for it to finish', 'conversation_busy', 'none'],
    [422, { detail: 'Thread is already running a task.' }, 'conversation_busy', 'none'],
    [409, { detail: 'conflict' }, 'conversation_busy', undefined],
    [422, { detail: [{ loc: ['body', 'input'], msg: 'field required' }] }, 'agent_rejected_input', undefined],
    [404, 'Assistant not found', 'agent_misconfigured', undefined],
    [401, { error: 'Unauthorized' }, 'agent_credentials', 'none'],
  ])('a refusal with %i and %j', (status, body, reason, turn) => {
    const failure = langgraph.toFailure(status, body, () => undefined)
    expect([failure.reason, failure.turn]).toEqual([reason, turn])
  })
})
