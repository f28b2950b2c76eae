import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export interface SilentNameServer {
  /** For the line `nameserver` of a `resolv.conf` that c-ares reads; the C library knows no ports. */
  readonly address: string
  /** How many packets it has read. */
  readonly asked: number
  close(): Promise<void>
}

/** A name server on the loopback interface that reads every question and answers none. */
export async function startSilentNameServer(): Promise<SilentNameServer> {
  const socket = createSocket('udp4')
  let asked = 0
  socket.on('message', () => {
    asked += 1
  })
  await once(socket.bind(0, '127.0.0.1'), 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    get asked() {
      return asked
    },
    async close() {
      socket.close()
      await once(socket, 'close')
    },
  }
}
