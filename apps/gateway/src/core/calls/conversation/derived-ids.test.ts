import { expect, test } from 'vitest'
import { createDerivedIds } from './derived-ids.ts'

const derivedIds = createDerivedIds({ value: 'the secret of an installation' })
const NAME = { ownerId: 'owner', endUser: 'ann', agent: 'agent', app: 'app', conversation: 'chat-1' }
const otherInstallation = createDerivedIds({ value: 'the secret of another one' })

test('an id is the same for every call and reveals nothing of its parts', () => {
  const key = derivedIds.conversationKey(NAME)
  expect(key).toBe(derivedIds.conversationKey({ ...NAME, generation: 0 }))
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  expect(derivedIds.endUserId('owner', 'ann')).toBe(derivedIds.endUserId('owner', 'ann'))
  expect(derivedIds.endUserId('owner', 'ann')).toMatch(/^[0-9a-f]{20}$/)
})

test('another owner, end user, client id, generation or installation gives another id', () => {
  const keys = [
    NAME,
    { ownerId: 'other' },
    { endUser: 'bob' },
    { agent: 'other' },
    { app: 'other' },
    { conversation: 'chat-2' },
    { generation: 1 },
    { generation: 2 },
    // The same text, divided differently.
    { conversation: 'x|chat-1' },
    { app: 'app|x' },
    { ownerId: 'owner|ann', endUser: 'x' },
    { conversation: '1|x|6|chat-1' },
    { app: 'app|1|x' },
  ].map((other) => derivedIds.conversationKey({ ...NAME, ...other }))
  keys.push(otherInstallation.conversationKey(NAME))
  expect(new Set(keys).size).toBe(keys.length)
})

test('the pseudonym of an end user is the same each time, that of its owner, and says nothing of the name', () => {
  const { pseudonym, conversationSalt } = derivedIds.erased('owner', 'ann')
  expect(pseudonym).toMatch(/^erased-[0-9a-f]{20}$/)
  expect(derivedIds.erased('owner', 'ann')).toEqual({ pseudonym, conversationSalt })
  const others = [
    derivedIds.erased('owner', 'bob'),
    derivedIds.erased('other', 'ann'),
    otherInstallation.erased('owner', 'ann'),
  ]
  expect(new Set([pseudonym, ...others.map((other) => other.pseudonym)]).size).toBe(4)
  expect(new Set([conversationSalt, ...others.map((other) => other.conversationSalt)]).size).toBe(4)
  // What stands in tables must not be the id that platforms have.
  expect(pseudonym).not.toContain(derivedIds.endUserId('owner', 'ann'))
})
