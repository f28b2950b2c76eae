import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChatEvent, FinishReason } from '#core/agents/events.ts'
import { pauseEvent } from '#core/agents/pause.test-support.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import { collectReply } from '#core/calls/reading/collect-reply.ts'
import { ResponseEncoder, type ResponseOptions, responseCollector } from './encoder.ts'
import { readRequest } from './request.ts'
import { echoOf, responseHead } from './response.ts'

// biome-ignore lint/suspicious/noExplicitAny: events have the shapes that the expectations state.
type Any = any

const BODY = { model: 'dify', input: 'Hello' }
const CALL_ID = chatOf([]).callId
const END: ChatEvent = { type: 'end', reason: 'stop' }

function encoderOf(events: readonly ChatEvent[], more: Partial<ResponseOptions> = {}) {
  const chat = chatOf(events.map((event) => [event]))
  const echo = echoOf(BODY, readRequest(BODY))
  return { chat, encoder: new ResponseEncoder(chat, { ...OPTIONS, echo, ...more }) }
}
const OPTIONS = { reasoning: true, details: false, replaces: false }

/** The events of a stream, and whether `[DONE]` ended it. */
function streamOf(events: readonly ChatEvent[], more: Partial<ResponseOptions> = {}) {
  const { encoder } = encoderOf(events, more)
  return parsed(events.map((event) => encoder.encode(event)).join(''))
}

function parsed(text: string): { events: Any[]; isDone: boolean } {
  const data = text.split('\n\n').flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
  return {
    events: data.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line)),
    isDone: data.at(-1) === '[DONE]',
  }
}

const typesOf = (events: Any[]) => events.map(({ type }) => type.replace('response.', ''))

test.each([
  ['{"input":"*** Begin"}', '*** Begin'],
  ['*** Begin', '*** Begin'],
  ['{"input":5}', '{"input":5}'],
])('a call of a custom tool has the text of its argument: %s', (written, input) => {
  const body = { ...BODY, tools: [{ type: 'custom', name: 'apply_patch' }] }
  const delta = [
    { index: 0, id: 'c1', type: 'function', function: { name: 'apply_patch', arguments: written } },
  ]
  const { events } = streamOf([{ type: 'tool_calls', delta }, END], {
    echo: echoOf(body, readRequest(body)),
  })
  const item = { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input, status: 'completed' }
  expect(events.at(-1).response.output.at(-1)).toMatchObject(item)
  expect(typesOf(events).slice(-5)).toEqual([
    'output_item.added',
    'custom_tool_call_input.delta',
    'custom_tool_call_input.done',
    'output_item.done',
    'completed',
  ])
  expect(events.at(-3)).toMatchObject({ item_id: expect.stringMatching(/^ctc_/), input })
})

