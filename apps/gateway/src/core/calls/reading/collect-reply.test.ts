import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { pauseEvent } from '#core/agents/pause.test-support.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import { type CollectedParts, type CollectedReply, collectReply, PartsCollector } from './collect-reply.ts'

const end: ChatEvent = { type: 'end', reason: 'stop' }
const ALL = { reasoning: true, toolCalls: true, details: true }

const collectorOf = (parts: CollectedParts) =>
  new PartsCollector('dify', parts, (reply: CollectedReply) => reply)
const collect = (events: readonly ChatEvent[], parts: CollectedParts = {}) =>
  collectReply(chatOf(events.map((event) => [event])).events, collectorOf(parts), 1_000)

test('a reply consists of its text, model, finish reason and the tokens that the platform reported', async () => {
  const reply = await collect([
    { type: 'model', model: 'm-1' },
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
    { type: 'usage', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
    { type: 'end', reason: 'content_filter' },
  ])
  expect(reply).toStrictEqual({
    model: 'm-1',
    content: 'Hello',
    reasoning: '',
    toolCalls: [],
    details: [],
    logprobs: undefined,
    citations: undefined,
    finishReason: 'content_filter',
    usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    files: undefined,
    pause: undefined,
  })
})

test('the agent is the model if the platform names none, and unknown tokens are absent', async () => {
  expect(await collect([{ type: 'text', text: 'Hi' }, end])).toMatchObject({
    model: 'dify',
    usage: undefined,
  })
})

test('a replaced text is dropped, and a question follows the text', async () => {
  const contentOf = async (...events: ChatEvent[]) => (await collect([...events, end])).content
  expect(await contentOf({ type: 'text', text: 'bad' }, { type: 'replace', text: 'good' })).toBe('good')
  expect(await contentOf({ type: 'text', text: 'Well.' }, pauseEvent('Which?', ['a', 'b']))).toBe(
    'Well.\n\nWhich?\n\n- a\n- b',
  )
})

test('details are a list in which fragments of reasoning are one entry', async () => {
  const { details } = await collect(
    [
      { type: 'detail', detail: () => ({ type: 'node_started', name: 'LLM', data: {} }) },
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'see.' },
      { type: 'text', text: 'bad' },
      { type: 'replace', text: 'good' },
      { type: 'tool_calls', delta: [{ index: 0 }] },
      { type: 'reasoning', text: 'So.' },
      end,
    ],
    { details: true },
  )
  expect(details).toEqual([
    { type: 'node_started', name: 'LLM', data: {} },
    { type: 'reasoning', data: { text: 'Let me see.' } },
    { type: 'replaced', data: { text: 'good' } },
    { type: 'tool_call', data: {}, raw: { index: 0 } },
    { type: 'reasoning', data: { text: 'So.' } },
  ])
})

test('reasoning is one text, and the pieces of a tool call are one call', async () => {
  const { reasoning, toolCalls } = await collect(
    [
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'see.' },
      { type: 'tool_calls', delta: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{"a"' } }] },
      {
        type: 'tool_calls',
        delta: [
          { index: 0, function: { arguments: ':1}' } },
          { index: 1, id: 'c2' },
        ],
      },
      { type: 'tool_calls', delta: [null, { index: -1 }, { index: 1e9 }, { index: 'x' }] },
      end,
    ],
    { reasoning: true, toolCalls: true },
  )
  expect(reasoning).toBe('Let me see.')
  expect(toolCalls.slice(0, 2)).toEqual([
    { id: 'c1', function: { name: 'f', arguments: '{"a":1}' } },
    { id: 'c2' },
  ])
  expect(toolCalls.length).toBeLessThanOrEqual(3)
})

test('the likelihood of all tokens is one list, and citations are collected, where a face returns them', async () => {
  const token = (token: string): ChatEvent => ({
    type: 'logprobs',
    logprobs: { content: [{ token }], refusal: null },
  })
  const events: ChatEvent[] = [
    token('a'),
    { type: 'citations', top: { citations: ['x'] }, annotations: [1] },
    token('b'),
    { type: 'citations', top: { citations: ['x', 'y'] }, annotations: [2] },
    end,
  ]
  expect(await collect(events, { openAiFields: true })).toMatchObject({
    logprobs: { content: [{ token: 'a' }, { token: 'b' }], refusal: null },
    citations: { top: { citations: ['x', 'y'] }, annotations: [1, 2] },
  })
  expect((await collect(events)).logprobs).toBeUndefined()
})

describe('a reply that grows beyond its size', () => {
  const words = 'x'.repeat(400)
  const kinds: [string, ChatEvent][] = [
    ['text', { type: 'text', text: words }],
    ['a question', pauseEvent(words)],
    ['reasoning', { type: 'reasoning', text: words }],
    ['arguments of tools', { type: 'tool_calls', delta: [{ index: 0, function: { arguments: words } }] }],
    ['progress', { type: 'detail', detail: () => ({ type: 'other', name: words, data: {} }) }],
  ]

  test.each(kinds)('by %s fails', async (_name, event) => {
    await expect(collect(Array(3).fill(event), ALL)).rejects.toMatchObject({ reason: 'agent_malformed' })
  })

  test.each(kinds.slice(2))('by %s does not fail if that part is not requested', async (_name, event) => {
    expect((await collect([event, event, event, end])).finishReason).toBe('stop')
  })

  test('is measured in bytes', async () => {
    const text: ChatEvent = { type: 'text', text: '文'.repeat(300) }
    expect((await collect([text, end])).content).toHaveLength(300)
    await expect(collect([text, { type: 'text', text: '文'.repeat(34) }])).rejects.toMatchObject({
      reason: 'agent_malformed',
    })
  })

  test('does not count what was replaced', async () => {
    const replaced: ChatEvent = { type: 'replace', text: words }
    expect((await collect([replaced, replaced, replaced, end])).content).toBe(words)
  })
})

test('a reply that fails rejects with the problem of its call', async () => {
  const problem = new Problem('agent_timeout')
  async function* failing() {
    yield [{ type: 'text', text: 'Hi' }] as const
    throw problem
  }
  const collecting = collectReply(chatOf(failing()).events, collectorOf(ALL), 1_000)
  await expect(collecting).rejects.toBe(problem)
})
