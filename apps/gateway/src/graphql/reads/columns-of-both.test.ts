import { expect, test } from 'vitest'
import { columnsOfBoth } from './columns-of-both.ts'

test('the columns of two queries are read together, those of their relations included', () => {
  expect(
    columnsOfBoth(
      { select: { id: true, owner: { select: { id: true } } } },
      { select: { name: true, owner: { select: { role: true } }, creator: { select: { id: true } } } },
    ),
  ).toEqual({
    select: {
      id: true,
      name: true,
      owner: { select: { id: true, role: true } },
      creator: { select: { id: true } },
    },
  })
  expect(columnsOfBoth({}, {})).toEqual({})
})

test.each([
  ['whole rows and some columns', {}, { select: { id: true } }],
  [
    'a relation with and without a choice',
    { select: { owner: true } },
    { select: { owner: { select: {} } } },
  ],
  [
    'a relation with two filters',
    { select: { keys: { where: { id: 1 }, select: { id: true } } } },
    { select: { keys: { where: { id: 2 }, select: { id: true } } } },
  ],
])('%s are not read together', (_what, one, other) => {
  expect(columnsOfBoth(one, other)).toBeUndefined()
  expect(columnsOfBoth(other, one)).toBeUndefined()
})
