import { expect, test } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

test('bytes are refused while others hold too many, and given again once these are released', () => {
  const budget = new ByteBudget(10)
  const release = budget.hold(6)
  expect(() => budget.hold(5)).toThrow(expect.objectContaining({ reason: 'unavailable' }))
  budget.hold(4)
  release()
  release()
  expect(() => budget.hold(7)).toThrow(expect.objectContaining({ reason: 'unavailable' }))
  budget.hold(6)
})
