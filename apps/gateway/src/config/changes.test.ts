import { expect, test } from 'vitest'
import { agentText, fixedChanges, liveChanges } from './changes.ts'
import { describeConfig } from './describe-config.ts'
import { parseConfig } from './load.ts'

const dify = { platform: 'dify', baseUrl: 'https://dify.example/v1', apiKey: 'one' }
const configOf = (more: object = {}, agents: object = { dify }) => parseConfig({ agents, ...more }, {})
const before = configOf()

test.each([
  ['nothing', configOf(), []],
  ['an agent that is added', configOf({}, { dify, other: dify }), ['agents.other']],
  ['an agent that is removed', configOf({}, { other: dify }), ['agents.dify', 'agents.other']],
  ['the key of an agent', configOf({}, { dify: { ...dify, apiKey: 'two' } }), ['agents.dify']],
  ['a limit', configOf({ limits: { chat: { points: 7 } } }), ['limits.chat.points']],
  ['a limit that there was not', configOf({ limits: { streamsPerKey: 7 } }), ['limits.streamsPerKey']],
  ['what needs a restart', configOf({ uploads: { maxBytes: 7 } }), []],
])('%s changes what is served', (_name, after, changed) => {
  expect(liveChanges(describeConfig(before, 'secret'), describeConfig(after, 'secret'))).toEqual(changed)
})

test('all other settings need a restart, and each is named', () => {
  const after = configOf({
    uploads: { maxBytes: 7 },
    cors: { origins: ['https://a.example'] },
    trustedProxies: ['10.0.0.0/8'],
    graphql: { introspection: false },
    limits: { chat: { points: 7 } },
  })
  expect(fixedChanges(before, after)).toEqual([
    'uploads.maxBytes',
    'cors.origins',
    'trustedProxies',
    'graphql.introspection',
  ])
})

test('the text of an agent has its settings, and nothing that is worked out of them', () => {
  const textOf = (context: string) => {
    const entry = { platform: 'a2a', baseUrl: 'https://a2a.example', context }
    const [agent] = configOf({}, { agent: entry }).agents
    if (agent === undefined) throw new Error('there is no agent')
    return agentText(agent)
  }
  // A setting of a platform that has the name of such a fact.
  expect(textOf('lenient')).not.toBe(textOf('strict'))
  expect(textOf('strict')).not.toMatch(/"(?:apiUrl|requires|takesAnyApp)"/)
})
