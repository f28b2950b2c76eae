import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Principal } from '#core/requests/principal.ts'
import { installProblems } from '../response/problem.ts'
import { limitBodyTime } from './body-time.ts'

const CALLER: Principal = {
  userId: 'u',
  role: 'user',
  via: { kind: 'token', tokenId: 't', expiresAt: new Date(0) },
}

let app: FastifyInstance
let port: number

beforeEach(async () => {
  app = Fastify()
  limitBodyTime(app, {
    smallWithinMs: 120,
    largeWithinMs: 60_000,
    newId: () => 'an-id',
    refused: () => undefined,
  })
  installProblems(app)
  app.post('/short', async () => 'served')
  app.post(
    '/known',
    { onRequest: async (request) => Object.assign(request, { principal: CALLER }) },
    async () => 'served',
  )
  app.post('/long', { config: { limitsBodyTime: false } }, async () => 'served')
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterEach(() => app.close())

/** Sends the head and the first byte of a body, and returns everything that the server answers until it closes. */
async function sendSlowly(path: string, length = 'content-length: 10'): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${length}\r\n\r\n1`)
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

test.each([
  ['on a route with limits of its own', '/long', 'content-length: 10'],
  ['that is large, of a known caller', '/known', 'content-length: 16001'],
  ['of no announced length, of a known caller', '/known', 'transfer-encoding: chunked'],
])('a body %s may take longer', async (_what, path, length) => {
  const slow = sendSlowly(path, length)
  await expect(sendSlowly('/short')).resolves.toContain('too long')
  const first = await Promise.race([slow, 'still open'])
  expect(first).toBe('still open')
  app.server.closeAllConnections()
  await slow
})

test.each([
  ['a small one of a known caller', '/known', 'content-length: 16000'],
  ['a large one of nobody', '/short', 'content-length: 16001'],
])('no other body may: %s', async (_what, path, length) => {
  expect(await sendSlowly(path, length)).toContain('The request took too long to arrive.')
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
