import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

// A process, because the kernel's queue of connections fills while the process is stopped by a signal.

/** More than Node lets wait by default, which is 511, and than the queue of a listener with 511 holds by the way. */
const CONNECTIONS = 1_500

const kernelsMax = Number(readFileSync('/proc/sys/net/core/somaxconn', 'latin1'))

/** Opens connections while the gateway accepts none, as a busy process does; returns how many the kernel completes. */
async function connectedTo(url: string, gateway: TestGateway): Promise<number> {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  let connected = 0
  process.kill(gateway.pid, 'SIGSTOP')
  try {
    for (let opened = 0; opened < CONNECTIONS; opened += 1) {
      const socket = connect(Number(port), hostname)
      socket.once('connect', () => {
        connected += 1
      })
      socket.on('error', () => undefined)
      sockets.push(socket)
    }
    await until('the connections are complete', async () => connected === CONNECTIONS, 10_000).catch(
      () => undefined,
    )
    return connected
  } finally {
    const closed = sockets.map((socket) => once(socket, 'close'))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
    process.kill(gateway.pid, 'SIGCONT')
  }
}

test.skipIf(kernelsMax < CONNECTIONS)(
  'thousands of connections may wait to be accepted, on the port of operations as well',
  async () => {
    const opsPort = await freePort()
    const gateway = await startGateway({ env: { OPS_PORT: String(opsPort) } })
    try {
      expect(await connectedTo(gateway.url, gateway)).toBe(CONNECTIONS)
      expect(await connectedTo(`http://127.0.0.1:${opsPort}`, gateway)).toBe(CONNECTIONS)
    } finally {
      await gateway.remove()
    }
  },
)

test.skipIf(kernelsMax < CONNECTIONS || process.env.E2E_DATABASE_URL === undefined)(
  'the same holds for workers, whose connections their primary accepts',
  async () => {
    const gateway = await startGateway({ env: { WORKERS: '2' } })
    try {
      expect(await connectedTo(gateway.url, gateway)).toBe(CONNECTIONS)
    } finally {
      await gateway.remove()
    }
  },
)
