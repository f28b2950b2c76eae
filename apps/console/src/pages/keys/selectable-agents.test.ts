import { expect, test } from 'vitest'
import { selectableAgents, toggled } from './selectable-agents.ts'

const DIFY = { id: 'dify', name: 'Dify', apps: [{ appId: 'help', name: 'Help desk' }] }

test('what a key allows stays selectable when the agent is not configured any more', () => {
  const entries = selectableAgents([DIFY], ['dify/help', 'old', 'dify/gone'])
  expect(entries.map(({ entry }) => entry)).toEqual(['dify', 'old', 'dify/gone'])
  expect(entries[0]?.apps).toEqual([{ entry: 'dify/help', name: 'Help desk' }])
})

test('an agent as a whole takes the place of its apps', () => {
  expect(toggled(['dify/help', 'difyx/a'], 'dify')).toEqual(['difyx/a', 'dify'])
  expect(toggled(['dify', 'coze'], 'dify')).toEqual(['coze'])
  expect(toggled([], 'dify/help')).toEqual(['dify/help'])
})
