import { expect, test } from 'vitest'
import { countEvents, withIds, withoutEvents } from './event-text.ts'

const STREAM = 'data: {"a":1}\n\nevent: error\ndata: {}\n\ndata: [DONE]\n\n'

test('each event gets a line with its number after its data', () => {
  expect(withIds(STREAM, 7)).toEqual({
    text: 'data: {"a":1}\nid: 8\n\nevent: error\ndata: {}\nid: 9\n\ndata: [DONE]\nid: 10\n\n',
    count: 3,
  })
  expect(withIds('', 7)).toEqual({ text: '', count: 0 })
})

test('the first events of a text can be left out', () => {
  const { text } = withIds(STREAM, 0)
  expect(countEvents(text)).toBe(3)
  expect(withoutEvents(text, 0)).toBe(text)
  expect(withoutEvents(text, 2)).toBe('data: [DONE]\nid: 3\n\n')
  expect(withoutEvents(text, 3)).toBe('')
})
