import { expect, test } from 'vitest'
import type { AuditFieldsFragment } from '../../../generated/graphql.ts'
import { newestEvents } from './user-details.ts'

const events = (...numbers: readonly number[]) => numbers.map((n) => ({ n }) as AuditFieldsFragment)

test('events of both lists are shown once, the newest first, and not too many', () => {
  const shown = newestEvents(events(9, 7, 5), events(8, 7, 6, 4, 3, 2, 1), undefined)
  expect(shown.map(({ n }) => n)).toEqual([9, 8, 7, 6, 5, 4, 3, 2])
})
