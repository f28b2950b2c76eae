import { expect, test } from 'vitest'
import type { ChatEvent, DetailEvent } from '#core/agents/events.ts'
import { detailOf } from './detail-of.ts'

test.each<[ChatEvent, DetailEvent]>([
  [
    { type: 'detail', detail: { type: 'node_started', name: 'LLM' } },
    { type: 'node_started', name: 'LLM' },
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
    { type: 'tool_calls', delta: [{ index: 0 }] },
    { type: 'tool_call', data: [{ index: 0 }] },
  ],
])('%j is a detail', (event, detail) => {
  expect(detailOf(event)).toEqual(detail)
})

test.each<ChatEvent>([
  { type: 'text', text: 'a' },
  { type: 'interaction', question: 'Which?', options: ['a'] },
  { type: 'model', model: 'm' },
  { type: 'usage', usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } },
  { type: 'end', reason: 'stop' },
  { type: 'error', failure: { reason: 'agent_error' } },
])('%j is not a detail', (event) => {
  expect(detailOf(event)).toBeUndefined()
})
