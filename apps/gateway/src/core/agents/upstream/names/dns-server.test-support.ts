import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

type RecordType = 'A' | 'AAAA'

/** What a name has. A name that is not listed does not exist. */
export interface DnsRecords {
  readonly A?: readonly string[]
  readonly AAAA?: readonly string[]
  /** Seconds; 300 by default. */
  readonly ttl?: number
}

/** A name server on a port of the loopback interface, with as much of the protocol as c-ares needs. */
export interface DnsServer {
  /** For the line `nameserver` of a `resolv.conf`. */
  readonly address: string
  /** The names by full name, which a test may change. */
  readonly names: Map<string, DnsRecords>
  /** The queries in their order, such as `A platform.example`. */
  readonly queries: string[]
  /** Whether the server answers nothing at all. */
  isSilent: boolean
  /** Answers for which the server waits; they are sent by the function that is given. */
  readonly held: Map<string, PromiseWithResolvers<void>>
  /** Resolves when the query arrives, or has arrived. */
  asked(query: string): Promise<void>
  close(): Promise<void>
}

const TYPES: Readonly<Record<number, RecordType>> = { 1: 'A', 28: 'AAAA' }
const NXDOMAIN = 3

export async function startDnsServer(names: Readonly<Record<string, DnsRecords>> = {}): Promise<DnsServer> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  let isClosed = false
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    names: new Map(Object.entries(names)),
    queries: [],
    isSilent: false,
    held: new Map(),
    async asked(query) {
      while (!server.queries.includes(query)) await once(socket, 'message')
    },
    async close() {
      if (isClosed) return
      isClosed = true
      socket.close()
      await once(socket, 'close')
    },
  }
  socket.on('message', async (message: Buffer, { port, address }: RemoteInfo) => {
    const { name, type, end } = questionOf(message)
    const query = `${type} ${name}`
    server.queries.push(query)
    if (server.isSilent) return
    const reply = answerTo(message, end, type, server.names.get(name))
    await server.held.get(query)?.promise
    socket.send(reply, port, address, () => undefined)
  })
  return server
}

function questionOf(message: Buffer): { name: string; type: RecordType | undefined; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[message.readUInt16BE(at + 1)], end: at + 5 }
}

function answerTo(
  message: Buffer,
  endOfQuestion: number,
  type: RecordType | undefined,
  records: DnsRecords | undefined,
): Buffer {
  const addresses = (type !== undefined && records?.[type]) || []
  const head = Buffer.from(message.subarray(0, 12))
  head.writeUInt16BE(0x8180 | (records === undefined ? NXDOMAIN : 0), 2)
  head.writeUInt16BE(addresses.length, 6)
  // Without the additional records of the query (EDNS).
  head.writeUInt16BE(0, 10)
  const answers = addresses.map((address) => {
    const data = type === 'A' ? Buffer.from(address.split('.').map(Number)) : ipv6BytesOf(address)
    const answer = Buffer.alloc(12)
    // The name is a pointer to that of the question.
    answer.writeUInt16BE(0xc00c, 0)
    answer.writeUInt16BE(type === 'A' ? 1 : 28, 2)
    answer.writeUInt16BE(1, 4)
    answer.writeUInt32BE(records?.ttl ?? 300, 6)
    answer.writeUInt16BE(data.length, 10)
    return Buffer.concat([answer, data])
  })
  return Buffer.concat([head, message.subarray(12, endOfQuestion), ...answers])
}

function ipv6BytesOf(address: string): Buffer {
  const [before = [], after = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
