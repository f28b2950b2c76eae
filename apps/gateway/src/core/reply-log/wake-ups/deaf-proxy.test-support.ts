import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy in front of PostgreSQL that, like a pooler of transactions, accepts `LISTEN` and delivers no notification. */
export interface DeafProxy {
  /** The database's URL with the proxy's address. */
  readonly url: string
  /** Whether notifications are kept from clients; true at first. */
  isDeaf: boolean
  close(): void
}

const NOTIFICATION = 'A'.charCodeAt(0)

export async function startDeafProxy(databaseUrl: string): Promise<DeafProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    client.pipe(database)
    let rest: Buffer = Buffer.alloc(0)
    database.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      // Each message has a byte for its type, and its length without that byte.
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readInt32BE(1))
        rest = rest.subarray(message.length)
        if (!(proxy.isDeaf && message[0] === NOTIFICATION)) client.write(message)
      }
    })
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const proxy: DeafProxy = {
    url: url.href,
    isDeaf: true,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  return proxy
}
