import { expect, test } from 'vitest'
import { creationOf, dayOf, newKeyValues, updateOf, valuesOf } from './key-values.ts'

const NOW = new Date('2026-11-22T10:00:00Z')
const EMPTY = newKeyValues('u-1', '2027-01-31')

test('a lifetime of days ends at the same time of the day, a date with the day of the reader', () => {
  expect(creationOf({ ...EMPTY, lifetime: '30' }, NOW).expires_at).toBe('2026-12-22T10:00:00.000Z')
  const { expires_at } = creationOf({ ...EMPTY, lifetime: 'date' }, NOW)
  expect(new Date(expires_at)).toEqual(new Date(2027, 0, 31, 23, 59, 59))
  expect(creationOf({ ...EMPTY, lifetime: 'date', expires_at: '' }, NOW).expires_at).toBe('')
})

test('only chosen agents are a restriction, and empty limits are none', () => {
  expect(creationOf({ ...EMPTY, allowed_agents: ['dify'] }, NOW)).not.toHaveProperty('allowed_agents')
  expect(updateOf({ ...EMPTY, allowed_agents: ['dify'] }, NOW).allowed_agents).toBeNull()
  const some = {
    ...EMPTY,
    agents: 'some',
    allowed_agents: ['dify', 'coze/bot'],
    chat_per_minute: ' 20 ',
  } as const
  expect(updateOf(some, NOW)).toMatchObject({
    allowed_agents: ['dify', 'coze/bot'],
    limits: { chat_per_minute: 20, upload_per_minute: null },
  })
})

test('what a key has comes back as it was when nothing is changed', () => {
  const key = {
    name: 'bot',
    description: 'answers',
    allowedAgents: ['dify'],
    allowedAddresses: ['192.0.2.0/24', '2001:db8::1'],
    limits: { chatPerMinute: 5, uploadPerMinute: null },
    expiresAt: '2027-01-31T12:00:00Z',
  }
  const values = valuesOf(key as never)
  expect(values.expires_at).toBe('2027-01-31')
  expect(updateOf({ ...values, lifetime: '30' }, NOW).expires_at).toBe('2026-12-22T10:00:00.000Z')
  expect(updateOf(values, NOW)).toEqual({
    name: 'bot',
    description: 'answers',
    allowed_agents: ['dify'],
    allowed_addresses: ['192.0.2.0/24', '2001:db8::1'],
    limits: { chat_per_minute: 5, upload_per_minute: null },
  })
})

test('addresses are given one on each line or with commas, and none allow all', () => {
  const some = { ...EMPTY, allowed_addresses: ' 192.0.2.1, 192.0.2.2\n\n2001:db8::/32 ' }
  const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::/32']
  expect(updateOf(some, NOW).allowed_addresses).toEqual(addresses)
  expect(creationOf(some, NOW).allowed_addresses).toEqual(addresses)
  expect(updateOf(EMPTY, NOW).allowed_addresses).toBeNull()
  expect(creationOf(EMPTY, NOW)).not.toHaveProperty('allowed_addresses')
})

test('a day is that of the reader', () => {
  expect(dayOf(new Date(2027, 0, 5, 23, 59))).toBe('2027-01-05')
})
