import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that simulates outages of a service without touching the service itself. */
export interface TcpProxy {
  /** The service's URL with the proxy's address. */
  readonly url: string
  /** Resets open connections and refuses new ones. */
  cut(): Promise<void>
  /** Accepts connections but forwards nothing. */
  stall(): void
  /** Ends an outage of either kind and forwards what was held back in the meantime. */
  restore(): Promise<void>
  /** Resets all open connections before the next answer of the service is forwarded. Resolves when that has happened. */
  loseNextAnswer(matching: string): Promise<void>
  /** Closes the connections of the next answers, each after so many bytes of its answer were forwarded. */
  cutAnswers(...afterBytes: readonly number[]): void
  close(): Promise<void>
}

export async function startTcpProxy(serviceUrl: string, host = '127.0.0.1'): Promise<TcpProxy> {
  const target = new URL(serviceUrl)
  const pairs = new Set<readonly [Socket, Socket]>()
  let isStalled = false
  let cuts: readonly number[] = []
  let losing: { readonly matching: string; done(): void } | undefined

  const server = createServer((client) => {
    const service = connect(Number(target.port), target.hostname)
    const pair = [client, service] as const
    pairs.add(pair)
    let isDoomed = false
    /** How many bytes of the answer are still forwarded, if it will be cut. */
    let forwarded: number | undefined
    client.on('data', (chunk) => {
      if (forwarded === undefined) [forwarded, ...cuts] = cuts
      isDoomed ||= losing !== undefined && chunk.includes(losing.matching)
      service.write(chunk)
    })
    service.on('data', (chunk) => {
      if (forwarded !== undefined) {
        const part = chunk.subarray(0, forwarded)
        forwarded -= part.length
        return client.write(part, () => forwarded === 0 && client.destroy())
      }
      if (!isDoomed) return client.write(chunk)
      // The service has done its work and answered, but the client never receives the answer.
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
      server.listen(port, host, resolve)
    })

  await listen(0)
  const { port } = server.address() as AddressInfo
  const url = new URL(serviceUrl)
  url.hostname = host
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
    cutAnswers(...afterBytes) {
      cuts = afterBytes
    },
    async close() {
      if (server.listening) await stopListening()
    },
  }
}
