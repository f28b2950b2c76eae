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

/** Sends a request with a client that reads nothing by itself. `closed` is the time until the server closes the connection. */
async function ask(): Promise<{ client: Socket; closed: Promise<number> }> {
  const received = once(server, 'request')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  clients.push(client)
  client.on('error', () => undefined)
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const startedMs = performance.now()
  const [{ socket }] = (await received) as [{ socket: Socket }]
  const closed = new Promise<number>((resolve) => {
    socket.once('close', () => resolve(performance.now() - startedMs))
  })
  return { client, closed }
}

test('a client that reads nothing of its reply is disconnected after the time limit, and not before', async () => {
  const { closed } = await ask()
  expect(await closed).toBeGreaterThanOrEqual(STALLED_MS)
})

// Other systems show only the large steps in which the kernel takes bytes from the process.
test.runIf(process.platform === 'linux')('a client that reads slowly stays connected', async () => {
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

test('a connection with no unsent bytes stays open, however long it is idle', async () => {
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

test('where more waits for clients that read nothing than a process may hold, one of them is disconnected sooner', async () => {
  server.close()
  server = createServer((_request, response) => response.end(BODY))
  cutStalledClients(server, 600_000, { bytesMax: 2 * BODY.length, everyMs: 50 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const asked = [await ask(), await ask()]
  let isCut = false
  for (const { closed } of asked) {
    closed.then(() => {
      isCut = true
    })
  }
  asked.push(await ask())
  expect(isCut).toBe(false)
  await Promise.race(asked.map(({ closed }) => closed))
})
