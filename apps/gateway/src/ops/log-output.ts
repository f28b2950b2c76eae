import { setTimeout as pause } from 'node:timers/promises'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { type LogSink, stdoutSink } from './log-sink.ts'

/** Writing each line by itself would take a fifth of the time of a call. A killed process loses the lines of this time. */
const GATHER_MS = 100
const GATHER_CHARACTERS = 8 * 1024
/** How much text waits while the reader pauses or the disk is full. Further lines are dropped and counted. */
const WAITING_CHARACTERS_MAX = 1024 * 1024
const RETRY_MS_MIN = 10
const RETRY_MS_MAX = 200
/** Errors other than a full pipe do not go away within milliseconds. */
const RETRY_FAILED_MS = 1_000
/** At the end of the process, lines are given up if the reader accepts nothing for this long. */
const STALLED_MS = 1_000
const CLOSE_MS = 5_000
/** How long a process that ends at once, such as by an uncaught exception, may block to write its last lines. */
const EXIT_FLUSH_MS = 200

/**
 * Writes lines to standard output without ever blocking the event loop: lines wait in memory, and are dropped if too many
 * wait already.
 */
export class LogOutput {
  /** Called when lines are accepted again, with the number of those that are missing at this place of the log. */
  onRecovery: ((missingLines: number) => void) | undefined
  readonly #sink: LogSink
  readonly #lines: string[] = []
  #waitingCharacters = 0
  /** Bytes that were removed from the waiting lines and are not completely written yet. */
  #chunk: Buffer | undefined
  #isWriting = false
  #failure: string | undefined
  #retry: NodeJS.Timeout | undefined
  #retryMs = RETRY_MS_MIN
  #writtenBytes = 0
  #droppedLines = 0
  #missingLines = 0
  #isDropping = false
  #whenReady: (() => void)[] = []
  readonly #gathering: NodeJS.Timeout
  readonly #onExit = () => this.#flushSync()

  constructor(sink: LogSink = stdoutSink()) {
    this.#sink = sink
    this.#gathering = setInterval(() => this.#pumpUnlessWaiting(), GATHER_MS).unref()
    process.once('exit', this.#onExit)
  }

  get droppedLines(): number {
    return this.#droppedLines
  }

  /** Accepts whole lines, each with its line feed. */
  write(text: string): void {
    if (this.#isDropping || this.#waitingCharacters + text.length > WAITING_CHARACTERS_MAX) {
      this.#isDropping = true
      this.#missingLines += 1
      this.#droppedLines += 1
      return
    }
    this.#lines.push(text)
    this.#waitingCharacters += text.length
    if (this.#waitingCharacters >= GATHER_CHARACTERS) this.#pumpUnlessWaiting()
  }

  /** Resolves once there is ample room: for a writer that would rather wait than lose lines. */
  ready(): Promise<void> {
    if (this.#hasRoom) return Promise.resolve()
    return new Promise((resolve) => this.#whenReady.push(resolve))
  }

  /** Writes what waits, for as long as it is taken. Lines that come later are written only as far as they are taken at once. */
  async close(): Promise<void> {
    clearInterval(this.#gathering)
    const isTaken = await this.#drain()
    clearTimeout(this.#retry)
    if (!isTaken) process.off('exit', this.#onExit)
  }

  /** Returns whether everything was taken. */
  async #drain(): Promise<boolean> {
    const deadlineMs = performance.now() + CLOSE_MS
    let progressMs = performance.now()
    let before = this.#writtenBytes
    for (;;) {
      await this.#pump()
      if (this.#lines.length === 0 && this.#chunk === undefined) return true
      // Anything but a full pipe will not have passed in a second.
      if (!this.#isWriting && this.#failure !== 'EAGAIN') return false
      const nowMs = performance.now()
      if (this.#writtenBytes > before) progressMs = nowMs
      before = this.#writtenBytes
      if (nowMs > deadlineMs || nowMs - progressMs > STALLED_MS) return false
      await pause(RETRY_MS_MIN)
    }
  }

  get #hasRoom(): boolean {
    return this.#waitingCharacters <= WAITING_CHARACTERS_MAX / 2
  }

  #pumpUnlessWaiting(): void {
    if (this.#retry === undefined && (this.#lines.length > 0 || this.#isDropping))
      markRejectionHandled(this.#pump())
  }

  /** Writes until nothing waits any more or the sink accepts nothing. Never rejects. */
  async #pump(): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    clearTimeout(this.#retry)
    this.#retry = undefined
    try {
      for (;;) {
        this.#chunk ??= this.#nextChunk()
        if (this.#chunk === undefined) break
        const taken = markRejectionHandled(this.#sink.write(this.#chunk))
        this.#took(this.#chunk, typeof taken === 'number' ? taken : await taken)
      }
    } catch (error) {
      this.#failure = errorCode(error) ?? 'unknown'
      const retryMs = this.#failure === 'EAGAIN' ? this.#retryMs : RETRY_FAILED_MS
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX)
      this.#retry = setTimeout(() => markRejectionHandled(this.#pump()), retryMs).unref()
    } finally {
      this.#isWriting = false
    }
  }

  #nextChunk(): Buffer | undefined {
    if (this.#hasRoom) this.#recover()
    let bytes = 0
    let count = 0
    for (const line of this.#lines) {
      bytes += Buffer.byteLength(line)
      if (count > 0 && bytes > this.#sink.chunkBytesMax) break
      count += 1
    }
    if (count === 0) return undefined
    const text = this.#lines.splice(0, count).join('')
    this.#waitingCharacters -= text.length
    return Buffer.from(text)
  }

  #took(bytes: Buffer, count: number): void {
    this.#chunk = count < bytes.length ? bytes.subarray(count) : undefined
    this.#writtenBytes += count
    this.#retryMs = RETRY_MS_MIN
    this.#failure = undefined
  }

  /**
   * Accepts lines again. Called only when half of the room is free, so that a reader that is always too slow gets one report
   * for each gap instead of one for each line.
   */
  #recover(): void {
    for (const resolve of this.#whenReady) resolve()
    this.#whenReady = []
    if (!this.#isDropping) return
    this.#isDropping = false
    this.onRecovery?.(this.#missingLines)
    this.#missingLines = 0
  }

  #flushSync(): void {
    // The thread that performs a running write completes it before the process ends.
    if (this.#isWriting) this.#chunk = undefined
    const deadlineMs = performance.now() + EXIT_FLUSH_MS
    while (performance.now() < deadlineMs) {
      try {
        this.#chunk ??= this.#nextChunk()
        if (this.#chunk === undefined) return
        this.#took(this.#chunk, this.#sink.writeSync(this.#chunk))
      } catch (error) {
        if (errorCode(error) !== 'EAGAIN') return
        sleepSync(RETRY_MS_MIN)
      }
    }
  }
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
