import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { pauseEvent } from '#core/agents/pause.test-support.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import { createChunkEncoder } from './chunks.ts'

function encoded(events: readonly ChatEvent[], { detail = false, model = 'dify' } = {}): string {
  const encoder = createChunkEncoder(chatOf([], { model }), { detail })
  return events.map((event) => encoder.encode(event)).join('')
}

/** The parsed data of the events, as a standard parser of server-sent events returns them. */
function framesOf(stream: string): unknown[] {
  const frames: unknown[] = []
  const parser = createParser({
    onEvent: ({ data }) => frames.push(data === '[DONE]' ? data : JSON.parse(data)),
  })
  parser.feed(stream)
  return frames
}

const head = { id: 'chat-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'dify' }
const end: ChatEvent = { type: 'end', reason: 'stop' }

test('a stream consists of content chunks, one last chunk and [DONE], each on a line of its own with a blank line after it', () => {
  const stream = encoded([{ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo\n' }, end])
  expect(stream).toMatch(/^(?:data: [^\n]+\n\n)+$/)
  expect(stream.endsWith('data: [DONE]\n\n')).toBe(true)
  const content = (text: string) => ({
    ...head,
    choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }],
  })
  expect(framesOf(stream)).toStrictEqual([
    content('Hel'),
    content('lo\n'),
    {
      ...head,
      choices: [{ index: 0, delta: { role: 'assistant', content: null }, finish_reason: 'stop' }],
    },
    '[DONE]',
  ])
})

test('the platform’s model and the tokens are present once they are known', () => {
  const stream = encoded([
    { type: 'model', model: 'a "quoted" model' },
    { type: 'text', text: 'Hi' },
    { type: 'usage', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
    { type: 'end', reason: 'length' },
  ])
  expect(framesOf(stream)).toMatchObject([
    { model: 'a "quoted" model' },
    {
      model: 'a "quoted" model',
      choices: [{ finish_reason: 'length' }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
    '[DONE]',
  ])
})

const progress: readonly ChatEvent[] = [
  { type: 'detail', detail: () => ({ type: 'node_started', name: 'LLM', data: {} }) },
  { type: 'reasoning', text: 'Hm.' },
  { type: 'tool_calls', delta: [{ index: 0 }] },
]

test('progress is sent with an empty content, which clients that only read content ignore', () => {
  const frames = framesOf(encoded(progress, { detail: true })) as { detail: unknown }[]
  expect(frames.map(({ detail }) => detail)).toEqual([
    { type: 'node_started', name: 'LLM', data: {} },
    { type: 'reasoning', data: { text: 'Hm.' } },
    { type: 'tool_call', data: {}, raw: { index: 0 } },
  ])
  for (const frame of frames) {
    const choice = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }
    expect(frame).toMatchObject({ ...head, choices: [choice] })
  }
})

test('without detail no progress is sent', () => {
  expect(encoded(progress)).toBe('')
})

test('a replaced text and a question follow the text that was already sent', () => {
  const contents = (events: ChatEvent[]) =>
    (framesOf(encoded(events, { detail: true })) as { choices: { delta: { content: string } }[] }[]).map(
      ({ choices }) => choices[0]?.delta.content,
    )
  expect(
    contents([
      { type: 'text', text: 'bad' },
      { type: 'replace', text: 'good' },
    ]),
  ).toEqual(['bad', '\n\ngood', ''])
  expect(contents([pauseEvent('Which?', ['a', 'b'])])).toEqual(['Which?\n\n- a\n- b'])
})

test('a failure is one frame in OpenAI’s error shape', () => {
  const { fail } = createChunkEncoder(chatOf([]), { detail: false })
  expect(framesOf(fail(new Problem('agent_timeout')))).toEqual([
    {
      error: {
        message: 'The agent platform took too long.',
        type: 'server_error',
        code: 'agent_timeout',
        param: null,
      },
    },
  ])
})

test('any fragment is sent as one line, from which it can be read back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.integer({ max: 0xffff }).map((code) => String.fromCharCode(code)) })),
      (fragments) => {
        const stream = encoded(fragments.map((text) => ({ type: 'text', text })))
        expect(stream).toMatch(/^(?:data: [^\r\n]+\n\n)*$/)
        const frames = framesOf(stream) as { choices: { delta: { content: string } }[] }[]
        expect(frames.map(({ choices }) => choices[0]?.delta.content)).toEqual(fragments)
      },
    ),
  )
})
