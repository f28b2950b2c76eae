import { expect, test } from 'vitest'
import { changesOf, compareStates } from './compare-states.ts'

test('states are compared field by field, first what has changed', () => {
  const before = { username: 'mei', role: 'user', limits: { chat: 5, upload: null }, agents: ['a'] }
  const after = { username: 'mei', role: 'admin', limits: { chat: 5, upload: 2 }, agents: ['a', 'b'] }
  expect(compareStates(before, after)).toEqual([
    { name: 'role', before: 'user', after: 'admin', hasChanged: true },
    { name: 'limits.upload', before: 'null', after: '2', hasChanged: true },
    { name: 'agents', before: '["a"]', after: '["a","b"]', hasChanged: true },
    { name: 'username', before: 'mei', after: 'mei', hasChanged: false },
    { name: 'limits.chat', before: '5', after: '5', hasChanged: false },
  ])
})

test('what was made had nothing before, and what was removed has nothing after', () => {
  expect(compareStates(null, { name: '' })).toEqual([
    { name: 'name', before: undefined, after: '', hasChanged: true },
  ])
  expect(compareStates({ tags: {} }, null)).toEqual([
    { name: 'tags', before: '{}', after: undefined, hasChanged: true },
  ])
  expect(compareStates(null, null)).toEqual([])
})

test('what was made or removed is no change, and neither is what stayed', () => {
  expect(changesOf({ before: null, after: { role: 'user' } })).toEqual([])
  expect(changesOf({ before: { role: 'user' }, after: null })).toEqual([])
  const [before, after] = [
    { role: 'user', status: 'active', token_epoch: 0 },
    { role: 'premium', status: 'active', token_epoch: 1 },
  ]
  expect(changesOf({ before, after })).toEqual([
    { name: 'role', before: 'user', after: 'premium', hasChanged: true },
  ])
})
