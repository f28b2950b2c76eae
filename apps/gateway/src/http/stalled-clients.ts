import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Of a client whose bytes wait in this process. */
interface Waiting {
  /** What it has taken so far, in no unit: another value means that it has taken more. */
  taken: string
  sinceMs: number
}

const LOOKS_WITHIN = 12

/**
 * Closes the connections of clients that have taken nothing for so long, though bytes wait for them: streams and whole
 * replies alike, since either holds its memory until the client has it. A client that reads slowly is left alone.
 */
export function cutStalledClients(server: Server, stalledMs: number): void {
  const sockets = new Set<Socket>()
  const waiting = new Map<Socket, Waiting>()

  async function look(): Promise<void> {
    const full = [...sockets].filter((socket) => socket.writableLength > 0)
    const inKernel = full.length === 0 ? undefined : await unacknowledged()
    const nowMs = performance.now()
    for (const socket of waiting.keys()) if (socket.writableLength === 0) waiting.delete(socket)
    for (const socket of full) {
      const taken = takenBy(socket, inKernel)
      const before = waiting.get(socket)
      if (before?.taken !== taken) waiting.set(socket, { taken, sinceMs: nowMs })
      else if (nowMs - before.sinceMs >= stalledMs) socket.destroy()
    }
  }

  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function schedule(): void {
    if (isClosed) return
    timer = setTimeout(() => {
      look().then(schedule, schedule)
    }, stalledMs / LOOKS_WITHIN).unref()
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
 * What we write ourselves in the meantime, such as a stream's comments, counts on both sides of the difference. The system
 * takes from us in steps of more than a megabyte, which a slow client needs minutes for; what it has not acknowledged tells
 * of steps in between.
 */
function takenBy(socket: Socket, inKernel: ReadonlyMap<string, string> | undefined): string {
  const written = socket.bytesWritten - socket.writableLength
  return `${written} ${inKernel?.get(`${socket.localPort} ${socket.remotePort}`)}`
}

/**
 * Bytes that the system has sent or keeps and the other side has not acknowledged, by the connection's ports. Linux alone
 * tells; elsewhere it is empty. Connections of several addresses may share a pair of ports: the progress of either then
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
