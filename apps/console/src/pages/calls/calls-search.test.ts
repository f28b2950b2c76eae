import { expect, test } from 'vitest'
import { filterOf } from '../../filters/conditions.ts'
import { CALL_CONDITIONS, type CallsSearch, callFilterOf, callsSearch } from './calls-search.ts'

const conditionsOf = (search: CallsSearch) => callFilterOf(filterOf(CALL_CONDITIONS, search))

test('calls without an app, a model or an end user can be asked for', () => {
  const without = { app: '', deployment: '', model: '', endUser: '' }
  expect(callsSearch(without)).toEqual(without)
  expect(conditionsOf(without)).toEqual({ appId: '', deployment: '', model: '', endUser: '' })
  expect(conditionsOf({})).toEqual({})
})

test('calls can be asked for by all failures, one way to end, and all that did not fail', () => {
  const outcomes = ['FAILED', 'DONE', 'NOT_FAILED'].map((outcome) => conditionsOf(callsSearch({ outcome })))
  expect(outcomes).toEqual([
    { outcome: ['FAILED'] },
    { outcome: ['DONE'] },
    { outcome: ['DONE', 'CLIENT_GONE', 'REJECTED'] },
  ])
})
