import { expect, test } from 'vitest'
import { keyState, mayChange, mayRevoke, mayRotate } from './key-state.ts'

test.each([
  ['active', { state: 'ACTIVE' }],
  ['paused', { state: 'PAUSED', owner: { status: 'ACTIVE' } }],
  ['expired', { state: 'EXPIRED', owner: { status: 'SUSPENDED' } }],
  ['revoked', { state: 'REVOKED', owner: { status: 'SUSPENDED' } }],
  ['suspended', { state: 'ACTIVE', owner: { status: 'SUSPENDED' } }],
  ['suspended', { state: 'PAUSED', owner: { status: 'SUSPENDED' } }],
] as const)('a key is shown as %s (case %#)', (state, key) => {
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

test.each([
  ['an administrator', { role: 'admin', userId: 'u-3' }, true, true],
  ['its owner', { role: 'premium', userId: 'u-2' }, true, false],
  ['its owner with another role', { role: 'user', userId: 'u-2' }, false, false],
  ['its creator', { role: 'premium', userId: 'u-1' }, false, false],
])('%s may or may not rotate a key, and one with the permission admin', (_who, session, usual, admin) => {
  const may = (permissions: ('CHAT' | 'ADMIN')[]) => mayRotate({ ownerId: 'u-2', permissions }, session)
  expect([may(['CHAT']), may(['CHAT', 'ADMIN'])]).toEqual([usual, admin])
})
