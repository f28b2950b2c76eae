import { expect, test } from 'vitest'
import type { AgentLoad } from '#core/agents/deployments/load.ts'
import { createMetrics } from './metrics.ts'

test('breakers, calls in progress and calls that wait are those of the scrape, and what is gone is not shown', async () => {
  const metrics = createMetrics()
  let load: readonly AgentLoad[] = [
    {
      agent: 'dify',
      inFlight: 7,
      waiting: 2,
      deployments: [
        { id: 'eu', breaker: 'open', inFlight: 0 },
        { id: 'us', breaker: 'half_open', inFlight: 1 },
        { id: 'spare', breaker: 'closed', inFlight: 6 },
      ],
    },
  ]
  const samples = async () =>
    (await metrics.text())
      .split('\n')
      .filter((line) => /^trunkline_(breaker_state|agent_calls_)/.test(line))
      .map((line) => line.replace('trunkline_', ''))
  expect(await samples()).toEqual([])
  metrics.watchLoad({ load: () => load })
  expect(await samples()).toEqual([
    'breaker_state{agent="dify",deployment="eu"} 2',
    'breaker_state{agent="dify",deployment="us"} 1',
    'breaker_state{agent="dify",deployment="spare"} 0',
    'agent_calls_in_flight{agent="dify",deployment="eu"} 0',
    'agent_calls_in_flight{agent="dify",deployment="us"} 1',
    'agent_calls_in_flight{agent="dify",deployment="spare"} 6',
    'agent_calls_waiting{agent="dify"} 2',
  ])
  load = []
  expect(await samples()).toEqual([])
})
