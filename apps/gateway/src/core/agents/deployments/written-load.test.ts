import { expect, test } from 'vitest'
import type { AgentLoad } from './load.ts'
import { readLoad, writeLoad } from './written-load.ts'

const resting = (agent: string): AgentLoad => ({
  agent,
  inFlight: 0,
  waiting: 0,
  deployments: [{ id: 'main', breaker: 'closed', inFlight: 0 }],
})
const down: AgentLoad = {
  agent: 'dify',
  inFlight: 3,
  waiting: 2,
  deployments: [
    { id: 'eu', breaker: 'open', inFlight: 0, openSince: 1_700_000_000_000, reason: 'agent_timeout' },
    { id: 'us', breaker: 'half_open', servesOthers: true, inFlight: 3 },
  ],
}

test('what is written is read again, and what rests is written as its id alone', () => {
  const agents = [down, resting('coze')]
  const written = writeLoad(agents)
  expect(readLoad(JSON.parse(written))).toEqual(agents)
  expect(writeLoad([resting('coze')])).toBe('[{"agent":"coze","deployments":[{"id":"main"}]}]')
})

test('the text is bounded, and an agent with something to tell is in it, however many others rest', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => resting(`agent-${index}`))
  const written = writeLoad([...many, down])
  expect(written.length).toBeLessThanOrEqual(32_768)
  const read = readLoad(JSON.parse(written))
  expect(read.length).toBeGreaterThan(300)
  expect(read[0]).toEqual(down)
})

test('a reason that is not a word is not written, because jsonb refuses some texts and the heartbeat would fail', () => {
  const [eu] = down.deployments
  const odd = {
    ...down,
    deployments: [
      { ...eu, reason: 'a\0b' },
      { ...eu, reason: 'x'.repeat(1_000) },
    ],
  }
  expect(writeLoad([odd as AgentLoad])).not.toMatch(/reason/)
})

test('what another version has written never fails, and what is not understood is left out', () => {
  for (const written of [null, undefined, 7, 'text', {}, [null, 7, [], { agent: 7 }]]) {
    expect(readLoad(written)).toEqual([])
  }
  const odd = { agent: 'a', inFlight: -1, waiting: '7', deployments: [null, { id: 7 }] }
  expect(readLoad([odd])).toEqual([{ agent: 'a', inFlight: 0, waiting: 0, deployments: [] }])
  const deployments = [
    { id: 'x', breaker: 'melted' },
    { id: 'y', breaker: 'open', openSince: 'yesterday', reason: 7, later: true },
  ]
  expect(readLoad([{ agent: 'a', deployments }])[0]?.deployments).toEqual([
    { id: 'y', breaker: 'open', inFlight: 0 },
  ])
})
