import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { installProblems } from '../response/problem.ts'
import { limitBodyTime } from './body-time.ts'

let app: FastifyInstance
let port: number

beforeEach(async () => {
  app = Fastify()
  limitBodyTime(app, { withinMs: 120, newId: () => 'an-id', refused: () => undefined })
  installProblems(app)
  app.post('/short', async () => 'served')
  app.post('/long', { config: { limitsBodyTime: false } }, async () => 'served')
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterEach(() => app.close())

/** Sends the head and the first byte of a body of ten, and returns everything that the server answers until it closes. */
async function sendSlowly(path: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n1`,
  )
  await once(socket, 'close')
  return text
}

test('a body that arrives too slowly is answered with an error, and the connection closes', async () => {
  expect(await sendSlowly('/short')).toMatch(/^HTTP\/1\.1 400 (?:.|\s)*The request took too long to arrive\./)
})

test('the rest of a request that was refused is discarded for no longer than that', async () => {
  const text = await sendSlowly('/unknown')
  expect(text).toMatch(/^HTTP\/1\.1 404 /)
  // The connection is closed without a second response.
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

test('a route with limits of its own may take longer', async () => {
  const slow = sendSlowly('/long')
  await expect(sendSlowly('/short')).resolves.toContain('too long')
  const first = await Promise.race([slow, 'still open'])
  expect(first).toBe('still open')
  app.server.closeAllConnections()
  await slow
})

test('a body that arrives in time is served, and its connection stays open', async () => {
  const send = () =>
    fetch(`http://127.0.0.1:${port}/short`, {
      method: 'POST',
      body: '1',
      headers: { 'content-type': 'application/json' },
    })
  expect((await send()).status).toBe(200)
  expect((await send()).status).toBe(200)
})
