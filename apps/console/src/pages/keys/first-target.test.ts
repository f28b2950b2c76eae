import { expect, test } from 'vitest'
import { firstTarget } from './first-target.ts'

const FASTGPT = { id: 'fastgpt', requires: ['appId'], apps: [] }
const HIAGENT = { id: 'hiagent', requires: ['conversationId'], apps: [] }
const DIFY = { id: 'dify', requires: [], apps: [{ appId: 'help' }, { appId: 'sales' }] }

test.each([
  ['the agent that needs least', null, { agent: 'dify', app: 'help', conversationId: '' }],
  ['a value where an app is required', ['fastgpt'], { agent: 'fastgpt', app: 'demo', conversationId: '' }],
  [
    'a conversation where one is required',
    ['hiagent'],
    { agent: 'hiagent', app: '', conversationId: 'my-conversation' },
  ],
  ['the app that is allowed', ['dify/sales'], { agent: 'dify', app: 'sales', conversationId: '' }],
  ['nothing without an agent', ['old'], undefined],
])('the example beside a new key has %s', (_, allowed, expected) => {
  expect(firstTarget([FASTGPT, HIAGENT, DIFY], allowed)).toEqual(expected)
})
