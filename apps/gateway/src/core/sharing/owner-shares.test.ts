import { expect, test } from 'vitest'
import { OwnerShares } from './owner-shares.ts'

function takeAll(shares: OwnerShares, owner: string): (() => void)[] {
  const held: (() => void)[] = []
  while (shares.refusalOf(owner) === undefined) held.push(shares.take(owner))
  return held
}

test('an owner may take all but the last tenth, which is for owners that hold less than a tenth', () => {
  const shares = new OwnerShares(100)
  expect(takeAll(shares, 'a')).toHaveLength(90)
  expect(shares.refusalOf('a')).toBe('share')
  expect(takeAll(shares, 'b')).toHaveLength(10)
  expect([shares.refusalOf('a'), shares.refusalOf('b'), shares.refusalOf('c')]).toEqual(['all', 'all', 'all'])
})

test('many owners share all of it, each up to a tenth and beyond while there is room', () => {
  const shares = new OwnerShares(10_000)
  for (let owner = 0; owner < 1_000; owner += 1) {
    for (let held = 0; held < 10; held += 1) {
      expect(shares.refusalOf(String(owner))).toBeUndefined()
      shares.take(String(owner))
    }
  }
  expect(shares.taken).toBe(10_000)
})

test('what is given back, and given back once, may be taken again', () => {
  const shares = new OwnerShares(20)
  const [first] = takeAll(shares, 'a')
  first?.()
  first?.()
  expect(shares.taken).toBe(17)
  expect(takeAll(shares, 'a')).toHaveLength(1)
})

test('where a tenth is less than one, one owner may take all', () => {
  const shares = new OwnerShares(4)
  expect(takeAll(shares, 'a')).toHaveLength(4)
  expect(shares.refusalOf('b')).toBe('all')
})
