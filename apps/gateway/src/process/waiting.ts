import type { Logger } from 'pino'
import { isConnectionError } from '#core/database/connection-error.ts'

export interface WaitingOptions {
  readonly databaseUrl: string | undefined
  readonly log: Logger
  readonly say: (line: string) => void
}

/**
 * Returns a function that reports the errors of a start that is retried. Call it with each error; it prints and logs the
 * cause, and repeats itself only when the cause changes.
 */
export function createWaiting({ databaseUrl, log, say }: WaitingOptions): (error: unknown) => void {
  const server = `PostgreSQL${addressOf(databaseUrl)}`
  let reported: string | undefined
  return (error) => {
    const line = isConnectionError(error)
      ? `waiting for ${server}: ${reasonOf(error)}`
      : `the start cannot be completed yet: ${reasonOf(error)}`
    if (line === reported) return
    reported = line
    say(line)
    log.error({ err: error }, line)
  }
}

/** The host and port alone, without the user and the password that the URL may contain. */
function addressOf(databaseUrl: string | undefined): string {
  const host = URL.parse(databaseUrl ?? '')?.host
  return host ? ` at ${host}` : ''
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection is refused',
  ECONNRESET: 'the connection is reset',
  ENOTFOUND: 'its host name is not known',
  EAI_AGAIN: 'its host name cannot be looked up',
  ETIMEDOUT: 'it does not answer',
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const known = REASONS[String(code)]
  if (known !== undefined) return known
  const text = String(message ?? '')
  if (/timeout|no answer within/i.test(text)) return 'it does not answer'
  // The first line of a message says what failed; the rest of it, such as Prisma's excerpt of the source, says where.
  return (text.trim().split('\n')[0] ?? '') || String(code ?? 'unknown')
}
