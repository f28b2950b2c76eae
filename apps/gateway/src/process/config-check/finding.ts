import { DeadlineError, withDeadline } from '#core/base/async/deadline.ts'
import { messageOf } from '#core/database/unusable-database.ts'

/** One line of the result of `config check`. Its message never contains a credential. */
export interface Finding {
  /** `error`: the gateway does not start, or does not do what it is configured for. `warning`: it works, but with less. */
  readonly level: 'ok' | 'warning' | 'error'
  readonly subject: string
  readonly message: string
}

/** Makes the findings of one subject. */
export function findingsOf(subject: string) {
  const finding =
    (level: Finding['level']) =>
    (message: string): Finding => ({ level, subject, message })
  return { ok: finding('ok'), warning: finding('warning'), error: finding('error') }
}

/**
 * Waits for a check, but no longer than `ms`, since a server may accept a connection and never answer. A check that fails is
 * one finding, in the words of `describe`.
 */
export async function bounded(
  ms: number,
  check: Promise<readonly Finding[]>,
  describe: (reason: string, error: unknown) => Finding,
): Promise<readonly Finding[]> {
  try {
    return await withDeadline(ms, check)
  } catch (error) {
    const reason = error instanceof DeadlineError ? `no answer within ${ms / 1_000} s` : messageOf(error)
    return [describe(reason, error)]
  }
}
