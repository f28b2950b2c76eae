import { constants, fstatSync, openSync } from 'node:fs'
import sonicBoom from 'sonic-boom'

/** `PIPE_BUF`: the kernel writes up to this many bytes to a pipe in one piece, however many processes share it. */
const ATOMIC_BYTES = 4_096
/** A write by the thread pool takes a turn of the event loop, which is long under load. */
const FILE_BYTES = 64 * 1024
/** How much text waits while the reader pauses or the disk is full. Further lines are dropped and counted. */
const WAITING_BYTES_MAX = 1024 * 1024
/** Writing each line by itself would take a fifth of the time of a call. A killed process loses the lines of this time. */
const GATHER_MS = 100
/** At the end of the process, lines are given up if the output accepts nothing for this long, and in any case after the longer time. */
const STALLED_MS = 1_000
const CLOSE_MS = 5_000

/** Where lines are written. */
export interface LogTarget {
  readonly fd: number
  /** Whether a write may have to wait. The thread pool then writes, so that the event loop never waits. */
  readonly isBlocking: boolean
}

/**
 * Writes lines to standard output without ever blocking the event loop: lines wait in memory, and are dropped if too many
 * wait already.
 */
export class LogOutput {
  /** Called when all waiting lines have been written, with the number of those that were dropped in the meantime. */
  onRecovery: ((missingLines: number) => void) | undefined
  readonly #sonic: sonicBoom.SonicBoom
  #droppedLines = 0
  #missingLines = 0
  #hasRoom = true
  #isClosed = false

  constructor({ fd, isBlocking }: LogTarget = standardOutput()) {
    this.#sonic = new sonicBoom.SonicBoom({
      fd,
      sync: !isBlocking,
      minLength: ATOMIC_BYTES - 1,
      maxWrite: isBlocking ? FILE_BYTES : ATOMIC_BYTES,
      maxLength: WAITING_BYTES_MAX,
      periodicFlush: GATHER_MS,
      // A full pipe is tried again with the next line; the library would sleep before.
      retryEAGAIN: () => false,
    })
    this.#sonic.setMaxListeners(0)
    // What could not be written waits for the next try.
    this.#sonic.on('error', () => undefined)
    this.#sonic.on('drop', (text: string) => this.#dropped(text.split('\n').length - 1))
    this.#sonic.on('drain', () => this.#drained())
    process.once('exit', () => this.#writeRest())
  }

  get droppedLines(): number {
    return this.#droppedLines
  }

  /** Accepts whole lines, each with its line feed. After `close` they are lost. */
  write(text: string): void {
    if (!this.#isClosed) this.#hasRoom = this.#sonic.write(text)
  }

  /** Resolves once little waits: for a writer that would rather wait than lose lines. */
  ready(): Promise<void> {
    return this.#hasRoom ? Promise.resolve() : new Promise((resolve) => this.#sonic.once('drain', resolve))
  }

  /** Writes what waits, for as long as it is taken. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const timers = [setTimeout(resolve, STALLED_MS), setTimeout(resolve, CLOSE_MS)]
    this.#sonic.on('write', () => timers[0]?.refresh())
    this.#sonic.once('close', resolve)
    this.#sonic.end()
    await over
    for (const timer of timers) clearTimeout(timer)
  }

  #dropped(lines: number): void {
    this.#droppedLines += lines
    this.#missingLines += lines
  }

  #drained(): void {
    this.#hasRoom = true
    const missingLines = this.#missingLines
    this.#missingLines = 0
    if (missingLines > 0) this.onRecovery?.(missingLines)
  }

  /** `flushSync` would try a full disk or a closed pipe for ever. */
  #writeRest(): void {
    if (this.#isClosed) return
    Object.assign(this.#sonic, { sync: true })
    this.#sonic.end()
  }
}

/** Standard output without waiting, be it a pipe, a terminal or a socket. A file cannot be non-blocking. */
function standardOutput(): LogTarget {
  const stats = fstatSync(1)
  if (stats.isFile()) return { fd: 1, isBlocking: true }
  const fd = openNonBlocking(1)
  if (fd !== undefined) return { fd, isBlocking: false }
  // A socket or the pipe of another user cannot be opened again, but becomes non-blocking when Node opens the stream.
  const isStream = stats.isFIFO() || stats.isSocket()
  if (isStream) void process.stdout
  return { fd: 1, isBlocking: !isStream }
}

/**
 * Opens the same pipe or terminal again. Non-blocking is a property of the open file, and the inherited one is shared with
 * other processes, which may set or clear it at any time.
 */
function openNonBlocking(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return undefined
  }
}
