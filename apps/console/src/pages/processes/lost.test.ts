import { expect, test } from 'vitest'
import { lostWithinDay, nameOf } from './lost.ts'

const NOW = new Date('2026-11-22T10:00:00Z')

function seen(
  pid: number,
  state: 'LIVE' | 'LOST' | 'STOPPED',
  started: string,
  last: string,
  more: object = {},
) {
  const [startedAt, lastSeenAt] = [`2026-11-${started}:00Z`, `2026-11-${last}:00Z`]
  return { id: `p-${pid}`, host: 'one', pid, port: 80, state, startedAt, lastSeenAt, ...more }
}

test('a lost process was replaced by the one that started first at its place after its last sign', () => {
  const processes = [
    seen(5, 'LIVE', '22T09:00', '22T10:00'),
    seen(4, 'LIVE', '22T08:02', '22T10:00', { port: 81 }),
    seen(3, 'LOST', '22T08:01', '22T08:59'),
    seen(2, 'LOST', '21T00:00', '22T08:00'),
    seen(1, 'LOST', '20T00:00', '21T09:00'),
    seen(0, 'STOPPED', '20T00:00', '22T08:00'),
  ]
  const pids = lostWithinDay(processes, NOW).map(({ process, replacement }) => [
    process.pid,
    replacement?.pid,
  ])
  expect(pids).toEqual([
    [3, 5],
    [2, 3],
  ])
})

test('of processes that were lost together each has a replacement of its own, or none', () => {
  const lost = ['22T08:00', '22T08:01', '22T08:02'].map((at, pid) => seen(pid, 'LOST', '21T00:00', at))
  const later = [seen(8, 'LIVE', '22T08:10', '22T10:00'), seen(9, 'LIVE', '22T08:20', '22T10:00')]
  const elsewhere = seen(7, 'LIVE', '22T08:05', '22T10:00', { host: 'two' })
  const found = lostWithinDay([...later, elsewhere, ...lost], NOW)
  expect(found.map(({ process, replacement }) => [process.pid, replacement?.pid])).toEqual([
    [2, undefined],
    [1, 9],
    [0, 8],
  ])
})

test('a process is named by its machine, its port and its process id, an older one that told neither by its id', () => {
  const process = { id: 'p-1', host: 'one', port: 80, pid: 7 }
  expect(nameOf(process)).toBe('one:80, pid 7')
  const older = { ...process, port: null, pid: null }
  expect([nameOf(older), nameOf({ ...older, host: null })]).toEqual(['one', 'p-1'])
})