test('a text is one message with the full sequence of events, numbered, under constant ids', () => {
  const { events, isDone } = streamOf([{ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, END])
  expect(typesOf(events)).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
  expect(events.slice(2, -1).every((event) => (event.item_id ?? event.item.id) === `msg_${CALL_ID}`)).toBe(
    true,
  )
  const last = events.at(-1).response
  expect(last).toMatchObject({ id: `resp_${CALL_ID}`, status: 'completed', usage: null })
  expect(last.output).toEqual([events.at(-2).item])
  expect(last.output[0].content[0].text).toBe('Hello')
  expect(isDone).toBe(true)
})

test('the response repeats all of the fields that Open Responses requires', () => {
  const { events } = streamOf([END])
  expect(Object.keys(events.at(-1).response)).toEqual(
    expect.arrayContaining(
      `id object created_at completed_at status incomplete_details model previous_response_id instructions output error
      tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature
      reasoning user usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier
      prompt_cache_key`.split(/\s+/),
    ),
  )
})

test('what the agent did not get is not repeated', () => {
  const body = { ...BODY, instructions: 'Be kind.', text: { verbosity: 'low', format: null } }
  const headOf = (more: object) =>
    responseHead(chatOf([], more), echoOf(body as never, readRequest(body as never)))
  expect(headOf({ takesParameters: true })).toMatchObject({
    instructions: 'Be kind.',
    text: { format: { type: 'text' }, verbosity: 'low' },
  })
  expect(headOf({ takesMessages: false })).toMatchObject({
    instructions: null,
    text: { format: { type: 'text' } },
  })
})

test('an empty reply is one empty message', () => {
  expect(streamOf([END]).events.at(-1).response.output).toMatchObject([{ content: [{ text: '' }] }])
})

test('beside calls of functions an empty message has an id of its own, which leads to no conversation', () => {
  const delta = [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{}' } }]
  const { events } = streamOf([
    { type: 'tool_calls', delta },
    { type: 'end', reason: 'tool_calls' },
  ])
  expect(events.at(-1).response.output.map(({ id }: Any) => id)).toEqual([
    `msg_${CALL_ID}.empty`,
    `fc_${CALL_ID}_0`,
  ])
})

test('the last call of a function in an answer that was cut is incomplete', () => {
  const { events } = streamOf([
    { type: 'tool_calls', delta: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] },
    { type: 'tool_calls', delta: [{ index: 1, id: 'b', function: { name: 'f', arguments: '{"a' } }] },
    { type: 'end', reason: 'length' },
  ])
  const statuses = events.at(-1).response.output.map(({ status }: Any) => status)
  expect(statuses).toEqual(['incomplete', 'completed', 'incomplete'])
  expect(events.at(-2)).toMatchObject({ type: 'response.output_item.done', item: { status: 'incomplete' } })
})

test('text after reasoning after text begins a new item, and calls of functions come whole at the end', () => {
  const { events } = streamOf([
    { type: 'text', text: 'a' },
    { type: 'reasoning', text: 'hm' },
    { type: 'tool_calls', delta: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{"a"' } }] },
    { type: 'tool_calls', delta: [{ index: 1, id: 'c2', function: { name: 'g', arguments: '{}' } }] },
    { type: 'tool_calls', delta: [{ index: 0, function: { arguments: ':1}' } }] },
    { type: 'text', text: 'b' },
    { type: 'usage', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
    { type: 'end', reason: 'tool_calls' },
  ])
  const { output, usage } = events.at(-1).response
  expect(output.map(({ id }: Any) => id)).toEqual(
    ['msg_?', 'rs_?', 'msg_?.1', 'fc_?_0', 'fc_?_1'].map((id) => id.replace('?', CALL_ID)),
  )
  expect(output.slice(3)).toMatchObject([
    { call_id: 'c1', name: 'f', arguments: '{"a":1}' },
    { call_id: 'c2', name: 'g', arguments: '{}' },
  ])
  const indexes = events.filter(({ type }) => type.endsWith('item.added')).map((event) => event.output_index)
  expect(indexes).toEqual([0, 1, 2, 3, 4])
  expect(usage).toEqual({
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 3,
  })
})

test.each<[FinishReason, string, string | undefined]>([
  ['stop', 'completed', undefined],
  ['tool_calls', 'completed', undefined],
  ['length', 'incomplete', 'max_output_tokens'],
  ['content_filter', 'incomplete', 'content_filter'],
])('a reply that ends with %s is %s', (reason, status, why) => {
  const { events, isDone } = streamOf([
    { type: 'text', text: 'a' },
    { type: 'end', reason },
  ])
  const { type, response } = events.at(-1)
  expect([type, response.status, response.output[0].status]).toEqual([`response.${status}`, status, status])
  expect(response.incomplete_details?.reason).toBe(why)
  expect(isDone).toBe(true)
})

describe('a failure', () => {
  const failed = (reason: Problem['reason'], events: readonly ChatEvent[]) => {
    const { encoder } = encoderOf(events)
    const text = events.map((event) => encoder.encode(event)).join('')
    return parsed(text + encoder.fail(new Problem(reason)))
  }

  test('is an error in both shapes and then the failed response, without [DONE]', () => {
    const { events, isDone } = failed('agent_error', [{ type: 'text', text: 'a' }])
    const [error, response] = events.slice(-2)
    expect(error).toMatchObject({
      type: 'error',
      code: 'agent_error',
      param: null,
      error: { code: 'agent_error' },
    })
    expect(error.message).toBe(error.error.message)
    expect(response).toMatchObject({
      type: 'response.failed',
      // What has no end is no item of the response.
      response: { status: 'failed', completed_at: null, error: { code: 'server_error' }, output: [] },
    })
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
    expect(isDone).toBe(false)
  })

  test('before the first event follows the beginning of a response', () => {
    expect(typesOf(failed('agent_timeout', []).events)).toEqual(['created', 'in_progress', 'error', 'failed'])
  })

  test.each<[Problem['reason'], string]>([
    ['agent_quota', 'insufficient_quota'],
    ['agent_rejected_input', 'invalid_prompt'],
    ['agent_rate_limited', 'rate_limit_exceeded'],
  ])('%s has the code %s, by which clients decide about repeating', (reason, code) => {
    const [error, { response }] = failed(reason, []).events.slice(-2)
    expect(response.error.code).toBe(code)
    expect(error).toMatchObject({ code: reason, error: { code: reason } })
    expect(error.error.type === 'insufficient_quota').toBe(code === 'insufficient_quota')
  })
})

test('the progress of the run is a field of repeated in_progress events, on request', () => {
  const detail: ChatEvent = {
    type: 'detail',
    detail: () => ({ type: 'node_started', name: 'LLM', data: {} }),
  }
  expect(streamOf([detail, END]).events.filter((event) => 'trunkline' in event)).toEqual([])
  expect(streamOf([detail, END], { details: true }).events).toContainEqual(
    expect.objectContaining({
      type: 'response.in_progress',
      trunkline: { type: 'node_started', name: 'LLM', data: {} },
    }),
  )
})

const eventArbitrary: fc.Arbitrary<ChatEvent> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: fc.string() }),
  fc.record({ type: fc.constant('reasoning' as const), text: fc.string() }),
  fc.record({ type: fc.constant('model' as const), model: fc.string() }),
  fc
    .tuple(fc.string(), fc.array(fc.string(), { maxLength: 2 }))
    .map(([question, options]) => pauseEvent(question, options)),
  fc.record({
    type: fc.constant('tool_calls' as const),
    delta: fc.array(
      fc.record({ index: fc.nat(2), id: fc.string(), function: fc.record({ arguments: fc.string() }) }),
    ),
  }),
)

test('the JSON reply is the final response of the stream', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(eventArbitrary), fc.boolean(), async (before, reasoning) => {
      const all = [...before, END]
      const { chat, encoder } = encoderOf(all, { reasoning, replaces: true })
      const json = JSON.parse(
        JSON.stringify(await collectReply(chat.events, responseCollector(encoder), 1_000_000)),
      )
      const { events } = streamOf(all, { reasoning })
      const { completed_at: _first, ...streamed } = events.at(-1).response
      const { completed_at: _second, ...collected } = json
      expect(collected).toEqual(streamed)
      const texts = events.filter(({ type }) => type === 'response.output_text.delta')
      const ofMessages = streamed.output.filter(({ type }: Any) => type === 'message')
      expect(ofMessages.map(({ content }: Any) => content[0].text).join('')).toBe(
        texts.map(({ delta }) => delta).join(''),
      )
    }),
    { numRuns: process.env.SOAK ? 10_000 : 100 },
  )
})

