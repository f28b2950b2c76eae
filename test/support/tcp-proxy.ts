import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a service that can be cut, stalled and restored, without touching the service. */
export interface TcpProxy {
  /** The service's URL, by way of the proxy. */
  readonly url: string
  /** From now on connections are refused, and those that stand are reset. */
  cut(): Promise<void>
  /** From now on nothing passes: connections are accepted and stay silent. */
  stall(): void
  /** Undoes both; what was held back in the meantime passes. */
  restore(): Promise<void>
  /** Resets the connections that stand before the next answer passes; later ones are served. Resolves when it has happened. */
  loseNextAnswer(matching: string): Promise<void>
  close(): Promise<void>
}

export async function startTcpProxy(serviceUrl: string): Promise<TcpProxy> {
  const target = new URL(serviceUrl)
  const pairs = new Set<readonly [Socket, Socket]>()
  let isStalled = false
  let losing: { readonly matching: string; done(): void } | undefined

  const server = createServer((client) => {
    const service = connect(Number(target.port), target.hostname)
    const pair = [client, service] as const
    pairs.add(pair)
    let isDoomed = false
    client.on('data', (chunk) => {
      isDoomed ||= losing !== undefined && chunk.includes(losing.matching)
      service.write(chunk)
    })
    service.on('data', (chunk) => {
      if (!isDoomed) return client.write(chunk)
      // The service has answered, so it is done; nobody hears of it.
      losing?.done()
      return client.resetAndDestroy()
    })
    for (const [one, other] of [pair, pair.toReversed() as [Socket, Socket]]) {
      one.on('error', () => undefined)
      one.on('close', () => {
        pairs.delete(pair)
        other.destroy()
      })
      if (isStalled) one.pause()
    }
  })
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })

  await listen(0)
  const { port } = server.address() as AddressInfo
  const url = new URL(serviceUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)

  const reset = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
  }
  const stopListening = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      reset()
    })

  return {
    url: url.href,
    cut: stopListening,
    stall() {
      isStalled = true
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    async restore() {
      isStalled = false
      for (const pair of pairs) for (const socket of pair) socket.resume()
      if (!server.listening) await listen(port)
    },
    loseNextAnswer(matching) {
      return new Promise((resolve) => {
        losing = {
          matching,
          done() {
            losing = undefined
            resolve()
          },
        }
      })
    },
    async close() {
      if (server.listening) await stopListening()
    },
  }
}
