import { expect, test } from 'vitest'
import { callsSearch } from './calls-search.ts'

test('an address keeps what filters calls, and nothing else', () => {
  const search = { range: '24h', agent: 'dify', outcome: 'RUNNING', requestId: 'r-1', key: 'k', user: 'u' }
  expect(callsSearch({ ...search, conversation: 'c' })).toEqual({ ...search, conversation: 'c' })
  expect(callsSearch({ range: '2y', outcome: 'LOST', agent: '', from: 'yesterday', other: 1 })).toEqual({})
})

test('an id of digits alone is a text, and times are written in one way', () => {
  expect(callsSearch({ requestId: 42, from: '2026-11-01' })).toEqual({
    requestId: '42',
    from: '2026-11-01T00:00:00.000Z',
  })
})
