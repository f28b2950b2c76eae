import { expect, test } from 'vitest'
import { attemptsOf } from './attempts-of.ts'

const CALL = {
  attemptList: null,
  attempts: 1,
  deployment: 'main',
  outcome: 'DONE',
  reason: null,
  platformStatus: null,
  durationMs: 1_200,
} as const

test('the only attempt, which succeeded at once, is that of the call', () => {
  expect(attemptsOf(CALL)).toEqual([
    {
      deployment: 'main',
      outcome: 'DONE',
      reason: null,
      platformStatus: null,
      startMs: null,
      durationMs: 1_200,
    },
  ])
})

test('attempts that are listed are shown as they are', () => {
  const attemptList = [
    { deployment: 'eu-1', outcome: 'TIMEOUT', reason: 'agent_timeout', platformStatus: null },
    { deployment: 'eu-2', outcome: 'DONE', reason: null, platformStatus: null },
  ].map((attempt, place) => ({ ...attempt, startMs: place * 500, durationMs: 400 })) as never
  expect(attemptsOf({ ...CALL, attempts: 2, attemptList })).toBe(attemptList)
})

test('nothing is invented where a call runs, was sent nowhere, or its attempts were only counted', () => {
  expect(attemptsOf({ ...CALL, attempts: null, deployment: null, outcome: null })).toEqual([])
  expect(attemptsOf({ ...CALL, attempts: null, deployment: null })).toEqual([])
  expect(attemptsOf({ ...CALL, attempts: 3 })).toEqual([])
})
