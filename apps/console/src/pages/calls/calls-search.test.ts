import { expect, test } from 'vitest'
import { filterOf } from '../../filters/conditions.ts'
import { CALL_CONDITIONS, type CallsSearch, callFilterOf, callsSearch } from './calls-search.ts'

const conditionsOf = (search: CallsSearch) => callFilterOf(filterOf(CALL_CONDITIONS, search))

test('an address keeps what filters calls, and nothing else', () => {
  const search = { range: '24h', agent: 'dify', outcome: 'FAILED', requestId: 'r-1', key: 'k', user: 'u' }
  const more = {
    kind: 'CHAT',
    face: 'REST',
    reason: 'agent_timeout',
    ms: 1_000,
    tokens: 0,
    paused: false,
    conversation: 'c',
  }
  expect(callsSearch({ ...search, ...more })).toEqual({ ...search, ...more })
  expect(callsSearch({ range: '2y', outcome: 'LOST', agent: '', from: 'yesterday', other: 1 })).toEqual({})
  expect(callsSearch({ kind: 'x', face: 'x', ms: -1, tokens: 2 ** 31, paused: 'x' })).toEqual({})
})

test('an id of digits alone is a text, and times are written in one way', () => {
  expect(callsSearch({ requestId: 42, from: '2026-11-01' })).toEqual({
    requestId: '42',
    from: '2026-11-01T00:00:00.000Z',
  })
})

test('calls without an app, a model or an end user can be asked for', () => {
  const without = { app: '', deployment: '', model: '', endUser: '' }
  expect(callsSearch(without)).toEqual(without)
  expect(conditionsOf(without)).toEqual({ appId: '', deployment: '', model: '', endUser: '' })
  expect(conditionsOf({})).toEqual({})
})

test.each([true, false])('calls can be asked for by whether they paused: %s', (paused) => {
  expect(conditionsOf(callsSearch({ paused }))).toEqual({ paused })
})
