import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { answerAfter } from './stored-answer.ts'

const say = (text: string): ChatEvent => ({ type: 'text', text })

function keep(charactersMax: number, ...events: ChatEvent[]): string {
  return events.reduce((answer, event) => answerAfter(answer, event, charactersMax), '')
}

test('an answer within the limit is kept unchanged', () => {
  expect(keep(5, say('Hel'), say('lo'))).toBe('Hello')
})

test('a longer answer is kept up to one character beyond the limit, however long it continues', () => {
  expect(keep(5, say('Hello'), say(' world'), ...Array.from({ length: 1_000 }, () => say('!')))).toBe(
    'Hello ',
  )
  expect(keep(5, say('x'.repeat(1_000)))).toBe('xxxxxx')
})

test('a replacement discards the text before it, even if that was too long', () => {
  expect(keep(5, say('far too long'), { type: 'replace', text: 'No' }, say('.'))).toBe('No.')
})
