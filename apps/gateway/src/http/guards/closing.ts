import type { Socket } from 'node:net'

/** Time for the last bytes to arrive and for a client that is still sending to read the response. */
const GRACE_MS = 2_000

/** Beside the sockets, because they are Node's, and several guards may close the same one. */
const closing = new WeakSet<Socket>()

/**
 * Closes a connection so that its response arrives, whatever the client does. What the client still sends is read and
 * discarded: the system resets a socket that is closed with unread bytes, and the reset can overtake the response. A client
 * that keeps its side open loses the connection after two seconds.
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
