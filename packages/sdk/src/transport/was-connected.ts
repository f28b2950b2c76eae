import { textIn } from './text-in.ts'

/** Failures before a connection exists, by their codes in Node, undici and Bun, and by their text in Deno, which has no code. */
const NOT_CONNECTED =
  /^\w*(refused|notfound|eai_again|unreach|connect_timeout|failedtoopensocket) |error \(connect\)/i

/**
 * Returns whether a connection may have been made before `fetch` failed. Browsers do not tell, so there it is always assumed:
 * a chat that was sent twice costs more than one that was not sent.
 */
export function wasConnected(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 3) return true
  return (
    !NOT_CONNECTED.test(`${textIn(error, 'code')} ${error.message}`) && wasConnected(error.cause, depth + 1)
  )
}
