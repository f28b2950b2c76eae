import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cutStalledClients } from './stalled-clients.ts'

const STALLED_MS = 1_600
/** More than the kernel buffers for one connection. */
const BODY = Buffer.alloc(40 * 1024 * 1024, 'x')

let server: Server
let clients: Socket[]

beforeEach(async () => {
  clients = []
  server = createServer((_request, response) => response.end(BODY))
  cutStalledClients(server, STALLED_MS)
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(async () => {
  for (const client of clients) client.destroy()
  server.close()
  await once(server, 'close')
})

/** A client that reads only when the test says so, and the server's side of it. */
async function ask(): Promise<{ client: Socket; closed: Promise<number> }> {
  const asked = once(server, 'request')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  clients.push(client)
  client.on('error', () => undefined)
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const startedMs = performance.now()
  const [{ socket }] = (await asked) as [{ socket: Socket }]
  const closed = new Promise<number>((resolve) => {
    socket.once('close', () => resolve(performance.now() - startedMs))
  })
  return { client, closed }
}

test('a client that takes nothing of a reply is cut after the time, and not before', async () => {
  const { closed } = await ask()
  expect(await closed).toBeGreaterThanOrEqual(STALLED_MS)
})

// Other systems show only the large steps in which the kernel takes bytes from the process.
test.runIf(process.platform === 'linux')('one that takes little by little is left alone', async () => {
  const { client, closed } = await ask()
  const stalled = await ask()
  let isCut = false
  closed.then(() => {
    isCut = true
  })
  // Far too slow to finish while two stalled clients are cut one after the other.
  const reading = setInterval(() => client.read(32 * 1024), 50)
  await stalled.closed
  await (await ask()).closed
  clearInterval(reading)
  expect(isCut).toBe(false)
  expect(await closed).toBeGreaterThan(2 * STALLED_MS)
})

test('a connection for which nothing waits is not looked at', async () => {
  server.removeAllListeners('request')
  server.on('request', (_request, response) => response.write('a first word'))
  const { client, closed } = await ask()
  let isCut = false
  closed.then(() => {
    isCut = true
  })
  server.removeAllListeners('request')
  server.on('request', (_request, response) => response.end(BODY))
  await (await ask()).closed
  await (await ask()).closed
  expect(isCut).toBe(false)
  client.destroy()
})