test('a text that replaces the answer follows it in a stream, and stands for it in JSON', async () => {
  const events: ChatEvent[] = [{ type: 'text', text: 'bad' }, { type: 'replace', text: 'good' }, END]
  const { chat, encoder } = encoderOf(events, { replaces: true })
  expect(await collectReply(chat.events, responseCollector(encoder), 1_000)).toMatchObject({
    output: [{ content: [{ text: 'good' }] }],
  })
  expect(streamOf(events).events.at(-1).response.output[0].content[0].text).toBe('bad\n\ngood')
})

test('a reply that is too large for JSON fails', async () => {
  const { chat, encoder } = encoderOf([{ type: 'text', text: 'x'.repeat(101) }, END])
  await expect(collectReply(chat.events, responseCollector(encoder), 100)).rejects.toMatchObject({
    reason: 'agent_malformed',
  })
})

describe('what a server tells beside its text', () => {
  const tokens = [
    { token: 'Hi', logprob: -0.5, bytes: [72, 105], top_logprobs: [{ token: 'Yo', logprob: -2 }] },
  ]
  const logprobs: ChatEvent = { type: 'logprobs', logprobs: { content: tokens, refusal: null } }
  const told = [
    { token: 'Hi', logprob: -0.5, bytes: [72, 105], top_logprobs: [{ token: 'Yo', logprob: -2, bytes: [] }] },
  ]

  test('how likely its tokens were follows the text, and is in the message', () => {
    const { events } = streamOf([
      { type: 'text', text: 'Hi' },
      logprobs,
      { type: 'text', text: '!' },
      logprobs,
      END,
    ])
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
    expect(deltas.map(({ delta, logprobs }) => [delta, logprobs])).toEqual([
      ['Hi', []],
      ['', told],
      ['!', []],
      ['', told],
    ])
    const all = [...told, ...told]
    expect(events.find(({ type }) => type === 'response.output_text.done')).toMatchObject({
      text: 'Hi!',
      logprobs: all,
    })
    expect(events.at(-1).response.output[0].content).toEqual([
      { type: 'output_text', text: 'Hi!', annotations: [], logprobs: all },
    ])
  })

  test('probabilities of another form, and those of reasoning, are left out', () => {
    const other: ChatEvent = {
      type: 'logprobs',
      logprobs: { tokens: ['Hi'], token_logprobs: [-1], content: [{ token: 7 }] },
    }
    const { events } = streamOf([
      { type: 'reasoning', text: 'Hm' },
      logprobs,
      { type: 'text', text: 'Hi' },
      other,
      END,
    ])
    expect(events.filter(({ type }) => type.endsWith('.delta')).map(({ delta }) => delta)).toEqual([
      'Hm',
      'Hi',
    ])
    expect(events.at(-1).response.output[1].content[0].logprobs).toEqual([])
  })

  test('its sources are annotations of the message, and beside the output as the server names them', () => {
    const page = { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 2 }
    const { events } = streamOf([
      { type: 'text', text: 'Hi!' },
      {
        type: 'citations',
        top: { citations: ['https://a.example/'] },
        annotations: [
          { type: 'url_citation', url_citation: page },
          { url: 'https://b.example/' },
          { type: 'file_citation', file_id: 'f' },
          'https://c.example/',
        ],
      },
      END,
    ])
    const annotations = [
      { type: 'url_citation', ...page },
      {
        type: 'url_citation',
        url: 'https://b.example/',
        title: 'https://b.example/',
        start_index: 0,
        end_index: 3,
      },
    ]
    expect(
      events
        .filter(({ type }) => type === 'response.output_text.annotation.added')
        .map(({ annotation, annotation_index }) => [annotation_index, annotation]),
    ).toEqual(annotations.map((annotation, index) => [index, annotation]))
    const { response } = events.at(-1)
    expect(response.output[0].content[0].annotations).toEqual(annotations)
    expect(response.citations).toEqual(['https://a.example/'])
    expect(events[0].response).not.toHaveProperty('citations')
  })
})
