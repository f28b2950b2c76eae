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

test.each([
  ['25006', 'cannot execute INSERT in a read-only transaction', 'not_writable'],
  ['42501', 'permission denied for table calls', 'not_writable'],
  ['53100', 'could not extend file', 'disk_full'],
  ['40P01', 'deadlock detected', 'database'],
  ['40001', 'could not serialize access', 'database'],
])(
  'a database that does not take a write (%s) becomes unavailable, also where Prisma reports it',
  (code, message, limit) => {
    const error = Object.assign(new Error(message), { code })
    const cause = { kind: 'postgres', originalCode: code, originalMessage: message }
    const byPrisma = Object.assign(new Error('Invalid invocation'), {
      code: 'P2010',
      meta: { driverAdapterError: Object.assign(new Error('in Prisma'), { cause }) },
    })
    for (const each of [error, byPrisma])
      expect(problemOf(each)).toMatchObject({ reason: 'unavailable', limit, cause: each })
  },
)

test.each([[new TypeError('x is not a function')], ['a text'], [undefined], [null]])(
  'anything else becomes an internal error whose detail reveals nothing: %s',
  (error) => {
    const problem = problemOf(error)
    expect(problem).toMatchObject({ reason: 'internal_error', status: 500 })
    expect(problem.cause).toBe(error)
    expect(problem.detail).toBe(problem.message)
  },
)
