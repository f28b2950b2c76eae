import type { Socket } from 'node:net'

/** For the last bytes to arrive, and for a client that still writes to read the answer. */
const GRACE_MS = 2_000

const closing = new WeakSet<Socket>()

/**
 * Ends a connection without cutting off its answer, and without depending on the client: what the client still sends is read
 * away, since a socket that is closed with unread bytes is reset, and the reset can overtake the answer. A client that keeps
 * its side open loses the connection after a short grace.
 */
export function closeSoon(socket: Socket): void {
  if (closing.has(socket) || socket.destroyed) return
  closing.add(socket)
  socket.end()
  const timer = setTimeout(() => socket.destroy(), GRACE_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

export function isClosing(socket: Socket): boolean {
  return closing.has(socket)
}
