import { expect, test } from 'vitest'
import { usageSearch } from '../usage-search.ts'
import { csvName } from './csv-name.ts'

const NOW = new Date('2026-11-25T10:20:00Z')
const nameOf = (given: Record<string, unknown>) =>
  csvName(usageSearch({ zone: 'Asia/Shanghai', ...given }, NOW), NOW)

test('a file is named by what it has and by its days in the time zone', () => {
  expect(nameOf({ range: 'last_month', group: 'agent' })).toBe(
    'trunkline-usage-by-agent-2026-10-01-to-2026-10-31.csv',
  )
  expect(nameOf({ range: 'last_week', table: 'time', compare: true })).toBe(
    'trunkline-usage-daily-2026-11-16-to-2026-11-22-compared.csv',
  )
  expect(nameOf({ range: 'today', group: 'end_user,agent' })).toBe(
    'trunkline-usage-by-agent-end-user-2026-11-25-to-2026-11-25.csv',
  )
})
