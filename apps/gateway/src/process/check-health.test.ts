import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { checkHealth } from './check-health.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(listener: RequestListener): Promise<number> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const here = (port: number, opsPort?: number) => ({ host: '0.0.0.0', port, ...(opsPort && { opsPort }) })
const json = (status: number, body: object) =>
  serve((_, response) => response.writeHead(status).end(JSON.stringify(body)))

test('the health check asks the operations port where there is one, for the state that is in question', async () => {
  const asked: unknown[] = []
  const port = await serve(({ url }, response) => {
    asked.push(url)
    response.end(JSON.stringify({ status: url === '/healthz' ? 'ok' : 'ready' }))
  })
  const at = `The gateway at http://127.0.0.1:${port}`
  expect(await checkHealth(here(1, port), 'ready')).toEqual({ isGood: true, line: `${at}/readyz is ready.` })
  expect(await checkHealth(here(1, port), 'live')).toEqual({ isGood: true, line: `${at}/healthz is alive.` })
  expect(asked).toEqual(['/readyz', '/healthz'])
})

test('the health check says what is missing', async () => {
  const port = await json(503, {
    status: 'not_ready',
    dependencies: { database: { ok: false, detail: 'connection refused' }, redis: { ok: true } },
  })
  const line = expect.stringMatching(/\/readyz is not ready: database \(connection refused\)\.$/)
  expect(await checkHealth(here(port), 'ready')).toEqual({ isGood: false, line })
})

test.each([
  ['another program', 200, { hello: 'world' }],
  ['a page that was not found', 404, { status: 'ready' }],
  ['a proxy in front of nothing', 503, {}],
])('the health check takes %s for no gateway', async (_, status, body) => {
  const { isGood, line } = await checkHealth(here(await json(status, body)), 'ready')
  expect([isGood, line]).toEqual([
    false,
    expect.stringContaining(`gave an answer of something else (${status})`),
  ])
})

test('the health check waits only so long', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(
    AbortSignal.abort(new DOMException('late', 'TimeoutError')),
  )
  const port = await serve(() => undefined)
  const line = expect.stringMatching(/does not answer: no answer for 5 s\.$/)
  expect(await checkHealth(here(port), 'ready')).toEqual({ isGood: false, line })
})

test('the health check refuses a port that nobody can know', async () => {
  await expect(checkHealth(here(0), 'ready')).rejects.toThrow('PORT: is 0')
})
