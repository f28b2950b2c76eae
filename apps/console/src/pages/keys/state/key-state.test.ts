import { expect, test } from 'vitest'
import { keyState, mayChange } from './key-state.ts'

test.each([
  ['active', { isActive: true, revokedAt: null }],
  ['expired', { isActive: false, revokedAt: null }],
  ['revoked', { isActive: false, revokedAt: '2026-11-22T10:00:00Z' }],
  ['suspended', { isActive: true, revokedAt: null, owner: { status: 'SUSPENDED' as const } }],
] as const)('a key is shown as %s', (state, key) => {
  expect(keyState(key)).toBe(state)
})

test('the creator of a key and administrators may change it, its owner may not', () => {
  const key = { creatorId: 'u-1', ownerId: 'u-2' }
  expect(mayChange(key, { role: 'premium', userId: 'u-1' })).toBe(true)
  expect(mayChange(key, { role: 'admin', userId: 'u-3' })).toBe(true)
  expect(mayChange(key, { role: 'premium', userId: 'u-2' })).toBe(false)
})
