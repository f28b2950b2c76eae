import type { Socket } from 'node:net'
import { Problem } from '#core/errors.ts'
import { errorBody } from './problem.ts'

/** What is no HTTP never becomes a request, but is answered in the same shape before the connection closes. */
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  newId: () => string,
): void {
  // A reset needs no answer, and a response that has begun must not get a second head.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  const problem = problemOf(error.code)
  const id = newId()
  const body = JSON.stringify(errorBody(problem, id))
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_TEXT[problem.status] ?? 'Bad Request'}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${id}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

const STATUS_TEXT: Record<number, string> = { 431: 'Request Header Fields Too Large' }

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
