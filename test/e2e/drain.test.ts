import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { halfRequest } from '../support/half-request.ts'
import { contentOf, payloadsOf, readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because a drain begins with a signal and ends with an exit code.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let system: GatewayWithSandbox

/** Nothing waits so long: what has ended is not waited for. */
const PLENTY_MS = 100_000

beforeAll(async () => {
  system = await startGatewayWithSandbox({ settings: { drain: { timeoutMs: PLENTY_MS } } })
})
afterAll(() => system.remove())

const LONG = 'sandbox:slow=5 sandbox:long=100 Hello'

/** Starts the gateway again, whose calls may run so long after the signal. */
async function restart(timeoutMs = PLENTY_MS): Promise<void> {
  const { gateway } = system
  await gateway.stop()
  const config = JSON.parse(await readFile(gateway.configFile, 'utf8'))
  await writeFile(gateway.configFile, JSON.stringify({ ...config, drain: { timeoutMs } }))
  await gateway.start()
}

/** Returns how the last calls ended. */
async function lastEnds(count: number): Promise<string[]> {
  const rows = await system.gateway.query<{ end: string }>(
    "SELECT concat_ws(' ', outcome, reason) AS end FROM calls ORDER BY id",
  )
  return rows.slice(-count).map(({ end }) => end)
}

test('after SIGTERM running calls complete, new ones are rejected, and the process exits with 0', async () => {
  const streamed = await system.api.chat(system.key, 'openai', { stream: true, query: LONG })
  const json = system.api.chat(system.key, 'fastgpt', { query: LONG })
  await system.sandbox.agents.fastgpt.seen.waitFor(({ runs }) => runs.length === 1)
  const late = await halfRequest(system.gateway.url, system.key)
  const reader = readerOf(streamed)
  await reader.until(/"content":"1 /)

  const stopped = system.gateway.stop()
  await system.gateway.prints(/"msg":"draining"/)
  await expect(fetch(`${system.gateway.url}/healthz`)).rejects.toThrow('fetch failed')
  const refusal = await late.finish()
  expect(refusal).toMatch(/^HTTP\/1\.1 503 /)
  expect(refusal).toMatch(/^retry-after: 1\r$/im)
  expect(refusal).toMatch(/^connection: close\r$/im)
  expect(refusal).toContain('"reason":"draining"')

  const stream = await reader.rest()
  expect(contentOf(stream)).toMatch(/^1 .*100 /s)
  expect(stream).toMatch(/data: \[DONE\]\n\n$/)
  const reply = await json
  expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('100 ')])
  expect(await stopped).toBe(0)
  expect(await lastEnds(2)).toEqual(['done', 'done'])
})

test('calls that outlast the drain get an error, are stopped at the platform and settled, and the process exits with 0', async () => {
  await restart(1_000)
  const { openai, dify } = system.sandbox.agents
  const query = 'sandbox:silence Hello'
  const reader = readerOf(await system.api.chat(system.key, 'openai', { stream: true, query }))
  await reader.until(/"content":"[^"]/)
  const json = system.api.chat(system.key, 'dify', { query, app_id: '' })
  await dify.seen.waitFor(({ runs }) => runs.length === 1)

  expect(await system.gateway.stop()).toBe(0)
  const payloads = payloadsOf(await reader.rest())
  expect(JSON.parse(payloads.at(-1) ?? '')).toMatchObject({ error: { code: 'draining' } })
  expect(payloads).not.toContain('[DONE]')
  const refused = await json
  expect([refused.status, await refused.json()]).toMatchObject([503, { reason: 'draining' }])
  await openai.seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
  await dify.seen.waitFor(({ runs }) => runs.at(-1)?.state === 'stopped')
  expect(await lastEnds(2)).toEqual(['drained draining', 'drained draining'])
})

test('whoever had connected before the signal is served, although the process had not accepted the connection yet', async () => {
  await restart()
  const { pid, url } = system.gateway
  const { hostname, port } = new URL(url)
  process.kill(pid, 'SIGSTOP')
  const sockets = Array.from({ length: 10 }, () => connect(Number(port), hostname).setEncoding('utf8'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const answers = sockets.map(async (socket) => {
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
    return (await socket.toArray()).join('').slice(0, 12)
  })
  const stopped = system.gateway.stop()
  process.kill(pid, 'SIGCONT')
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200']))
  expect(await stopped).toBe(0)
})

test('the same signal twice at once, from a terminal and from a launcher, counts as one', async () => {
  await restart()
  const { pid } = system.gateway
  const stopped = system.gateway.stop()
  process.kill(pid, 'SIGTERM')
  expect(await stopped).toBe(0)
})

test('a second signal ends a process that drains immediately', async () => {
  await restart()
  const reader = readerOf(
    await system.api.chat(system.key, 'openai', { stream: true, query: 'sandbox:silence Hello' }),
  )
  await reader.until(/"content":"[^"]/)
  const stopped = system.gateway.stop()
  await system.gateway.prints(/"msg":"draining"/)
  const { pid } = system.gateway
  let hasEnded = false
  stopped.then(() => {
    hasEnded = true
  })
  await until('the process has ended', () => hasEnded || (process.kill(pid, 'SIGTERM') && hasEnded))
  expect(await stopped).toBe(1)
})
