import { expect, test } from 'vitest'
import { localTime, oneOf, textsIn, timesIn, typedTime } from './address.ts'

test('an id of digits alone is a text, and what is blank or of another kind is not there', () => {
  const search = { key: 42, user: ' u ', agent: '  ', limit: ['chat'] }
  expect(textsIn(search, ['key', 'user', 'agent', 'limit'])).toEqual({ key: '42', user: 'u' })
})

test('times are written in one way, and what is no time is not there', () => {
  expect(timesIn({ from: '2026-11-01', to: 'yesterday' })).toEqual({ from: '2026-11-01T00:00:00.000Z' })
})

test('a value is one of those that are known', () => {
  expect(oneOf({ range: '24h' }, 'range', ['24h', '7d'])).toEqual({ range: '24h' })
  expect(oneOf({ range: '2y' }, 'range', ['24h', '7d'])).toEqual({})
})

test('a typed time is that of the reader, and comes back as it was', () => {
  expect(typedTime('2026-11-22T10:15')).toBe(new Date(2026, 10, 22, 10, 15).toISOString())
  expect(localTime(typedTime('2026-11-22T10:15'))).toBe('2026-11-22T10:15')
  expect(typedTime('')).toBeUndefined()
})
