import type { ServerResponse } from 'node:http'
import { type Answer, htmlPage } from './answer.ts'

/** What may be wrong with an emulator as a whole. The README repeats this table. */
export const OUTAGES = {
  refuse: 'Refuses connections, as if no program listened.',
  reset: 'Reads the request and resets the connection.',
  hang: 'Reads the request, sends no byte and keeps the connection open.',
  '503': "Replies with a proxy's HTML page and status 503.",
  '500': "Replies with a proxy's HTML page and status 500.",
  '401': "Rejects the key, with the platform's own code and status.",
  '429': "Rejects the request as one too many, with the platform's own code and status.",
} as const satisfies Record<string, string>

/** A failure of an emulator as a whole. */
export type Outage = keyof typeof OUTAGES

/** Makes an emulator fail as a whole while it runs, whatever the request. */
export interface SandboxControl {
  /** What is wrong now; undefined if nothing is. */
  readonly outage: Outage | undefined
  /**
   * Makes every request from now on fail, also those that only ask for the status. Replies that have begun go on.
   *
   * @example
   * ```ts
   * await sandbox.agents.dify.control.fail('hang')
   * ```
   */
  fail(outage: Outage): Promise<void>
  /**
   * Serves requests again. Those that hang go on hanging.
   *
   * @throws the error of the system if another program has taken the port while connections were refused
   */
  recover(): Promise<void>
}

/** The answers with which a platform rejects any request, whose path is given. */
export interface Rejections {
  readonly credentials: (path: string) => Answer
  readonly rateLimit: (path: string) => Answer
}

export function isOutage(word: unknown): word is Outage {
  return typeof word === 'string' && Object.hasOwn(OUTAGES, word)
}

/** Fails a request that has been read: returns the answer, or resets the connection, or does nothing for ever. */
export function failRequest(
  outage: Outage,
  path: string,
  response: ServerResponse,
  { credentials, rateLimit }: Rejections,
): Answer | undefined {
  switch (outage) {
    case 'refuse': // Over a connection that was busy when the port was closed.
    case 'reset':
      response.socket?.resetAndDestroy()
      return undefined
    case 'hang':
      return undefined
    case '503':
      return htmlPage(503, '503 Service Temporarily Unavailable')
    case '500':
      return htmlPage(500, '500 Internal Server Error')
    case '401':
      return credentials(path)
    case '429':
      return rateLimit(path)
  }
}
