import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OpenResponses } from './open-responses.ts'

let server: Server
let client: Socket
let received: string

beforeEach(async () => {
  // The connections must not end because of it.
  server = createServer({ keepAliveTimeout: 600_000 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  client = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  received = ''
  client.on('data', (text) => {
    received += text
  })
})
afterEach(async () => {
  client.destroy()
  server.closeAllConnections()
  if (server.listening) await once(server.close(), 'close')
})

async function ask(): Promise<ServerResponse> {
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const [, response] = await once(server, 'request')
  return response
}

test('a response that has not begun, and every later one, says that its connection ends', async () => {
  const first = await ask()
  new OpenResponses(server, [first])
  first.end('a')
  await once(client, 'end')
  expect(received).toMatch(/^connection: close\r$/im)
})

test('a response that had begun keeps its promise while the server listens', async () => {
  const begun = await ask()
  begun.write('a')
  new OpenResponses(server, [begun])
  begun.end('b')
  const next = await ask()
  next.end('c')
  await once(client, 'end')
  expect(received.match(/^connection: .*$/gim)).toEqual(['Connection: keep-alive', 'connection: close'])
})

test('a response that had begun ends with its connection if the server has closed meanwhile', async () => {
  const begun = await ask()
  begun.write('a')
  new OpenResponses(server, [begun])
  const closed = once(server.close(), 'close')
  begun.end('b')
  await closed
  expect(received).toMatch(/\r\n0\r\n\r\n$/)
})

test('the wait for open responses is over when the last one has ended, however that was', async () => {
  const open = await ask()
  const responses = new OpenResponses(server, [open])
  let isOver = false
  const ended = responses.ended().then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  open.destroy()
  await ended
  await responses.ended()
})
