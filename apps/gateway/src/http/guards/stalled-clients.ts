import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** The state of a client whose bytes wait in this process. */
interface Waiting {
  /** How much the client has taken so far. Only compared for equality: another value means that it has taken more. */
  taken: string
  sinceMs: number
}

/** How often the clients are checked within the time after which they are disconnected. */
const CHECKS_WITHIN = 12

interface WaitingBounds {
  /** What may wait in this process for clients that read nothing. */
  readonly bytesMax: number
  /** How often the waiting bytes are added up. */
  readonly everyMs: number
}

/** A caller may ask for many whole replies of some megabytes each, and read none of them. */
const BOUNDS: WaitingBounds = { bytesMax: 512 * 1024 * 1024, everyMs: 1_000 }

/**
 * Closes the connections of clients that have read nothing for `stalledMs` although bytes wait for them. This holds for
 * streams and whole replies alike, since both occupy memory until the client has read them. A client that reads slowly keeps
 * its connection. Where more bytes wait than a process may hold, clients that read nothing are disconnected sooner, those
 * with the most bytes first.
 */
export function cutStalledClients(
  server: Server,
  stalledMs: number,
  { bytesMax, everyMs }: WaitingBounds = BOUNDS,
): void {
  const sockets = new Set<Socket>()
  const waiting = new Map<Socket, Waiting>()
  let checkedMs = performance.now()

  async function check(): Promise<void> {
    const full = [...sockets].filter((socket) => socket.writableLength > 0)
    const bytes = full.reduce((sum, { writableLength }) => sum + writableLength, 0)
    if (bytes <= bytesMax && performance.now() - checkedMs < stalledMs / CHECKS_WITHIN) return
    const inKernel = full.length === 0 ? undefined : await unacknowledged()
    const nowMs = performance.now()
    checkedMs = nowMs
    for (const socket of waiting.keys()) if (socket.writableLength === 0) waiting.delete(socket)
    const idle: Socket[] = []
    let excess = bytes - bytesMax
    for (const socket of full) {
      const taken = takenBy(socket, inKernel)
      const before = waiting.get(socket)
      if (before?.taken !== taken) waiting.set(socket, { taken, sinceMs: nowMs })
      else if (nowMs - before.sinceMs < stalledMs) idle.push(socket)
      else {
        excess -= socket.writableLength
        socket.destroy()
      }
    }
    for (const socket of idle.sort((one, other) => other.writableLength - one.writableLength)) {
      if (excess <= 0) return
      excess -= socket.writableLength
      socket.destroy()
    }
  }

  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function schedule(): void {
    if (isClosed) return
    timer = setTimeout(
      () => {
        check().then(schedule, schedule)
      },
      Math.min(everyMs, stalledMs / CHECKS_WITHIN),
    ).unref()
  }

  server.once('listening', schedule)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      waiting.delete(socket)
    })
  })
  server.once('close', () => {
    isClosed = true
    clearTimeout(timer)
  })
}

/**
 * A value that changes when the client takes bytes. What we write meanwhile, such as a stream's comments, counts on both
 * sides of the difference. The kernel takes bytes from us in steps of more than a megabyte, for which a slow client needs
 * minutes; the number of unacknowledged bytes shows the steps in between.
 */
function takenBy(socket: Socket, inKernel: ReadonlyMap<string, string> | undefined): string {
  const written = socket.bytesWritten - socket.writableLength
  return `${written} ${inKernel?.get(`${socket.localPort} ${socket.remotePort}`)}`
}

/**
 * The bytes in the kernel that the other side has not acknowledged, by the ports of the connection. Only Linux reports them;
 * on other systems the map is empty. Connections of different addresses may share a pair of ports; then the progress of one
 * counts for both.
 */
async function unacknowledged(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const file of ['/proc/self/net/tcp', '/proc/self/net/tcp6']) {
    const table = await readFile(file, 'latin1').catch(() => '')
    for (const [, local = '', remote = '', bytes = ''] of table.matchAll(CONNECTION)) {
      const ports = `${Number.parseInt(local, 16)} ${Number.parseInt(remote, 16)}`
      found.set(ports, `${found.get(ports) ?? ''} ${bytes}`)
    }
  }
  return found
}

/** Number, local address and port, remote address and port, state, bytes not acknowledged. */
const CONNECTION = /^ *\d+: [0-9A-F]+:([0-9A-F]+) [0-9A-F]+:([0-9A-F]+) [0-9A-F]+ ([0-9A-F]+):/gm
