import { expect, test } from 'vitest'
import { pausedTurn } from './paused-turn.ts'
import { EMPTY_TURN, type Turn } from './turn.ts'

const pause = { id: 'p', question: 'Send it?', options: [], fields: [] }
const turn = (id: string, change: Partial<Turn>): Turn => ({ ...EMPTY_TURN, id, state: 'done', ...change })
const asked = turn('asked', { pause })

test.each([
  ['nothing', [], undefined],
  ['an ordinary reply', [turn('a', { text: 'Hi' })], undefined],
  ['a question at the end', [turn('a', {}), asked], 'asked'],
  ['a message that did not arrive', [asked, turn('b', { state: 'failed' })], 'asked'],
  ['an answer that may still be refused', [asked, turn('b', { state: 'waiting' })], 'asked'],
  ['an answer that has arrived', [asked, turn('b', { state: 'streaming' })], undefined],
  [
    'an answer that failed after its first words',
    [asked, turn('b', { state: 'failed', text: 'Wel' })],
    undefined,
  ],
  ['an answer', [asked, turn('b', { text: 'Sent.' })], undefined],
  ['a second question', [asked, turn('b', { pause: { ...pause, id: 'p2' } })], 'b'],
])('after %s the question that waits is known', (_name, turns, expected) => {
  expect(pausedTurn(turns)?.id).toBe(expected)
})
