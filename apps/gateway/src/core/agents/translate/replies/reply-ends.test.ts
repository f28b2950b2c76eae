import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FinishReason } from '#core/agents/events.ts'
import { ReplyEnds } from './reply-ends.ts'

const ORDER: FinishReason[] = ['stop', 'tool_calls', 'length', 'content_filter']

test('of several ends the worst counts, in whatever order they come', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...ORDER), { minLength: 1 }), (reasons) => {
      const ends = new ReplyEnds()
      for (const reason of reasons) ends.report(reason)
      expect(ends.reason).toBe(ORDER.findLast((each) => reasons.includes(each)))
    }),
  )
})

test('an end stands until the answer goes on, and what it was still counts', () => {
  const ends = new ReplyEnds()
  expect([ends.stands, ends.reason]).toEqual([false, undefined])
  ends.goesOn(false)
  expect(ends.withdrawn).toBe(0)
  ends.report('length')
  expect(ends.stands).toBe(true)
  ends.goesOn(false)
  ends.goesOn(false)
  expect([ends.stands, ends.withdrawn, ends.reason]).toEqual([false, 1, 'length'])
})

test('an ordinary end after tool calls is theirs', () => {
  const ends = new ReplyEnds()
  ends.goesOn(true)
  ends.report('stop')
  expect(ends.reason).toBe('tool_calls')
  ends.report('length')
  expect(ends.reason).toBe('length')
})
