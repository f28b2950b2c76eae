import { expect, test } from 'vitest'
import { OwnerShares } from './owner-shares.ts'

/** Returns how many there were to take. */
function takeAll(shares: OwnerShares, owner: string): number {
  let taken = 0
  for (; shares.take(owner) === undefined; taken += 1);
  return taken
}

test('an owner may take all but the last tenth, which is for owners that hold less than a tenth', () => {
  const shares = new OwnerShares(100)
  expect(takeAll(shares, 'a')).toBe(90)
  expect(shares.take('a')).toBe('share')
  expect(takeAll(shares, 'b')).toBe(10)
  expect([shares.take('a'), shares.take('b'), shares.take('c')]).toEqual(['all', 'all', 'all'])
})

test('many owners share all of it, each up to a tenth and beyond while there is room', () => {
  const shares = new OwnerShares(10_000)
  for (let owner = 0; owner < 1_000; owner += 1) {
    for (let held = 0; held < 10; held += 1) expect(shares.take(String(owner))).toBeUndefined()
  }
  expect(shares.taken).toBe(10_000)
})

test('what is given back may be taken again', () => {
  const shares = new OwnerShares(20)
  takeAll(shares, 'a')
  shares.giveBack('a')
  expect(shares.taken).toBe(17)
  expect(takeAll(shares, 'a')).toBe(1)
  for (let held = 18; held > 0; held -= 1) shares.giveBack('a')
  expect(shares.taken).toBe(0)
  expect(takeAll(shares, 'b')).toBe(18)
})

test('where a tenth is less than one, one owner may take all', () => {
  const shares = new OwnerShares(4)
  expect(takeAll(shares, 'a')).toBe(4)
  expect(shares.take('b')).toBe('all')
})

test('an owner may have no more than its own maximum, also of the last tenth', () => {
  const shares = new OwnerShares(100, 5)
  expect(takeAll(shares, 'a')).toBe(5)
  expect(shares.take('a')).toBe('share')
  for (let owner = 0; owner < 19; owner += 1) expect(takeAll(shares, String(owner))).toBe(5)
  expect(shares.take('b')).toBe('all')
})
