import { expect, test } from 'vitest'
import { keyState, mayChange, mayRevoke } from './key-state.ts'

test.each([
  ['active', { isActive: true, revokedAt: null }],
  ['expired', { isActive: false, revokedAt: null }],
  ['revoked', { isActive: false, revokedAt: '2026-11-22T10:00:00Z' }],
  ['suspended', { isActive: true, revokedAt: null, owner: { status: 'SUSPENDED' as const } }],
] as const)('a key is shown as %s', (state, key) => {
  expect(keyState(key)).toBe(state)
})

test.each([
  ['its creator', { role: 'premium', userId: 'u-1' }, true, true],
  ['an administrator', { role: 'admin', userId: 'u-3' }, true, true],
  ['its owner', { role: 'premium', userId: 'u-2' }, false, true],
  ['another user', { role: 'premium', userId: 'u-4' }, false, false],
])('%s may or may not change and revoke a key', (_who, session, changes, revokes) => {
  const key = { createdById: 'u-1', ownerId: 'u-2' }
  expect([mayChange(key, session), mayRevoke(key, session)]).toEqual([changes, revokes])
})
