import { expect, test } from 'vitest'
import { nextOrder, orderIn, orderOf, orderText } from './order.ts'

const FIELDS = ['NAME', 'CALLS_TODAY'] as const

test.each([
  ['name', { field: 'NAME', direction: 'ASC' }],
  ['-calls_today', { field: 'CALLS_TODAY', direction: 'DESC' }],
] as const)('an address names the order %s, and is written the same', (text, order) => {
  expect(orderOf(text, FIELDS)).toEqual(order)
  expect(orderText(order)).toBe(text)
  expect(orderIn({ order: text, other: 1 }, FIELDS)).toEqual({ order: text })
})

test.each([undefined, '', '-', '--name', 'NAME', 'hash', 7, ['name']])(
  'an address with %j names no order',
  (text) => {
    expect(orderIn({ order: text }, FIELDS)).toEqual({})
  },
)

test('a head turns its own order around, and takes the place of another one', () => {
  const byName = { field: 'NAME', direction: 'ASC' } as const
  const byCalls = { field: 'CALLS_TODAY', direction: 'DESC' } as const
  expect(nextOrder(undefined, byCalls)).toEqual(byCalls)
  expect(nextOrder(byName, byCalls)).toEqual(byCalls)
  expect(nextOrder(byCalls, byCalls)).toEqual({ field: 'CALLS_TODAY', direction: 'ASC' })
})
