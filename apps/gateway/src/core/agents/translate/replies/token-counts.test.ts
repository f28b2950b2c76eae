import { expect, test } from 'vitest'
import { usageIn, usageOf } from './token-counts.ts'

const counts = (promptTokens: number, completionTokens: number, totalTokens: number, more: object = {}) => [
  { type: 'usage', usage: { promptTokens, completionTokens, totalTokens, ...more } },
]

test.each([
  [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }, counts(3, 4, 7)],
  [{ input_tokens: 3, output_tokens: 4 }, counts(3, 4, 7)],
  [{ prompt_eval_count: 3, eval_count: 4 }, counts(3, 4, 7)],
  [{ input_count: '3', output_count: '4', token_count: '7' }, counts(3, 4, 7)],
  [{ promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 9 }, counts(3, 4, 9)],
  [{ prompt_tokens: 3, total_tokens: 7 }, counts(3, 4, 7)],
  [{ completion_tokens: 4, total_tokens: 7, prompt_tokens: null }, counts(3, 4, 7)],
  [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 0 }, counts(3, 4, 7)],
  [{ prompt_tokens: 0, completion_tokens: 4 }, counts(0, 4, 4)],
])('%j are tokens', (usage, events) => {
  expect(usageOf(usage)).toEqual(events)
})

test.each([
  [{}],
  [{ total_tokens: 7 }],
  [{ prompt_tokens: 3 }],
  [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  [{ prompt_tokens: -3, completion_tokens: 4, total_tokens: 7 }],
  [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: -1 }],
  [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 2 }],
  [{ prompt_tokens: 9, total_tokens: 7 }],
  [{ prompt_tokens: 3.5, completion_tokens: 4 }],
  [{ prompt_tokens: 1e308, completion_tokens: 4 }],
  [{ prompt_tokens: 'many', completion_tokens: 4 }],
])('%j are unknown', (usage) => {
  expect(usageOf(usage)).toEqual([])
})

test.each([
  [{ prompt_tokens_details: { cached_tokens: 2 }, completion_tokens_details: { reasoning_tokens: 1 } }, 2, 1],
  [{ prompt_cache_hit_tokens: 2, completion_tokens_details: null }, 2, undefined],
  [{ cached_tokens: 0 }, 0, undefined],
  [{ cache_read_input_tokens: '2' }, 2, undefined],
])('of the tokens those in %j are told', (details, cachedTokens, reasoningTokens) => {
  const [event] = usageOf({ prompt_tokens: 3, completion_tokens: 4, ...details })
  expect(event?.type === 'usage' && event.usage.cachedTokens).toBe(cachedTokens)
  expect(event?.type === 'usage' && event.usage.reasoningTokens).toBe(reasoningTokens)
})

test('the first object that counts anything is taken', () => {
  const usage = { input_tokens: 3, output_tokens: 4 }
  expect(usageIn({ usage: null }, { usage: {} }, { usage }, {})).toEqual(counts(3, 4, 7))
  expect(usageIn({ usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 } })).toEqual(
    counts(3, 4, 7),
  )
  expect(usageIn({ usage: 'none' })).toEqual([])
})
