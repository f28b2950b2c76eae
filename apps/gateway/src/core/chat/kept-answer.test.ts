import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { KeptAnswer } from './kept-answer.ts'

const say = (text: string): ChatEvent => ({ type: 'text', text })

function keep(charactersMax: number, ...events: ChatEvent[]): string {
  const answer = new KeptAnswer(charactersMax)
  for (const event of events) answer.add(event)
  return answer.text
}

test('an answer that fits is kept as it was told', () => {
  expect(keep(5, say('Hel'), say('lo'))).toBe('Hello')
})

test('one that is longer is kept up to the character that makes it too long, however long it goes on', () => {
  expect(keep(5, say('Hello'), say(' world'), ...Array.from({ length: 1_000 }, () => say('!')))).toBe(
    'Hello ',
  )
  expect(keep(5, say('x'.repeat(1_000)))).toBe('xxxxxx')
})

test('a replacement stands alone, also where what it replaces was too long', () => {
  expect(keep(5, say('far too long'), { type: 'replace', text: 'No' }, say('.'))).toBe('No.')
})
