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
    limits: { chat_per_minute: 5, upload_per_minute: null },
  })
})

test('a day is that of the reader', () => {
  expect(dayOf(new Date(2027, 0, 5, 23, 59))).toBe('2027-01-05')
})
