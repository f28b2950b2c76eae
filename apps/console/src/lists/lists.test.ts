import { expect, test } from 'vitest'
import { isShown, turn } from './column.ts'
import { runs } from './runs.ts'

test('only rows that follow each other are one run', () => {
  const halves = [1.2, 1.4, 2.1, 1.3]
  expect(runs(halves, Math.floor)).toEqual([[1.2, 1.4], [2.1], [1.3]])
  expect(runs([], Math.floor)).toEqual([])
})

test('a column is turned off, and an extra one on, until it is turned again', () => {
  const columns = Object.entries({
    name: {},
    agent: {},
    model: { isExtra: true },
    stop: { kind: 'actions' as const },
  })
  const shown = (turned: string) =>
    columns.filter((column, place) => isShown(column, place, turned)).map(([name]) => name)
  expect(shown('')).toEqual(['name', 'agent', 'stop'])
  const turned = turn('model', turn('agent', ''))
  expect(shown(turned)).toEqual(['name', 'model', 'stop'])
  // What was remembered of other columns does no harm.
  expect(shown('name stop gone')).toEqual(shown(''))
  expect(turn('agent', turn('model', turned))).toBe('')
})
