import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type AddressInfo, type LookupFunction, type NetConnectOpts } from 'node:net'
import { vi } from 'vitest'
import { interleaved, lookupWith, notFound } from '#core/agents/upstream/names/lookup-answer.ts'
import { isPublicAddress } from '#core/requests/input/public-host.ts'

/** An address that is public, behind which the servers of a test are. */
export const PUBLIC_ADDRESS = '198.41.0.4'

/** Names, and servers behind them. Nothing is sent outside of this machine. */
export interface Internet {
  /** The answers of the name servers, in their order; the last one stays. */
  readonly names: Map<string, (readonly string[])[]>
  readonly lookups: { dns: LookupFunction; system: () => LookupFunction }
  /** The names that were looked up. */
  readonly asked: string[]
  /** The addresses that were connected to after a look-up. */
  readonly connected: string[]
  close(): void
}

/** Connections to {@link PUBLIC_ADDRESS} are made to the loopback interface instead, and all others as they are. */
export function openInternet(): Internet {
  const names = new Map<string, (readonly string[])[]>()
  const asked: string[] = []
  const connected: string[] = []
  const dns = lookupWith(async (name) => {
    asked.push(name)
    const answers = names.get(name) ?? []
    const addresses = answers.length > 1 ? answers.shift() : answers[0]
    if (addresses === undefined) throw notFound(name)
    return interleaved(addresses)
  })
  const connect = net.connect
  const spy = vi.spyOn(net, 'connect').mockImplementation(((options: NetConnectOpts) => {
    const given = 'lookup' in options ? options.lookup : undefined
    if (given === undefined) return connect(options)
    const lookup = lookupWith(async (name, lookupOptions) => {
      const found = await new Promise<readonly { address: string }[]>((resolve, reject) => {
        given(name, { ...lookupOptions, all: true }, (error, addresses) => {
          if (error !== null) reject(error)
          else resolve(typeof addresses === 'string' ? [{ address: addresses }] : addresses)
        })
      })
      connected.push(...found.map(({ address }) => address))
      return interleaved(found.map(({ address }) => (isPublicAddress(address) ? '127.0.0.1' : address)))
    })
    return connect({ ...options, lookup })
  }) as typeof net.connect)
  return {
    names,
    asked,
    connected,
    lookups: { dns, system: () => dns },
    close: () => spy.mockRestore(),
  }
}

export interface FileServer {
  readonly port: number
  /** Of the loopback interface. */
  readonly origin: string
  readonly requests: IncomingMessage[]
  /** How many connections there were. */
  readonly connections: number
  answer: (request: IncomingMessage, response: ServerResponse) => void
  close(): Promise<void>
}

export async function startFileServer(): Promise<FileServer> {
  const requests: IncomingMessage[] = []
  let connections = 0
  const server = createServer((request, response) => {
    requests.push(request)
    response.on('error', () => undefined)
    files.answer(request, response)
  })
  server.on('connection', () => {
    connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const files: FileServer = {
    port,
    origin: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections
    },
    answer: (_request, response) => response.end(),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return files
}
