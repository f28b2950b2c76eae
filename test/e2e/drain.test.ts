import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { chatBody } from '../support/api.ts'
import { type Scene, startScene } from '../support/scene.ts'
import { contentOf, payloadsOf, readerOf } from '../support/stream.ts'

// Processes take their time to start on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let scene: Scene

const DRAIN_MS = 1_500

beforeAll(async () => {
  scene = await startScene({ settings: { drainMs: DRAIN_MS } })
})
afterAll(() => scene.remove())

const LONG = 'sandbox:slow=5 sandbox:long=100 Hello'

/** The head of a request whose body is not sent yet. */
async function halfRequest(): Promise<{ socket: Socket; finish(): Promise<string> }> {
  const { hostname, port } = new URL(scene.gateway.url)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  await once(socket, 'connect')
  const body = JSON.stringify(chatBody())
  socket.write(
    `POST /api/v1/chat HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${scene.key}\r\n` +
      `Agent: openai\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`,
  )
  return {
    socket,
    async finish() {
      socket.write(`\r\n${body}`)
      return (await socket.toArray()).join('')
    },
  }
}

/** How the last calls ended. */
async function lastEnds(count: number): Promise<string[]> {
  const rows = await scene.gateway.query<{ end: string }>(
    "SELECT concat_ws(' ', outcome, reason) AS end FROM calls ORDER BY id",
  )
  return rows.slice(-count).map(({ end }) => end)
}

test('SIGTERM lets what runs end well, takes nothing new, and the process ends with 0', async () => {
  const streamed = await scene.api.chat(scene.key, 'openai', { stream: true, query: LONG })
  const json = scene.api.chat(scene.key, 'fastgpt', { query: LONG })
  await scene.sandbox.agents.fastgpt.seen.waitFor(({ runs }) => runs.length === 1)
  const late = await halfRequest()
  const reader = readerOf(streamed)
  await reader.until(/"content":"1 /)

  const stopped = scene.gateway.stop()
  await scene.gateway.prints(/"msg":"draining"/)
  await expect(fetch(`${scene.gateway.url}/healthz`)).rejects.toThrow('fetch failed')
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

test('what does not end in time is told so, stopped at the platform and settled, and the process ends with 0', async () => {
  await scene.gateway.start()
  const { openai, dify } = scene.sandbox.agents
  const query = 'sandbox:silence Hello'
  const reader = readerOf(await scene.api.chat(scene.key, 'openai', { stream: true, query }))
  await reader.until(/"content":"[^"]/)
  const json = scene.api.chat(scene.key, 'dify', { query, app_id: '' })
  await dify.seen.waitFor(({ runs }) => runs.length === 1)

  expect(await scene.gateway.stop()).toBe(0)
  const payloads = payloadsOf(await reader.rest())
  expect(JSON.parse(payloads.at(-1) ?? '')).toMatchObject({ error: { code: 'draining' } })
  expect(payloads).not.toContain('[DONE]')
  const refused = await json
  expect([refused.status, await refused.json()]).toMatchObject([503, { reason: 'draining' }])
  await openai.seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
  await dify.seen.waitFor(({ runs }) => runs.at(-1)?.state === 'stopped')
  expect(await lastEnds(2)).toEqual(['drained draining', 'drained draining'])
})

test('a second signal insists', async () => {
  await scene.gateway.start()
  const reader = readerOf(
    await scene.api.chat(scene.key, 'openai', { stream: true, query: 'sandbox:silence Hello' }),
  )
  await reader.until(/"content":"[^"]/)
  const stopped = scene.gateway.stop()
  await scene.gateway.prints(/"msg":"draining"/)
  process.kill(scene.gateway.pid, 'SIGTERM')
  expect(await stopped).toBe(1)
})
