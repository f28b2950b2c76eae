import { expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

const NAMES = ['name', 'status', 'max_api_calls', 'allowed_agents', 'limit']

test.each([
  ['allowed_agent', 'allowed_agents'],
  ['allowedAgents', 'allowed_agents'],
  ['max_calls', 'max_api_calls'],
  ['state', 'status'],
  ['NAME', 'name'],
  ['limits', 'limit'],
])('%s stands for %s', (word, name) => {
  expect(nearestName(word, NAMES)).toBe(name)
})

test.each(['', 'colour', 'constructor', '__proto__', 'x'.repeat(1_000_000)])(
  'a word that is like none of the names stands for none (%#)',
  (word) => {
    expect(nearestName(word, NAMES)).toBeUndefined()
  },
)
