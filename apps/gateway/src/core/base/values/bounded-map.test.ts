import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('setting a new key clears a full map, and setting an existing key does not', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2)
  map.set('b', 3)
  expect([...map]).toEqual([
    ['a', 1],
    ['b', 3],
  ])
  map.set('c', 4)
  expect([...map]).toEqual([['c', 4]])
})
