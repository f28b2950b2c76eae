import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '#core/errors/errors.ts'
import { errorBody, problemHeaders } from '../response/problem.ts'
import { closeSoon, isClosing } from './closing.ts'

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
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  refusing: Refusing,
): void {
  // It already has its answer; what it still sends is discarded.
  if (isClosing(socket)) return
  // A reset connection cannot be answered, and a response that has begun must not get a second head.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  refuseConnection(socket, problemOf(error.code), refusing)
}

/** Sends an error on a connection that carries no request, and closes it. */
export function refuseConnection(socket: Socket, problem: Problem, { newId, refused }: Refusing): void {
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

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers_too_large')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('invalid_request', { detail: 'The request took too long to arrive.' })
    default:
      return new Problem('invalid_request', { detail: 'The request is not valid HTTP.' })
  }
}
