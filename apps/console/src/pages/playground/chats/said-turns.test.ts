import { describe, expect, test } from 'vitest'
import { pauseOf, turnsOf } from './said-turns.ts'
import { EMPTY_TURN } from './turn.ts'

const message = (role: 'USER' | 'ASSISTANT', text: string, more = {}) => ({
  ...{ messageId: text, role, text, files: [], createdAt: null, callId: null, rating: null },
  ...more,
})
const PAUSE = { id: 'call-2', question: 'Send it?', options: [], fields: [] }

describe('the turns of a conversation', () => {
  test('have each question with its answers, and leave out an answer without one', () => {
    const rated = { callId: 'call-1', rating: 'UP' as const }
    const said = [
      message('ASSISTANT', 'cut off'),
      message('USER', 'Hello'),
      message('ASSISTANT', 'Hi', rated),
      message('ASSISTANT', 'there', { files: [{ url: 'https://example.com/a', name: null }] }),
      message('USER', 'Bye'),
    ]
    expect(turnsOf(said)).toMatchObject([
      {
        ...{ query: 'Hello', text: 'Hi\n\nthere', state: 'done', callId: 'call-1', rating: 'up' },
        madeFiles: [{ url: 'https://example.com/a' }],
      },
      { query: 'Bye', text: '', state: 'done' },
    ])
  })

  test('end with the open question, whether or not the platform shows its message', () => {
    const asked = [message('USER', 'Write it'), message('ASSISTANT', 'Send it?\n\n- Approve')]
    expect(turnsOf(asked, PAUSE)).toMatchObject([{ query: 'Write it', pause: PAUSE }])
    expect(turnsOf([message('USER', 'Write it')], PAUSE)).toMatchObject([
      { query: 'Write it', text: 'Send it?', callId: 'call-2', pause: PAUSE },
    ])
    const before = [message('USER', 'Hello'), message('ASSISTANT', 'Hi')]
    expect(turnsOf(before, PAUSE)).toMatchObject([
      { query: 'Hello', pause: undefined },
      { query: '', text: 'Send it?', pause: PAUSE },
    ])
  })

  test('end with the turn that the page was reading, once', () => {
    const unfinished = { ...EMPTY_TURN, id: 'own', query: 'Bye', callId: 'call-3', state: 'lost' as const }
    const before = [message('USER', 'Hello'), message('ASSISTANT', 'Hi', { callId: 'call-1' })]
    const ids = (...said: readonly ReturnType<typeof message>[]) =>
      turnsOf([...before, ...said], undefined, unfinished).map(({ id }) => id)
    expect(ids()).toEqual(['Hello', 'own'])
    expect(ids(message('USER', 'Bye'))).toEqual(['Hello', 'own'])
    expect(ids(message('USER', 'Bye'), message('ASSISTANT', 'Au', { callId: 'call-3' }))).toEqual([
      'Hello',
      'own',
    ])
  })
})

test('a question of GraphQL has the form of replies', () => {
  const field = {
    name: 'files',
    label: null,
    type: 'FILE_LIST' as const,
    required: false,
    options: [],
    default: null,
  }
  const read = {
    ...{ pauseId: 'call-2', question: 'Which?', expiresAt: null },
    options: [{ optionId: 'ok', title: 'Approve' }],
    fields: [field, { ...field, label: 'Days', type: 'NUMBER' as const, default: 3 }],
  }
  expect(pauseOf(read)).toEqual({
    ...{ id: 'call-2', question: 'Which?', options: [{ id: 'ok', title: 'Approve' }] },
    fields: [
      { name: 'files', type: 'file-list', required: false, options: [] },
      { name: 'files', label: 'Days', type: 'number', required: false, options: [], default: 3 },
    ],
  })
})
