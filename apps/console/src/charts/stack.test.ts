import { expect, it } from 'vitest'
import { stack } from './stack.ts'

it('a stack puts each layer on top of those before it', () => {
  expect(
    stack([
      [1, 2, null],
      [3, null, 0],
      [1, 1, 1],
    ]),
  ).toEqual([
    [1, 2, 0],
    [4, 2, 0],
    [5, 3, 1],
  ])
  expect(stack([])).toEqual([])
})
