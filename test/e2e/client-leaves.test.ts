import type { Seen, SeenRun } from '@trunkline/sandbox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { readerOf } from '../support/stream.ts'

// A process, because a client leaves by closing its socket, and the platform must see its run stopped by another one.

let system: GatewayWithSandbox
let calls = 0

beforeAll(async () => {
  system = await startGatewayWithSandbox()
})
afterAll(() => system.remove())

/** Each platform, and whether it has a call that stops a run. */
const PLATFORMS = [
  ['fastgpt', true],
  ['openai', false],
  ['dify', true],
  ['coze', true],
  ['hiagent', true],
] as const

type Platform = (typeof PLATFORMS)[number][0]

function start(agent: Platform, stream: boolean) {
  calls += 1
  const id = `conversation-${calls}`
  const leave = new AbortController()
  const more = { stream, query: 'sandbox:slow=20 sandbox:long Hello', chat_id: id, conversation_id: id }
  const appId = agent === 'fastgpt' ? 'app-1' : ''
  const response = system.api.chat(system.key, agent, { ...more, app_id: appId }, { signal: leave.signal })
  return { leave, response }
}

const newestRun = ({ runs }: Seen): SeenRun | undefined => runs.at(-1)

test.each(PLATFORMS)(
  '%s: when a client closes its stream, the run is stopped before its end',
  async (agent, hasStopCall) => {
    const { seen } = system.sandbox.agents[agent]
    const { leave, response } = start(agent, true)
    await readerOf(await response).until(/"content":"[^"]/)
    leave.abort()
    const run = await seen.waitFor((now) => newestRun(now)?.state !== 'running' && newestRun(now))
    // At its own end it would be complete.
    expect(['stopped', 'aborted']).toContain(run.state)
    if (hasStopCall) await seen.waitFor(({ stops }) => stops.length > 0)
  },
)

test.each(PLATFORMS)(
  '%s: when a client disconnects before its JSON reply, the run is stopped as well',
  async (agent) => {
    const { seen } = system.sandbox.agents[agent]
    const before = seen.runs.length
    const { leave, response } = start(agent, false)
    const gone = expect(response).rejects.toThrow('aborted')
    await seen.waitFor(({ runs }) => runs.length > before)
    leave.abort()
    await gone
    const run = await seen.waitFor((now) => newestRun(now)?.state !== 'running' && newestRun(now))
    expect(['stopped', 'aborted']).toContain(run.state)
  },
)

test('when a client disconnects before the first byte of the reply, the run is stopped as well', async () => {
  const { seen } = system.sandbox.agents.openai
  const leave = new AbortController()
  const more = { stream: true, query: 'sandbox:hang Hello' }
  const response = system.api.chat(system.key, 'openai', more, { signal: leave.signal })
  const gone = expect(response).rejects.toThrow('aborted')
  const run = await seen.waitFor((now) => newestRun(now)?.state === 'running' && newestRun(now))
  leave.abort()
  await gone
  await seen.waitFor(() => run.state === 'aborted')
  calls += 1
})

test('each call whose client left was counted once and settled as client_gone, and nothing remains in flight', async () => {
  const metrics = await system.api.call('GET', '/metrics')
  expect(metrics.body).toMatch(/^trunkline_calls_in_flight 0$/m)
  expect(metrics.body).toContain(
    `trunkline_http_requests_total{route="/api/v1/chat",method="POST",status="499"} ${calls}\n`,
  )
  await system.gateway.stop()
  expect(system.gateway.output.match(/"route":"\/api\/v1\/chat","status":499/g)).toHaveLength(calls)
  const rows = await system.gateway.query<{ outcome: string; reason: string | null }>(
    'SELECT outcome, reason FROM calls',
  )
  expect(rows).toEqual(Array(calls).fill({ outcome: 'client_gone', reason: null }))
  const [key] = await system.gateway.query<{ total_calls: number }>('SELECT total_calls FROM api_keys')
  expect(key?.total_calls).toBe(calls)
})
