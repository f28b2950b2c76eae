import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { abortedWith } from './aborted-with.ts'

let app: FastifyInstance
afterEach(() => app.close())

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Starts a server whose hook runs before the signal is made, and connects a client. */
async function connectTo(hook: Hook) {
  const made = Promise.withResolvers<AbortSignal>()
  app = Fastify()
  app.get('/', { onRequest: hook }, async (_request, reply) => {
    made.resolve(abortedWith(reply))
    return 'x'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(client, 'connect')
  client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  return { client, signal: made.promise }
}

test('a client that leaves before the signal is made aborts it', async () => {
  const arrived = Promise.withResolvers<void>()
  const { client, signal } = await connectTo(async (_request, reply) => {
    const left = once(reply.raw, 'close')
    arrived.resolve()
    await left
  })
  await arrived.promise
  client.destroy()
  expect((await signal).aborted).toBe(true)
})

test('a response that is complete does not abort it', async () => {
  const { client, signal } = await connectTo(async () => {})
  client.resume()
  await once(client, 'close')
  expect((await signal).aborted).toBe(false)
})
