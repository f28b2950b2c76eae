import { expect, test } from 'vitest'
import { addressMatcher } from './address-ranges.ts'

test.each([
  ['10.0.0.1', true],
  ['10.0.0.2', false],
  ['::ffff:10.0.0.1', true],
  ['192.168.7.7', true],
  ['2001:db8::7', true],
  ['2001:db9::7', false],
  ['', false],
  ['not an address', false],
])('of two networks and one address, %j is matched: %s', (address, isMatched) => {
  expect(addressMatcher(['10.0.0.1', '192.168.0.0/16', '2001:db8::/32'])(address)).toBe(isMatched)
})

test('without ranges nothing is matched', () => {
  expect(addressMatcher([])('10.0.0.1')).toBe(false)
})
