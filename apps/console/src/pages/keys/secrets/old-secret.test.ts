import { expect, test } from 'vitest'
import { oldSecret } from './old-secret.ts'

const NOW = new Date('2026-11-25T12:00:00Z')

test.each([
  ['spare', null, '2026-11-20T12:00:00Z'],
  ['spare', null, null],
  ['unused', '2026-11-25T11:00:00Z', null],
  ['used', '2026-11-25T11:00:00Z', '2026-11-24T12:00:01Z'],
  ['idle', '2026-11-20T11:00:00Z', '2026-11-24T12:00:00Z'],
] as const)(
  'an old secret is %s where the new one was last used %s and it was %s',
  (found, present, previous) => {
    expect(oldSecret({ lastUsedAt: present }, { lastUsedAt: previous }, NOW)).toBe(found)
  },
)
