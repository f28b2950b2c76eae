import { expect, test } from 'vitest'
import { DeadlineError } from '#core/base/async/deadline.ts'
import { Problem } from './errors.ts'
import { problemOf } from './problem-of.ts'

test('a problem is returned as it is', () => {
  const problem = new Problem('key_not_found')
  expect(problemOf(problem)).toBe(problem)
})

test.each([
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
  [new DeadlineError(1)],
  [new Error('Connection terminated unexpectedly')],
])('an error of a store that does not answer becomes unavailable: %s', (error) => {
  expect(problemOf(error)).toMatchObject({ reason: 'unavailable', status: 503, cause: error })
})

test.each([[new TypeError('x is not a function')], ['a text'], [undefined], [null]])(
  'anything else becomes an internal error whose detail reveals nothing: %s',
  (error) => {
    const problem = problemOf(error)
    expect(problem).toMatchObject({ reason: 'internal_error', status: 500 })
    expect(problem.cause).toBe(error)
    expect(problem.detail).toBe(problem.message)
  },
)
