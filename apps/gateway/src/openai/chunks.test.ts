import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import { createCompletionEncoder } from './chunks.ts'

function chunksOf(events: readonly ChatEvent[]) {
  const encoder = createCompletionEncoder(chatOf([]), { reasoning: false, includeUsage: false })
  const frames = events
    .map((event) => encoder.encode(event))
    .join('')
    .split('\n\n')
  return frames.filter((frame) => frame.startsWith('data: {')).map((frame) => JSON.parse(frame.slice(6)))
}

const logprobs = { content: [{ token: 'a', logprob: -0.1 }] }

test('the likelihood of tokens is beside an empty delta, which every client adds to nothing', () => {
  const [text, beside] = chunksOf([
    { type: 'text', text: 'a' },
    { type: 'logprobs', logprobs },
  ])
  expect(text.choices[0].delta).toEqual({ role: 'assistant', content: 'a' })
  expect(beside.choices).toEqual([{ index: 0, delta: {}, logprobs, finish_reason: null }])
})

test('citations are where the server has them: beside the choices or in the delta', () => {
  const annotations = [{ type: 'url_citation' }]
  const top = { citations: ['https://x.example'] }
  const [above, within] = chunksOf([
    { type: 'citations', top, annotations: [] },
    { type: 'citations', top: {}, annotations },
  ])
  expect([above.citations, above.choices[0].delta]).toEqual([top.citations, { role: 'assistant' }])
  expect(within.choices[0].delta).toEqual({ annotations })
  expect(within).not.toHaveProperty('citations')
})
