import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import { createReplyCollector } from './reply.ts'

function replyOf(detail: boolean, ...events: readonly ChatEvent[]) {
  const collector = createReplyCollector(chatOf([]), { detail })
  for (const event of events) collector.add(event)
  return collector.reply
}

const EVENTS: readonly ChatEvent[] = [
  { type: 'model', model: 'm-1' },
  { type: 'detail', detail: () => ({ type: 'thought', name: 'LLM', data: { text: 'hm' } }) },
  { type: 'text', text: 'Hello' },
  { type: 'end', reason: 'content_filter' },
]

test('a reply has the shape of the contract', () => {
  const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
  expect(replyOf(true, { type: 'usage', usage }, ...EVENTS)).toStrictEqual({
    id: 'chat-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm-1',
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'content_filter' },
    ],
    detail: [{ type: 'thought', name: 'LLM', data: { text: 'hm' } }],
  })
})

test('unknown tokens and progress that was not requested are absent', () => {
  const reply = replyOf(false, ...EVENTS)
  expect(reply).not.toHaveProperty('usage')
  expect(reply).not.toHaveProperty('detail')
})
