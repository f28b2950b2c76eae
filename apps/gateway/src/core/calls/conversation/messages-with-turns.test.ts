import { expect, test } from 'vitest'
import type { CallMessage } from '#core/agents/adapter.ts'
import { withTurns } from './messages-with-turns.ts'

const message = (role: string, content: unknown): CallMessage => ({ role, content })
const turns = [message('user', 'one'), message('assistant', 'two')]

test('kept turns follow the instructions, and stand for what the messages repeat', () => {
  const system = message('system', 's')
  const last = message('user', 'three')
  expect(withTurns(turns, [system, last])).toEqual({ messages: [system, ...turns, last], question: 'three' })
  expect(withTurns(turns, [system, ...turns, last]).messages).toEqual([system, ...turns, last])
})

test('what a tool loop repeats of the open turn is sent, and only the question is kept', () => {
  const calls: CallMessage = { role: 'assistant', content: null, extra: { tool_calls: [] } }
  const loop = [message('user', 'three'), calls, message('tool', 'result')]
  expect(withTurns(turns, [...turns, ...loop])).toEqual({ messages: [...turns, ...loop], question: 'three' })
})

test('a history that the gateway does not know is kept as one text', () => {
  const parts = [{ type: 'text', text: 'three' }]
  expect(withTurns([], [...turns, message('user', parts)]).question).toBe(
    'User: one\n\nAssistant: two\n\nUser: three',
  )
})
