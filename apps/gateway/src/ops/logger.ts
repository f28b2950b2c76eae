import { type Logger, type LoggerOptions, pino } from 'pino'
import { LogOutput } from './log-output.ts'

/** Structured lines. Errors are described by type, code, message and stack alone: other properties may carry data. */
export function createLogger(level: string, output?: LogOutput): Logger {
  if (level === 'silent') return pino({ level }, { write: () => undefined })
  const lines = output ?? new LogOutput()
  const options: LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      err: describeError,
      // Fastify passes its request to the logger here and there; nothing of it may reach a line by accident.
      req: () => undefined,
      res: () => undefined,
    },
  }
  const log = pino(options, lines)
  lines.onRecovery = (dropped) => log.warn({ dropped }, 'log lines were dropped while nobody took them')
  return log
}

let stampedMs = 0
let stamp = ''

/** Lines of the same millisecond share its text. */
function timestamp(): string {
  const nowMs = Date.now()
  if (nowMs !== stampedMs) {
    stampedMs = nowMs
    stamp = `,"time":"${new Date(nowMs).toISOString()}"`
  }
  return stamp
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
