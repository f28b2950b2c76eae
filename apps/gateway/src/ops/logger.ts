import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

/** A write a line was a fifth of a call's whole cost. A process that is killed loses the lines of so long. */
const GATHER_MS = 100
const GATHER_CHARACTERS = 8 * 1024
/** Lines that cannot be written, since a disk is full, wait up to here; later ones are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024

/** Structured lines on stdout, some at a time. Errors are told by type, code, message and stack alone: other properties may carry data. */
export function createLogger(level: string): Logger {
  const stdout = pino.destination({ dest: 1, sync: true, maxLength: WAITING_BYTES_MAX })
  // A log that cannot be written is no reason to stop serving; unheard, the event would end the process.
  let isStuck = false
  stdout.on('error', () => {
    isStuck = true
  })
  stdout.on('write', () => {
    isStuck = false
  })
  const lines = gatherLines(stdout)
  process.once('exit', () => {
    lines.flush()
    // It repeats a failed write for ever: only where the one before it went through.
    if (!isStuck) stdout.flushSync()
  })
  const options: LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      err: describeError,
      // Fastify hands its request over here and there; nothing of it goes into a line unasked.
      req: () => undefined,
      res: () => undefined,
    },
  }
  return pino(options, lines)
}

/** The destination gathers, too, but measures all that it has at every line. */
function gatherLines(destination: DestinationStream): DestinationStream & { flush(): void } {
  let lines: string[] = []
  let characters = 0
  const flush = () => {
    if (lines.length === 0) return
    const text = lines.join('')
    lines = []
    characters = 0
    destination.write(text)
  }
  setInterval(flush, GATHER_MS).unref()
  return {
    write(line) {
      lines.push(line)
      characters += line.length
      if (characters >= GATHER_CHARACTERS) flush()
    },
    flush,
  }
}

let toldMs = 0
let told = ''

/** Lines of one millisecond share its text. */
function timestamp(): string {
  const nowMs = Date.now()
  if (nowMs !== toldMs) {
    toldMs = nowMs
    told = `,"time":"${new Date(nowMs).toISOString()}"`
  }
  return told
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
