import { describe, expect, test } from 'vitest'
import type { AgentLoad } from '#core/agents/deployments/load.ts'
import type { Failure } from '#core/agents/events.ts'
import type { CallEvent } from '#core/calls/call-events.ts'
import { followCalls } from '#core/calls/settle-calls.ts'
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

const observe = (metrics: Metrics, event: CallEvent) => followCalls(metrics.callFollowers)(event)

function end(metrics: Metrics, agent: string, deployment: string, failure?: Failure): void {
  const call = { callId: 'c', requestId: 'r', kind: 'chat', face: 'rest', agent } as const
  observe(metrics, {
    type: 'attempt_ended',
    call,
    attempt: 1,
    deployment,
    platform: 'dify',
    end: {
      deployment,
      startMs: 0,
      durationMs: 5,
      outcome: failure === undefined ? 'done' : 'upstream_error',
    },
    turn: 'unknown',
    isComplete: failure === undefined,
    failure,
    exchange: undefined,
  })
}

const attemptsIn = (metrics: Metrics) => samplesOf(metrics, /^trunkline_attempts_total.* [1-9]/)

/** The samples whose names match, in the order of their text. */
async function samplesOf(metrics: Metrics, names: RegExp): Promise<string[]> {
  const lines = (await metrics.text()).split('\n')
  return lines.filter((line) => names.test(line)).sort()
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

test('refused credentials are shown as 0 of every deployment, so that an alert sees the first', async () => {
  const metrics = createMetrics()
  const catalog = catalogOf({ dify: ['eu'] })
  metrics.watchAgents(catalog)
  const refused = () => samplesOf(metrics, /^trunkline_attempts_total.*agent_credentials/)
  expect(await refused()).toEqual([
    'trunkline_attempts_total{agent="dify",deployment="eu",result="agent_credentials"} 0',
  ])
  catalog.replace({ dify: ['us'] })
  end(metrics, 'dify', 'us', { reason: 'agent_credentials' })
  expect(await refused()).toEqual([
    'trunkline_attempts_total{agent="dify",deployment="us",result="agent_credentials"} 1',
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

const CALL = { callId: 'c', requestId: 'r', kind: 'chat', face: 'rest', agent: 'dify' } as const

test("the gateway's own share and the wait for a slot are those of the first attempt", async () => {
  const metrics = createMetrics()
  const started = {
    type: 'attempt_started',
    call: CALL,
    deployment: 'main',
    platform: 'dify',
    conversation: undefined,
  } as const
  observe(metrics, { ...started, attempt: 1, ownMs: 4, queuedMs: 1_500 })
  observe(metrics, { ...started, attempt: 2, ownMs: undefined, queuedMs: 1_500 })
  observe(metrics, { ...started, attempt: 1, ownMs: undefined, queuedMs: undefined })
  expect(await samplesOf(metrics, /^trunkline_call_(own|wait)_seconds_(sum|count)/)).toEqual([
    'trunkline_call_own_seconds_count{agent="dify"} 1',
    'trunkline_call_own_seconds_sum{agent="dify"} 0.004',
    'trunkline_call_wait_seconds_count{agent="dify"} 1',
    'trunkline_call_wait_seconds_sum{agent="dify"} 1.5',
  ])
})

test('the tokens of a call add up to its total, whatever the platform splits it into', async () => {
  const metrics = createMetrics()
  const usages = [
    { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
    { promptTokens: 0, completionTokens: 0, totalTokens: 7 },
    // A platform that counts wrongly must not make a counter go back.
    { promptTokens: 2, completionTokens: 2, totalTokens: 0 },
  ]
  for (const usage of usages)
    observe(metrics, { type: 'settled', call: CALL, settled: { outcome: 'done', durationMs: 1, usage } })
  expect(await samplesOf(metrics, /^trunkline_tokens_total/)).toEqual([
    'trunkline_tokens_total{agent="dify",kind="input"} 12',
    'trunkline_tokens_total{agent="dify",kind="other"} 7',
    'trunkline_tokens_total{agent="dify",kind="output"} 7',
  ])
})

describe('what the conventions for generative AI measure', () => {
  const exchange = {
    requestedModel: 'gpt-4o',
    model: 'gpt-4o',
    durationMs: 1_500,
    firstTextMs: 250,
    finishReason: undefined,
    usage: { promptTokens: 12, completionTokens: 3, totalTokens: 15 },
  }
  const attempt = {
    type: 'attempt_ended',
    call: CALL,
    attempt: 1,
    deployment: 'main',
    platform: 'openai',
    end: { deployment: 'main', startMs: 0, durationMs: 1_500, outcome: 'done' },
    turn: 'stored',
    isComplete: true,
    failure: undefined,
  } as const
  const labels =
    'gen_ai_operation_name="invoke_agent",gen_ai_provider_name="openai",gen_ai_request_model="gpt-4o",gen_ai_response_model="gpt-4o"'

  test('is measured of each request', async () => {
    const metrics = createMetrics()
    observe(metrics, { ...attempt, exchange })
    expect(await samplesOf(metrics, /^gen_ai_client_.*_(sum|count)/)).toEqual([
      `gen_ai_client_operation_duration_seconds_count{${labels},error_type=""} 1`,
      `gen_ai_client_operation_duration_seconds_sum{${labels},error_type=""} 1.5`,
      `gen_ai_client_operation_time_to_first_chunk_seconds_count{${labels}} 1`,
      `gen_ai_client_operation_time_to_first_chunk_seconds_sum{${labels}} 0.25`,
      `gen_ai_client_token_usage_count{${labels},gen_ai_token_type="input"} 1`,
      `gen_ai_client_token_usage_count{${labels},gen_ai_token_type="output"} 1`,
      `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 12`,
      `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="output"} 3`,
    ])
  })

  test('has the buckets of the conventions', async () => {
    const metrics = createMetrics()
    observe(metrics, { ...attempt, exchange })
    const boundsOf = async (name: string) =>
      (await metrics.text())
        .split('\n')
        .filter((line) => line.startsWith(name) && !line.includes('"output"'))
        .map((line) => /le="([^"]+)"/.exec(line)?.[1])
    const seconds = [
      '0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92 +Inf',
      '1 4 16 64 256 1024 4096 16384 65536 262144 1048576 4194304 16777216 67108864 +Inf',
    ].map((bounds) => bounds.split(' '))
    expect(await boundsOf('gen_ai_client_operation_duration_seconds_bucket')).toEqual(seconds[0])
    expect(await boundsOf('gen_ai_client_operation_time_to_first_chunk_seconds_bucket')).toEqual(seconds[0])
    expect(await boundsOf('gen_ai_client_token_usage_bucket')).toEqual(seconds[1])
  })

  test('counts the words for an end that are not known, each by itself as long as there are few', async () => {
    const metrics = createMetrics()
    const ended = (unknownFinishWord: string) =>
      observe(metrics, { ...attempt, exchange: { ...exchange, unknownFinishWord } })
    for (let each = 0; each < 60; each += 1) ended(`word${each}`)
    ended('word3')
    const samples = await samplesOf(metrics, /^trunkline_unknown_finish_reasons_total/)
    expect(samples).toHaveLength(51)
    expect(samples).toContainEqual(expect.stringMatching(/word="word3"} 2$/))
    expect(samples).toContainEqual(expect.stringMatching(/word="other"} 10$/))
  })

  test('names no model but those of the configuration, whatever platforms report', async () => {
    const metrics = createMetrics()
    for (let each = 0; each < 50; each += 1)
      observe(metrics, { ...attempt, exchange: { ...exchange, model: `model-${each}` } })
    observe(metrics, { ...attempt, exchange: { ...exchange, requestedModel: undefined, model: undefined } })
    const samples = await samplesOf(metrics, /^gen_ai_client_operation_duration_seconds_count/)
    expect(samples.map((line) => /gen_ai_request_model.* /.exec(line)?.[0])).toEqual([
      'gen_ai_request_model="",gen_ai_response_model="",error_type=""} ',
      'gen_ai_request_model="gpt-4o",gen_ai_response_model="other",error_type=""} ',
    ])
  })

  test('is not measured of a request that was never sent', async () => {
    const metrics = createMetrics()
    observe(metrics, { ...attempt, exchange: undefined })
    expect(await samplesOf(metrics, /^gen_ai_client/)).toEqual([])
  })
})

test('the backlog of the ledger, the pool and Redis are shown', async () => {
  const metrics = createMetrics()
  expect(await samplesOf(metrics, /^trunkline_database_/)).toEqual([])
  metrics.watchSettlements({ backlog: () => ({ waiting: 3, oldestMs: 2_500 }) })
  const states = [
    { lane: 'logins', inUse: 2, waiting: 1, refused: 7 },
    { lane: 'reports', inUse: 1, waiting: 0, refused: 0 },
  ]
  metrics.watchLanes({ max: 14, states: () => states })
  metrics.limitStoreAnswered(3)
  metrics.limitStoreFailed()
  const shown = /^trunkline_(settlements|oldest|database_|limit_store_(errors|command_duration_seconds_sum))/
  expect(await samplesOf(metrics, shown)).toEqual([
    'trunkline_database_connections_max 14',
    'trunkline_database_connections{lane="logins"} 2',
    'trunkline_database_connections{lane="reports"} 1',
    'trunkline_database_requests_refused_total{lane="logins"} 7',
    'trunkline_database_requests_refused_total{lane="reports"} 0',
    'trunkline_database_requests_waiting{lane="logins"} 1',
    'trunkline_database_requests_waiting{lane="reports"} 0',
    'trunkline_limit_store_command_duration_seconds_sum 0.003',
    'trunkline_limit_store_errors_total 1',
    'trunkline_oldest_unsettled_call_seconds 2.5',
    'trunkline_settlements_waiting 3',
  ])
})
