import { createTranslator } from 'use-intl'
import { expect, test } from 'vitest'
import { messages } from '../../messages/en.ts'
import { isShown, turn } from './column.ts'
import { runs } from './runs.ts'
import { humanized, textNamed } from './use-list-texts.ts'

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

test('a field is called by the text that a list has for it, and otherwise as its name says it', () => {
  const texts = (['processes', 'filters', 'calls.call'] as const).map(
    (namespace) => createTranslator({ locale: 'en', messages, namespace }) as never,
  )
  const nameOf = (name: string) => textNamed(name, texts) ?? humanized(name)
  expect(['host', 'user', 'faces.OPENAI', 'traceId'].map(nameOf)).toEqual([
    'Machine',
    'User',
    'OpenAI-compatible',
    'Trace id',
  ])
  // A group of texts, a text for values, and what has none yet.
  expect(['states', 'count', 'lastColour', 'CLIENT_GONE'].map(nameOf)).toEqual([
    'States',
    'Count',
    'Last colour',
    'Client gone',
  ])
})
