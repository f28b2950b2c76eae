import type { Logger } from 'pino'
import { isConnectionError } from '#core/base/errors/connection-error.ts'
import { atAddressOf } from '#core/base/values/at-address-of.ts'

export interface WaitingOptions {
  readonly databaseUrl: string | undefined
  readonly log: Logger
  readonly say: (line: string) => void
}

/** Reports what a start that is retried waits for. */
export type Waiting = ReturnType<typeof createWaiting>

export function createWaiting({ databaseUrl, log, say }: WaitingOptions) {
  const server = `PostgreSQL${atAddressOf(databaseUrl)}`
  const reported = new Set<string>()
  return {
    /** To be called with each error; each cause is printed and logged once, even if causes alternate. */
    failed(error: unknown): void {
      const line = isConnectionError(error)
        ? `waiting for ${server}: ${reasonOf(error)}`
        : `the start cannot be completed yet: ${reasonOf(error)}`
      if (reported.has(line)) return
      reported.add(line)
      say(line)
      log.warn({ err: error }, line)
    },
    /** To be called when the start is complete after all. */
    succeeded(): void {
      log.info(`${server} answers: the start is complete`)
    },
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection is refused',
  ECONNRESET: 'the connection is reset',
  ENOTFOUND: 'its host name is not known',
  EAI_AGAIN: 'its host name cannot be looked up',
  ETIMEDOUT: 'it does not answer',
}

export function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const known = REASONS[String(code)]
  if (known !== undefined) return known
  const text = String(message ?? '')
  if (/timeout|no answer within/i.test(text)) return 'it does not answer'
  // The first line of a message says what failed; the rest of it, such as Prisma's excerpt of the source, says where.
  return (text.trim().split('\n')[0] ?? '') || String(code ?? 'unknown')
}
