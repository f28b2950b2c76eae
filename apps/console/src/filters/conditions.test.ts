import { expect, test } from 'vitest'
import { conditionsIn, filterOf, parametersOf } from './conditions.ts'
import { rangeOf } from './range.ts'

const CONDITIONS = {
  search: { kind: 'search', field: 'search', parameter: 'search' },
  user: { kind: 'user', field: 'ownerId', parameter: 'owner_id' },
  result: { kind: 'words', field: 'result', parameter: 'result', words: ['DONE', 'REFUSED'] },
  paused: { kind: 'flag', field: 'paused', parameter: 'paused' },
  ms: { kind: 'number', field: 'durationMsMin', parameter: 'duration_ms_min' },
  before: { kind: 'time', field: 'expiresBefore', parameter: 'expires_before' },
} as const

const SET = {
  search: 'two words ',
  user: '42',
  result: 'DONE',
  paused: false,
  ms: 0,
  before: '2026-11-01T00:00:00.000Z',
} as const

test('an address keeps what conditions of its list have, and nothing else', () => {
  expect(conditionsIn(CONDITIONS, { ...SET, user: 42, ms: '0', before: '2026-11-01', other: 1 })).toEqual(SET)
  const unknown = { search: {}, user: ' ', result: 'LOST', paused: 'x', ms: -1, before: 'yesterday' }
  expect(conditionsIn(CONDITIONS, unknown)).toEqual({})
  expect(conditionsIn(CONDITIONS, { ms: 2 ** 31 })).toEqual({})
})

test('GraphQL and REST have the conditions that are set by their own names', () => {
  const { search, paused, before } = SET
  const shared = { search, paused }
  expect(filterOf(CONDITIONS, SET)).toEqual({
    ...shared,
    ownerId: '42',
    result: 'DONE',
    durationMsMin: 0,
    expiresBefore: before,
  })
  expect(parametersOf(CONDITIONS, SET)).toEqual({
    ...shared,
    owner_id: '42',
    result: 'done',
    duration_ms_min: 0,
    expires_before: before,
  })
  expect([filterOf(CONDITIONS, {}), parametersOf(CONDITIONS, {})]).toEqual([{}, {}])
})

test('a range is that of the address, its own times before a preset, and otherwise the usual one', () => {
  const range = rangeOf(['24h', 'all'], 'all')
  const now = new Date('2026-11-22T10:00:00Z')
  const from = '2026-11-01T00:00:00.000Z'
  expect(range.in({ range: '24h', from: '2026-11-01', to: 'now' })).toEqual({ range: '24h', from })
  expect(range.in({ range: '2y' })).toEqual({})
  expect(range.times({}, now)).toEqual({})
  expect(range.times({ range: '24h' }, now)).toEqual({ from: '2026-11-21T10:00:00.000Z' })
  expect(range.times({ range: '24h', from }, now)).toEqual({ from })
  expect([range.shown({}), range.shown({ range: '24h', from })]).toEqual(['all', 'custom'])
})
