import { expect, test } from 'vitest'
import { createDerivedIds } from './derived-ids.ts'

const derivedIds = createDerivedIds(() => 'the secret of an installation')
const otherInstallation = createDerivedIds(() => 'the secret of another one')

test('an id is the same for every call and reveals nothing of its parts', () => {
  const key = derivedIds.conversationKey(['owner', 'ann', 'agent', 'app', 'chat-1'])
  expect(key).toBe(derivedIds.conversationKey(['owner', 'ann', 'agent', 'app', 'chat-1']))
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  expect(derivedIds.endUserId('owner', 'ann')).toBe(derivedIds.endUserId('owner', 'ann'))
  expect(derivedIds.endUserId('owner', 'ann')).toMatch(/^[0-9a-f]{20}$/)
})

test('another owner, end user, client id or installation gives another id', () => {
  const keys = [
    derivedIds.conversationKey(['owner', 'ann', 'chat-1']),
    derivedIds.conversationKey(['other', 'ann', 'chat-1']),
    derivedIds.conversationKey(['owner', 'bob', 'chat-1']),
    derivedIds.conversationKey(['owner', 'ann', 'chat-2']),
    otherInstallation.conversationKey(['owner', 'ann', 'chat-1']),
    // The same text, divided differently.
    derivedIds.conversationKey(['owner', 'ann', 'x|chat-1']),
    derivedIds.conversationKey(['owner', 'ann|x', 'chat-1']),
    derivedIds.conversationKey(['owner|ann', 'x', 'chat-1']),
    derivedIds.conversationKey(['owner', 'ann', '1|x|6|chat-1']),
    derivedIds.conversationKey(['owner', 'ann|1|x', 'chat-1']),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})
