import { expect, test } from 'vitest'
import { platformMessage } from './platform-message.ts'

const said = [{ type: 'text', text: 'a' }] as const
const read = (kept: object) => platformMessage({ thinkTags: false }, { id: 'm', role: 'user', said, ...kept })

test.each([
  [1_705_407_629, '2024-01-16T12:20:29.000Z'],
  [1_705_407_629_123, '2024-01-16T12:20:29.123Z'],
  ['1705407629', '2024-01-16T12:20:29.000Z'],
  ['2024-01-16T12:20:29Z', '2024-01-16T12:20:29.000Z'],
  [0, undefined],
  [-1, undefined],
  [1e300, undefined],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
  [{ toString: 1 }, undefined],
])('the time %j is read as %s', (createdAt, time) => {
  expect(read({ createdAt })[0]?.createdAt?.toISOString()).toBe(time)
})

test.each([undefined, null, '', 7.5, 'nul\u0000', '\ud800', 'a'.repeat(300)])(
  'a message whose id is %j is left out, as is such an id of an answer',
  (id) => {
    expect(read({ id })).toEqual([])
    expect(read({ answerId: id })).toEqual([{ id: 'm', role: 'user', text: 'a', files: [] }])
  },
)

test('a message that says nothing is left out', () => {
  expect(read({ said: [{ type: 'reasoning', text: 'hm' }] })).toEqual([])
})

test('half characters are replaced, and reasoning is left out', () => {
  const events = [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'a\ud83d' },
    { type: 'text', text: '\ude00b\ud83d' },
  ]
  expect(read({ said: events })[0]?.text).toBe('a😀b\ufffd')
})

test('files keep their addresses, but for those that are their own content, and are no more than twenty', () => {
  const file = (url: string) => ({ type: 'file', file: { type: 'image', url, name: 'n\ud800' } })
  const many = Array.from({ length: 30 }, (_each, index) => file(`/files/${index}`))
  const [message] = read({ said: [file('data:image/png;base64,AAAA'), ...many] })
  expect(message?.files).toHaveLength(20)
  expect(message?.files[0]).toEqual({ url: '/files/0', name: 'n\ufffd' })
})

test('a question is a paragraph of the text with its options', () => {
  const pause = { question: 'Which?', options: [{ id: '1', title: 'one' }], fields: [], takesText: true }
  const events = [
    { type: 'text', text: 'Well.' },
    { type: 'pause', pause },
  ]
  expect(read({ said: events })[0]?.text).toBe('Well.\n\nWhich?\n\n- one')
})
