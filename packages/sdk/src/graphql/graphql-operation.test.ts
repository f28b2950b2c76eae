import { expect, test } from 'vitest'
import { readOperation } from './graphql-operation.ts'

test.each([
  ['{ me { username } }', 'token', false],
  ['query Q { currentApiKey { id } }', 'key', false],
  ['mutation M($input: ChatInput!) { reply: chat(input: $input) { text } }', 'key', true],
  [
    'subscription ($input: ChatInput!) @live { ...F } fragment F on Subscription { chat(input: $input) { __typename } }',
    'key',
    false,
  ],
  ['subscription { chatResumed(callId: "c", after: 1) { __typename } }', 'key', false],
  // Names in arguments, strings, comments and selections below the root are not root fields.
  ['{ calls(filter: { kind: chat }) { nodes { chat } } }', 'token', false],
  ['query Q { agents { id } } # chat { mutation', 'token', false],
  ['"""mutation { chat }"""\nquery { user(id: "chat {") { id } }', 'token', false],
])('%s takes the %s; creates: %s', (document, credential, isMutation) => {
  expect(readOperation(document)).toEqual({ credential, isMutation })
})
