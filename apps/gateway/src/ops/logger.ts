import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino'
import type { ProcessIdentity } from '#core/ledger/instances.ts'
import { LogOutput } from './log-output.ts'
import { identifyProcess } from './process-identity.ts'

/**
 * Creates a logger that writes JSON lines, each with the process that writes it. Of an error only type, code, message and stack are logged, since its other
 * properties may contain data of requests.
 */
export function createLogger(
  level: string,
  output?: LogOutput,
  { id, host, pid, version }: ProcessIdentity = identifyProcess(),
): Logger {
  if (level === 'silent') return pino({ level }, { write: () => undefined })
  const lines = output ?? new LogOutput()
  const options: LoggerOptions = {
    level,
    base: { pid, host, instance: id, version },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      err: describeError,
      // Fastify passes its request to the logger in some places. Nothing of it may reach a line by accident.
      req: () => undefined,
      res: () => undefined,
    },
  }
  const log = pino(options, lines)
  lines.onRecovery = (dropped) =>
    log.warn({ dropped }, 'log lines were dropped because standard output did not accept them')
  return log
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, message, stack, cause } = error
  const { code } = error as { code?: unknown }
  return {
    type: name,
    ...(typeof code === 'string' && { code }),
    message: message.slice(0, 500),
    stack: stack
      ?.split('\n')
      .filter((line) => line.trimStart().startsWith('at '))
      .join('\n'),
    ...(cause instanceof Error && { cause: describeError(cause) }),
  }
}
