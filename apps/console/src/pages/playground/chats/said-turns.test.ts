import { expect, test } from 'vitest'
import { mergedTurns, turnsOf } from './said-turns.ts'
import { EMPTY_TURN } from './turn.ts'

const CONVERSATION = { conversationId: 'chat-1', createdAt: '2026-01-01T00:00:00.000Z' }
const MESSAGE = { files: [], createdAt: null, callId: null, rating: null }
const said = (role: 'USER' | 'ASSISTANT', text: string, more: object = {}) => ({
  ...{ ...MESSAGE, messageId: `${role} ${text}`, role, text },
  ...more,
})

test('each question is a turn with its answers, in the order of the messages, also where no times are told', () => {
  const turns = turnsOf(
    [
      said('ASSISTANT', 'of a question before'),
      said('USER', 'one'),
      said('ASSISTANT', 'first', { callId: 'call-1', rating: 'UP' }),
      said('ASSISTANT', 'second', { files: [{ url: '/files/1', name: null }] }),
      said('USER', 'two', { createdAt: '2020-01-01T00:00:00.000Z' }),
    ],
    CONVERSATION,
  )
  expect(turns).toMatchObject([
    { query: 'one', text: 'first\n\nsecond', callId: 'call-1', rating: 'up', state: 'done' },
    { query: 'two', text: '', callId: undefined, conversationId: 'chat-1' },
  ])
  expect(turns[0]?.madeFiles).toEqual([{ type: 'document', url: '/files/1', name: '/files/1' }])
  expect(turns[1]?.startedAtMs).toBeGreaterThan(turns[0]?.startedAtMs ?? Infinity)
})

test('turns of this browser stay, and only those that were said elsewhere are added', () => {
  const turn = (id: string, startedAtMs: number, more: object = {}) => ({
    ...EMPTY_TURN,
    ...{ id, startedAtMs, query: 'Yes?', text: 'Yes.' },
    ...more,
  })
  const own = [turn('own', 1, { callId: 'call-1' }), turn('old', 3)]
  const elsewhere = [
    turn('same call', 1, { callId: 'call-1', query: 'with what was carried' }),
    turn('another call', 2, { callId: 'call-2', query: 'Again?' }),
    turn('same words as the old one', 3),
  ]
  expect(mergedTurns(own, elsewhere).map(({ id }) => id)).toEqual(['own', 'another call', 'old'])
})
