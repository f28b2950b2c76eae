import { expect, test } from 'vitest'
import { processesSearch, shownOf } from './processes-search.ts'
import { versionsOf } from './versions-of.ts'

test('the versions of live processes are counted, also those that have not said theirs', () => {
  const live = (version: string | null) => ({ version, state: 'LIVE' as const })
  const ended = { version: '0.9.0', state: 'STOPPED' as const }
  expect(versionsOf([live('1.1.0'), live('1.2.0'), live('1.2.0'), live(null), ended])).toEqual([
    { version: '1.2.0', processes: 2 },
    { version: '1.1.0', processes: 1 },
    { version: null, processes: 1 },
  ])
  expect(versionsOf([ended])).toEqual([])
})

test('live processes are shown, and all where a link leads to one that may have ended', () => {
  expect(shownOf(processesSearch({}))).toBe('live')
  expect(shownOf(processesSearch({ id: 'p-1' }))).toBe('all')
  expect(shownOf(processesSearch({ id: 'p-1', show: 'ended' }))).toBe('ended')
  expect(processesSearch({ show: 'lost', id: ' ' })).toEqual({})
})
