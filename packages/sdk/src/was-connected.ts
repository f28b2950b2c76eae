import { textIn } from './text-in.ts'

/** Failures before a connection exists, by their codes in Node, undici and Bun, and by their text in Deno, which has no code. */
const NOT_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|\w+_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket) |error \(Connect\)/

/**
 * Returns whether a connection may have been made before `fetch` failed. Browsers do not tell, so there it is always assumed:
 * a chat that was sent twice costs more than one that was not sent.
 */
export function wasConnected(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 4; cause = cause.cause, depth++) {
    if (NOT_CONNECTED.test(`${textIn(cause, 'code')} ${cause.message}`)) return false
  }
  return true
}
