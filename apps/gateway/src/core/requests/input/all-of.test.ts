import { expect, test } from 'vitest'
import { MISTAKES_MAX, Problem, refuseField } from '#core/base/errors/errors.ts'
import { allOf, eachOf } from './all-of.ts'

function refusalOf(work: () => unknown): Problem {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('nothing was refused')
}

test('every rule of an input is applied, and the problem is that of the first that fails', () => {
  const problem = refusalOf(() =>
    allOf({
      name: () => 'fine',
      age: () => refuseField(['age'], 'expected an integer.'),
      limits: () =>
        allOf({
          chat: () => refuseField(['limits', 'chat'], 'expected a number.'),
          upload: () => refuseField(['limits', 'upload'], 'expected a number.'),
        }),
    }),
  )
  expect(problem.detail).toBe('age: expected an integer.')
  expect(problem.mistakes.map(({ field }) => field)).toEqual([
    ['age'],
    ['limits', 'chat'],
    ['limits', 'upload'],
  ])
})

test('what the rules of an input return is returned where all hold', () => {
  expect(allOf({ one: () => 1, two: () => 'b' })).toEqual({ one: 1, two: 'b' })
})

test('of two mistakes in one field the first is kept', () => {
  const rule = (text: string) => () => refuseField(['age'], text)
  expect(refusalOf(() => allOf({ one: rule('first.'), two: rule('second.') })).mistakes).toEqual([
    { field: ['age'], text: 'first.' },
  ])
})

test('anything but a mistake of a field is passed on at once', () => {
  const fault = new Error('fault')
  const later = () => expect.unreachable()
  expect(() =>
    allOf({
      first: () => {
        throw fault
      },
      later,
    }),
  ).toThrow(fault)
})

test('the rules for items end after a bounded number of mistakes', () => {
  let applied = 0
  const items = Array.from({ length: 10_000 }, (_, index) => index)
  const problem = refusalOf(() =>
    eachOf(items, (_item, index) => {
      applied += 1
      refuseField(['items', index], 'expected nothing.')
    }),
  )
  expect([applied, problem.mistakes.length]).toEqual([MISTAKES_MAX, MISTAKES_MAX])
})
