import { expect, test } from 'vitest'
import { chatOf } from '#core/calls/chat.test-support.ts'
import type { CollectedReply } from '#core/calls/reading/collect-reply.ts'
import { completionOf } from './reply.ts'

const collected: CollectedReply = {
  model: 'm-1',
  content: 'Hello',
  reasoning: '',
  toolCalls: [],
  details: [],
  finishReason: 'stop',
  usage: undefined,
}

test('the id of a completion is that of its call, and absent values are omitted', () => {
  expect(completionOf(chatOf([]), collected)).toStrictEqual({
    id: 'chatcmpl-01890a5d-ac96-774b-bcce-b302099a8057',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm-1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
  })
})

test('reasoning and tool calls are beside the content, which is null if there are only tool calls', () => {
  const toolCalls = [{ id: 'call-1', function: { name: 'f', arguments: '{}' } }]
  const called = completionOf(chatOf([]), { ...collected, content: '', reasoning: 'Well.', toolCalls })
  expect(called.choices[0]?.message).toStrictEqual({
    role: 'assistant',
    content: null,
    refusal: null,
    reasoning_content: 'Well.',
    tool_calls: toolCalls,
  })
})

test('what was asked for beside the text comes back, where the server has it', () => {
  const logprobs = { content: [{ token: 'a', logprob: -0.1 }] }
  const citations = { top: { citations: ['https://x.example'] }, annotations: [{ type: 'url_citation' }] }
  const completion = completionOf(chatOf([]), { ...collected, logprobs, citations })
  expect(completion).toMatchObject({ citations: ['https://x.example'] })
  expect(completion.choices[0]).toMatchObject({
    logprobs,
    message: { annotations: [{ type: 'url_citation' }] },
  })
})
