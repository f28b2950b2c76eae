import { expect, test } from 'vitest'
import type { ChatEvent, DetailEvent } from '#core/agents/events.ts'
import { pauseEvent } from '#core/agents/pause.test-support.ts'
import { detailsOf } from './detail-of.ts'

test.each<[ChatEvent, DetailEvent]>([
  [
    { type: 'detail', detail: () => ({ type: 'node_started', name: 'LLM', data: {} }) },
    { type: 'node_started', name: 'LLM', data: {} },
  ],
  [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'reasoning', data: { text: 'Hm.' } },
  ],
  [
    { type: 'replace', text: 'good' },
    { type: 'replaced', data: { text: 'good' } },
  ],
  [
    {
      type: 'replace',
      text: 'good',
      detail: () => ({ type: 'replaced', status: 'moderation', data: { text: 'good' } }),
    },
    { type: 'replaced', status: 'moderation', data: { text: 'good' } },
  ],
])('the event %j is a detail of its reply', (event, detail) => {
  expect(detailsOf(event)).toEqual([detail])
})

test('each piece of a tool call is a detail, whatever it is', () => {
  const delta = [
    { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{' } },
    { index: 1, function: { arguments: 5 } },
    { index: 2, function: 'odd' },
    null,
    'odd',
  ]
  expect(detailsOf({ type: 'tool_calls', delta })).toEqual([
    {
      type: 'tool_call',
      id: 'c1',
      name: 'f',
      data: { arguments_delta: '{' },
      raw: { index: 0, type: 'function' },
    },
    { type: 'tool_call', data: {}, raw: { index: 1, arguments: 5 } },
    { type: 'tool_call', data: {}, raw: { index: 2, function: 'odd' } },
    { type: 'tool_call', data: {} },
    { type: 'tool_call', data: {}, raw: { tool_call: 'odd' } },
  ])
})

test.each<ChatEvent>([
  { type: 'text', text: 'a' },
  pauseEvent('Which?', ['a']),
  { type: 'model', model: 'm' },
  { type: 'usage', usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } },
  { type: 'end', reason: 'stop' },
  { type: 'error', failure: { reason: 'agent_error' } },
])('the event %j is not a detail of its reply', (event) => {
  expect(detailsOf(event)).toEqual([])
})
