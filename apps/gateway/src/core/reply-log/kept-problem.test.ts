import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { keptProblem, problemOfKept } from './kept-problem.ts'

const stored = (problem: Problem, isFinal = false) =>
  problemOfKept(JSON.parse(JSON.stringify(keptProblem(problem, { isFinal }))))

test('a problem is the same after it was stored', () => {
  for (const problem of [
    new Problem('agent_error'),
    new Problem('agent_rate_limited', { retryAfterSeconds: 7, detail: 'Too much.' }),
  ]) {
    const { reason, status, detail, retryAfterSeconds, mistakes } = problem
    expect(stored(problem)).toMatchObject({
      reason,
      status,
      detail,
      retryAfterSeconds,
      mistakes,
      isFinal: false,
    })
  }
})

test('a face names the fields of a stored problem as it names its own', () => {
  const problem = new Problem('upload_not_found', {
    field: ['files', 1],
    detail: 'is unknown.',
    others: [{ field: ['files', 2], text: 'is too old.' }],
  })
  const nameOf = (path: readonly (string | number)[]) => `body.${path.join('.')}`
  expect(stored(problem).describe(nameOf)).toBe('body.files.1: is unknown.')
  expect(stored(problem).mistakes).toEqual(problem.mistakes)
})

test('a problem that a repetition gets again is final', () => {
  expect(stored(new Problem('agent_timeout'), true).isFinal).toBe(true)
})

test('a reason that this version does not know is an error of the gateway', () => {
  expect(problemOfKept({ reason: 'of_the_future' as 'stopped' }).reason).toBe('internal_error')
})
