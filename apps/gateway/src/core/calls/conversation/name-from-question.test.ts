import { expect, test } from 'vitest'
import { nameFromQuestion } from './name-from-question.ts'

const named = (query: string) => nameFromQuestion({ kind: 'question', query })

test('a conversation is named by the first 80 characters of its first question, on one line', () => {
  expect(named('  Where\nis\tmy \0order?  ')).toBe('Where is my order?')
  expect(named('网'.repeat(200))).toBe('网'.repeat(80))
  expect(named('👍'.repeat(81))).toBe('👍'.repeat(80))
  expect(named(`${'a'.repeat(79)} b`)).toBe('a'.repeat(79))
  for (const blank of ['', ' \n ', '\0']) expect(named(blank)).toBeUndefined()
})

test('of messages, the first of a user that has a text is the question', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
    { role: 'user', content: [{ type: 'text', text: 'What is this?' }] },
    { role: 'user', content: 'And this?' },
  ]
  expect(nameFromQuestion({ kind: 'messages', messages })).toBe('What is this?')
  expect(nameFromQuestion({ kind: 'messages', messages: messages.slice(0, 2) })).toBeUndefined()
})
