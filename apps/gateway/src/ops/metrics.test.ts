import { expect, test } from 'vitest'
import type { AgentLoad } from '#core/agents/deployments/load.ts'
import type { Failure } from '#core/agents/events.ts'
import { createMetrics, type Metrics } from './metrics.ts'

/** The agents with their deployments, which a test replaces as the process does when the configuration changes. */
function catalogOf(first: Readonly<Record<string, readonly string[]>>) {
  let served = first
  return {
    replace(next: Readonly<Record<string, readonly string[]>>) {
      served = next
    },
    current: () =>
      new Map(
        Object.entries(served).map(([id, deployments]) => [
          id,
          { deployments: deployments.map((each) => ({ id: each })) },
        ]),
      ),
  }
}

function end(metrics: Metrics, agent: string, deployment: string, failure?: Failure): void {
  const call = { callId: 'c', requestId: 'r', kind: 'chat', face: 'rest', agent } as const
  metrics.call({
    type: 'attempt_ended',
    call,
    attempt: 1,
    deployment,
    end: {
      deployment,
      startMs: 0,
      durationMs: 5,
      outcome: failure === undefined ? 'done' : 'upstream_error',
    },
    turn: 'unknown',
    isComplete: failure === undefined,
    failure,
  })
}

async function attemptsIn(metrics: Metrics): Promise<string[]> {
  const lines = (await metrics.text()).split('\n')
  return lines.filter((line) => line.startsWith('trunkline_attempts_total')).sort()
}

test('attempts are counted by agent, deployment and result', async () => {
  const metrics = createMetrics()
  metrics.watchAgents(catalogOf({ dify: ['eu', 'us'], coze: ['main'] }))
  end(metrics, 'dify', 'eu')
  end(metrics, 'dify', 'eu', { reason: 'agent_unreachable' })
  end(metrics, 'dify', 'eu', { reason: 'agent_unreachable' })
  end(metrics, 'dify', 'us')
  end(metrics, 'coze', 'main')
  expect(await attemptsIn(metrics)).toEqual([
    'trunkline_attempts_total{agent="coze",deployment="main",result="done"} 1',
    'trunkline_attempts_total{agent="dify",deployment="eu",result="agent_unreachable"} 2',
    'trunkline_attempts_total{agent="dify",deployment="eu",result="done"} 1',
    'trunkline_attempts_total{agent="dify",deployment="us",result="done"} 1',
  ])
})

test('deployments that were taken out of the configuration have no series, and their last attempts are of other', async () => {
  const metrics = createMetrics()
  const catalog = catalogOf({ dify: ['eu', 'us'], coze: ['main'] })
  metrics.watchAgents(catalog)
  for (const deployment of ['eu', 'us']) end(metrics, 'dify', deployment)
  end(metrics, 'coze', 'main')
  catalog.replace({ dify: ['us'] })
  end(metrics, 'dify', 'eu')
  end(metrics, 'dify', 'eu')
  end(metrics, 'coze', 'main')
  const served = [
    'trunkline_attempts_total{agent="dify",deployment="other",result="done"} 2',
    'trunkline_attempts_total{agent="dify",deployment="us",result="done"} 1',
  ]
  expect(await attemptsIn(metrics)).toEqual(served)
  catalog.replace({ dify: ['eu', 'us'] })
  expect(await attemptsIn(metrics)).toEqual(served)
})

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
