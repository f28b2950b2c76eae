import { expect, test } from 'vitest'
import { createIdentity } from './derived-ids.ts'

const identity = createIdentity(() => 'the secret of an installation')
const stranger = createIdentity(() => 'the secret of another one')

test('an id is the same at every call and tells nothing of what it stands for', () => {
  const key = identity.conversationKey(['owner', 'ann', 'agent', 'app', 'chat-1'])
  expect(key).toBe(identity.conversationKey(['owner', 'ann', 'agent', 'app', 'chat-1']))
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  expect(identity.endUserId('owner', 'ann')).toBe(identity.endUserId('owner', 'ann'))
  expect(identity.endUserId('owner', 'ann')).toMatch(/^[0-9a-f]{20}$/)
})

test('another owner, end user, client id or installation gives another id', () => {
  const keys = [
    identity.conversationKey(['owner', 'ann', 'chat-1']),
    identity.conversationKey(['other', 'ann', 'chat-1']),
    identity.conversationKey(['owner', 'bob', 'chat-1']),
    identity.conversationKey(['owner', 'ann', 'chat-2']),
    stranger.conversationKey(['owner', 'ann', 'chat-1']),
    // The same text, cut elsewhere.
    identity.conversationKey(['owner', 'ann', 'x|chat-1']),
    identity.conversationKey(['owner', 'ann|x', 'chat-1']),
    identity.conversationKey(['owner|ann', 'x', 'chat-1']),
    identity.conversationKey(['owner', 'ann', '1|x|6|chat-1']),
    identity.conversationKey(['owner', 'ann|1|x', 'chat-1']),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})
