import { type Logger, pino } from 'pino'

/** Structured lines on stdout. Errors are told by type, code, message and stack alone: other properties may carry data. */
export function createLogger(level: string): Logger {
  return pino({
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      err: describeError,
      // Fastify hands its request over here and there; nothing of it goes into a line unasked.
      req: () => undefined,
      res: () => undefined,
    },
  })
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
