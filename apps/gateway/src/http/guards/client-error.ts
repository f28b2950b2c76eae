import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '#core/base/errors/errors.ts'
import { errorBody, problemHeaders } from '../response/problem.ts'

/** Time for the last bytes to arrive and for a client that is still sending to read the response. */
const GRACE_MS = 2_000
/** As Node says it of heads, and the server of bodies. */
export const TOO_SLOW = { code: 'ERR_HTTP_REQUEST_TIMEOUT' }

/** What is refused without a request that hooks and routes would see. */
export interface Refusing {
  readonly newId: () => string
  /** Called for each such refusal, because no hook and no route sees it. */
  refused(requestId: string, problem: Problem): void
}

/**
 * Answers bytes that are not valid HTTP with the error body of all routes, and closes the connection. Such bytes never
 * become a request, so the error handler of the routes does not see them.
 */
export function answerClientError({ code }: { code?: string }, socket: Socket, refusing: Refusing): void {
  const isLate = code === TOO_SLOW.code
  const detail = isLate ? 'The request took too long to arrive.' : 'The request is not valid HTTP.'
  if (code === 'ECONNRESET') socket.destroy()
  else if (code === 'HPE_HEADER_OVERFLOW')
    refuseConnection(socket, new Problem('headers_too_large'), refusing)
  else refuseConnection(socket, new Problem('invalid_request', { detail }), refusing)
}

/** Sends an error on a connection that carries no request, and closes it. */
export function refuseConnection(socket: Socket, problem: Problem, { newId, refused }: Refusing): void {
  // It already has its answer; what it still sends is discarded.
  if (socket.writableEnded) return
  // A response that has begun must not get a second head.
  if (!socket.writable || socket.bytesWritten > 0) return void socket.destroy()
  const requestId = newId()
  refused(requestId, problem)
  const body = JSON.stringify(errorBody(problem, requestId))
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    ...problemHeaders(problem),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write(
    [`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, '', body].join('\r\n'),
  )
  closeSoon(socket)
}

/**
 * Closes a connection so that its response arrives, whatever the client does. What the client still sends is read and
 * discarded: the system resets a socket that is closed with unread bytes, and the reset can overtake the response. A client
 * that keeps its side open loses the connection after two seconds.
 */
export function closeSoon(socket: Socket): void {
  if (socket.writableEnded) return
  socket.end()
  const timer = setTimeout(() => socket.destroy(), GRACE_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}
