import { expect, test } from 'vitest'
import { endEvents, FINISH_WORDS, finishMeaning, finishWordIn } from './finish-words.ts'

test('no word is in the table twice, whatever its case and separators, and each has a source', () => {
  const keys = FINISH_WORDS.map(([word]) => word.toLowerCase().replace(/[^a-z]/g, ''))
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
  expect(FINISH_WORDS.filter(([, , source]) => source === '')).toEqual([])
})

test.each([
  ['STOP', 'stop'],
  ['endTurn', 'stop'],
  ['MAX-TOKENS', 'length'],
  ['Content Filter', 'content_filter'],
  ['Tool_Use', 'tool_calls'],
  ['NULL', 'none'],
  // The table decides before the parts of words do.
  ['ERROR_LIMIT', 'length'],
  ['error_toxic', 'content_filter'],
  ['engine_error_17', 'failed'],
  ['generationFailed', 'failed'],
  ['Request aborted', 'failed'],
  ['read-timeout', 'failed'],
  ['cancelled_after_timeout', 'failed'],
  ['cancelled_by_user', 'stopped'],
  ['connection closed', 'stopped'],
  ['abnormal_close', 'stopped'],
  ['run_interrupted', 'stopped'],
  ['无', 'stop'],
])('%s means %s', (word, meaning) => {
  expect(finishMeaning(word)).toBe(meaning)
})

test.each([
  ['stop', [{ type: 'end', reason: 'stop' }]],
  ['not_finished', []],
  ['Sampler-Exhausted', [{ type: 'end', reason: 'stop', unknownWord: 'samplerexhausted' }]],
  ['x'.repeat(100), [{ type: 'end', reason: 'stop', unknownWord: 'x'.repeat(40) }]],
  ['abort', [{ type: 'error', failure: { reason: 'agent_error', platformCode: 'abort' } }]],
  ['canceled', [{ type: 'error', failure: { reason: 'agent_truncated', platformCode: 'canceled' } }]],
])('%s is told as %j', (word, events) => {
  expect(endEvents(word)).toEqual(events)
})

test.each([
  [{ finish_reason: 'stop' }, 'stop'],
  [{ finish_reason: null }, undefined],
  [{ finish_reason: '' }, undefined],
  [{ finish_reason: 5 }, undefined],
  [{ finish_reason: { type: 'length', length: 5 } }, 'length'],
  [{ finishReason: 'STOP' }, 'STOP'],
  [{ finish_reason: null, finish_details: { type: 'max_tokens' } }, 'max_tokens'],
  [{ stop_reason: 'end_turn' }, 'end_turn'],
  [{ finish_reason: 'length', stop_reason: '###' }, 'length'],
  [{ done_reason: 'load' }, 'load'],
])('the word of %j is %s', (frame, word) => {
  expect(finishWordIn(frame)).toBe(word)
})
