import { expect, test } from 'vitest'
import { entriesOf, isSearchable, type Matches } from './entries.ts'

const icon = () => null
const pages = [
  { to: '/', label: '概览', icon },
  { to: '/keys', label: 'API 密钥', icon },
]
const agents = [{ id: 'dify', name: 'Support desk', requires: [], apps: [] }]
const key = { description: '', state: 'ACTIVE' as const, owner: null }
const matches: Matches = {
  keys: [
    { ...key, id: 'k1', name: 'support', keyPrefix: 'tl_aB3dE6gH9' },
    { ...key, id: 'k2', name: 'other', keyPrefix: 'tl_ab3de6gh9' },
    {
      ...key,
      id: 'k3',
      name: 'playground dify',
      description: "Made by the console's playground",
      keyPrefix: 'tl_000000000',
    },
  ],
  users: [{ id: 'u1', username: 'support', role: 'USER' }],
}
const idsOf = (text: string, isKey = false) =>
  entriesOf({ text, isKey }, { pages, agents, matches }).map(({ id }) => id)

test('a text means pages, agents, keys and users, and at last the id of a request', () => {
  expect(idsOf('SUPPORT')).toEqual([
    'find-agent-dify',
    'find-chat-dify',
    'find-key-k1',
    'find-key-k2',
    'find-user-u1',
    'find-request',
  ])
  // Pages are also found by their addresses, which are the same in every language.
  expect(idsOf('keys')).toContain('find-page--keys')
})

test('a whole key means nothing but the key with exactly its prefix', () => {
  expect(idsOf('tl_aB3dE6gH9', true)).toEqual(['find-key-k1'])
  expect(idsOf('tl_000000000', true)).toEqual(['find-key-k3'])
})

test('no text offers the pages, and a letter alone searches no list', () => {
  expect(entriesOf({ text: '', isKey: false }, { pages, agents, matches: undefined })).toHaveLength(2)
  expect(['', 'a', 'ab', '梅'].map(isSearchable)).toEqual([false, false, true, true])
})
