import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Trunkline } from '../index.ts'
import { EVENTS, streamOf } from './scripted-gateway.test-support.ts'

/** How many streams of each call were opened, by its key. */
const opened = new Map<string, number>()

/** A gateway that destroys the socket of a new stream after as many bytes as its key says, and that of the next one at once. */
const server = createServer((request, response) => {
  const [, key = `${request.headers['idempotency-key']}`] =
    /^\/api\/v1\/calls\/(.+)\/stream$/.exec(request.url ?? '') ?? []
  const streams = (opened.get(key) ?? 0) + 1
  opened.set(key, streams)
  request.resume().on('end', () => {
    if (streams === 2) return request.socket.destroy()
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-call-id': key })
    const stream = streamOf(EVENTS, { after: Number(request.headers['last-event-id'] ?? 0) })
    if (streams > 2) return response.end(stream)
    response.flushHeaders()
    return response.write(stream.subarray(0, Number(key)), () => request.socket.destroy())
  })
})
let baseURL = ''
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

test('a kept stream goes on wherever its socket is destroyed, and once more', async () => {
  const { chat } = new Trunkline({ baseURL, apiKey: 'tl_key', agent: 'dify' })
  const keys = Array.from({ length: streamOf(EVENTS).length / 9 }, (_, index) => `${index * 9}`)
  const texts = keys.map((idempotencyKey) => chat.stream({ query: 'Hello', idempotencyKey }).text())
  expect(await Promise.all(texts)).toEqual(keys.map(() => 'Hé🎉lo'))
  expect([...opened.values()]).toEqual(keys.map(() => 3))
})
