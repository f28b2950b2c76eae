import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { halfRequest } from '../support/half-request.ts'
import { contentOf, readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because signals begin a stop, and closed sockets and its exit show how it goes on.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let system: GatewayWithSandbox
let opsUrl: string

const LONG = 'sandbox:slow=5 sandbox:long=100 Hello'

beforeAll(async () => {
  const opsPort = await freePort()
  opsUrl = `http://127.0.0.1:${opsPort}`
  system = await startGatewayWithSandbox({
    settings: { drain: { acceptMs: 4_000, timeoutMs: 20_000 } },
    env: { OPS_PORT: String(opsPort) },
  })
})
afterAll(() => system.remove())

const chat = (more: object = {}) => system.api.chat(system.key, 'openai', { query: 'Hello', ...more })

async function readiness(): Promise<[number, string]> {
  const response = await fetch(`${opsUrl}/readyz`)
  return [response.status, ((await response.json()) as { status: string }).status]
}

test('after SIGTERM the process is not ready at once, still serves whoever comes, and then closes what is idle', async () => {
  const running = chat({ query: LONG })
  await system.sandbox.agents.openai.seen.waitFor(({ runs }) => runs.length === 1)
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  const idle = request(`${system.gateway.url}/healthz`, { agent: kept }).end()
  const [answer] = await once(idle, 'response')
  answer.resume()
  await once(answer, 'end')
  const unused = await halfRequest(system.gateway.url, system.key, { isSilent: true })

  process.kill(system.gateway.pid, 'SIGTERM')
  // The same signal again, for the exit code.
  const stopped = system.gateway.stop()
  await system.gateway.prints(/"msg":"stopping"/)
  expect(await readiness()).toEqual([503, 'draining'])
  const streamed = await chat({ stream: true, query: LONG })
  const json = await chat()
  for (const accepted of [streamed, json, await running]) {
    expect([accepted.status, accepted.headers.get('connection')]).toEqual([200, 'close'])
  }
  expect(contentOf(await readerOf(streamed).rest())).toMatch(/^1 .*100 /s)
  expect(system.gateway.output).not.toContain('"msg":"draining"')
  expect(idle.socket?.destroyed).toBe(false)

  await system.gateway.prints(/"msg":"draining"/)
  await until('the idle connection is closed', () => idle.socket?.destroyed)
  await expect(fetch(`${system.gateway.url}/healthz`)).rejects.toThrow('fetch failed')
  // A client that had connected in time is served, although the listener is closed.
  expect(await unused.finish()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*^connection: close\r$/ims)
  expect(await stopped).toBe(0)
})

test('a second signal ends a process that still accepts calls', async () => {
  await system.gateway.start()
  const stopped = system.gateway.stop()
  await system.gateway.prints(/"msg":"stopping"/)
  const { pid } = system.gateway
  let hasEnded = false
  stopped.then(() => {
    hasEnded = true
  })
  await until('the process has ended', () => hasEnded || (process.kill(pid, 'SIGTERM') && hasEnded))
  expect(await stopped).toBe(1)
  expect(system.gateway.output.match(/"msg":"draining"/g)).toHaveLength(1)
})
