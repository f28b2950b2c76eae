import { expect, test } from 'vitest'
import { chatOf } from '#core/calls/chat.test-support.ts'
import type { CollectedReply } from '#core/calls/reading/collect-reply.ts'
import { chatReply } from './reply.ts'

const collected: CollectedReply = {
  model: 'm-1',
  content: 'Hello',
  reasoning: '',
  toolCalls: [],
  details: [{ type: 'thought', name: 'LLM', data: { text: 'hm' } }],
  finishReason: 'content_filter',
  usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
}

test('a reply has the shape of the contract', () => {
  expect(chatReply(chatOf([]), collected, { detail: true })).toStrictEqual({
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
  const reply = chatReply(chatOf([]), { ...collected, usage: undefined }, { detail: false })
  expect(reply).not.toHaveProperty('usage')
  expect(reply).not.toHaveProperty('detail')
})
