import type { Duplex } from 'node:stream'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { EngineSocket, EngineUnreachable } from './engine-socket.ts'
import { type EngineThread, startEngineThread } from './engine-thread.ts'

/** PostgreSQL inside this process. It has a single session, so it serves one connection at a time. */
export type Engine = Awaited<ReturnType<typeof openEngine>>

export interface EngineObserver {
  /** There was no database in this folder, and a new one was made. */
  made(folder: string): void
  /** The engine has crashed or does not answer, and is being opened again. */
  lost(error: Error): void
  /** It could not be opened again; the next attempt follows. */
  notReopened(error: unknown): void
  reopened(): void
}

export interface EngineOptions {
  readonly dataDir: string
  readonly observer?: EngineObserver | undefined
  /** Defaults to {@link ANSWER_WITHIN_MS}. */
  readonly answerWithinMs?: number
  /** The module that runs in the thread of the engine; tests pass others. */
  readonly entry?: URL
}

/**
 * An engine that works on one statement for longer counts as stuck: it serves no others meanwhile. With the time that it takes
 * to open it again, the database is back within ten seconds.
 */
const ANSWER_WITHIN_MS = 7_500
const ANSWER_PATIENTLY_WITHIN_MS = 600_000
/** The first opening creates the database on a new directory, which takes long on a slow machine. */
const OPEN_WITHIN_MS = 300_000
const REOPEN_WITHIN_MS = 60_000
const REOPEN_PAUSE_MS = 1_000
const REOPEN_PAUSE_MS_MAX = 5_000
/** Longer than a thread takes to close its directory, or to be ended as it is. */
const GONE_WITHIN_MS = 8_000

/**
 * Opens an engine in a thread of its own, and opens it again whenever it crashes or is stuck. Until then its statements fail
 * like those of a server that was lost. What was committed is recovered from PostgreSQL's log, as after `kill -9`.
 *
 * @throws Error if the directory cannot be opened the first time
 */
export async function openEngine({
  dataDir,
  observer,
  answerWithinMs = ANSWER_WITHIN_MS,
  entry,
}: EngineOptions) {
  const closing = new AbortController()
  const { signal } = closing
  const sockets = new Set<EngineSocket>()
  let patient = 0
  let thread: EngineThread
  let isOpen = true
  let reopening: Promise<void> | undefined

  const start = (openWithinMs: number) =>
    startEngineThread({
      dataDir,
      openWithinMs,
      signal,
      entry,
      answerWithinMs: () => (patient > 0 ? ANSWER_PATIENTLY_WITHIN_MS : answerWithinMs),
    })

  function use(started: EngineThread): void {
    thread = started
    isOpen = true
    markRejectionHandled(started.lost.then(onLost))
  }

  function onLost(error: Error): void {
    isOpen = false
    for (const socket of sockets) socket.destroy(new EngineUnreachable('ECONNRESET', error))
    if (signal.aborted) return
    observer?.lost(error)
    reopening = markRejectionHandled(reopen(thread.gone))
  }

  async function reopen(gone: Promise<void>): Promise<void> {
    await gone
    for (
      let pauseMs = REOPEN_PAUSE_MS;
      !signal.aborted;
      pauseMs = Math.min(2 * pauseMs, REOPEN_PAUSE_MS_MAX)
    ) {
      try {
        use(await start(REOPEN_WITHIN_MS))
        observer?.reopened()
        return
      } catch (error) {
        if (signal.aborted) return
        observer?.notReopened(error)
        await sleep(pauseMs)
      }
    }
  }

  use(await start(OPEN_WITHIN_MS))
  return {
    /** Returns a socket for pg. The session still has whatever the previous connection left in it. */
    connect(): Duplex {
      const socket = new EngineSocket(isOpen ? thread.exchange : undefined)
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      return socket
    },
    /** Gives statements more time while this work runs: those of migrations and exports may take minutes. */
    async patiently<Result>(work: () => Promise<Result>): Promise<Result> {
      patient += 1
      try {
        return await work()
      } finally {
        patient -= 1
      }
    },
    async close(): Promise<void> {
      closing.abort()
      await Promise.race([reopening, sleep(GONE_WITHIN_MS)])
      if (isOpen) thread.close()
      const isGone = await Promise.race([thread.gone.then(() => true), sleep(GONE_WITHIN_MS)])
      // The thread hangs in a call to the operating system. The lock of the directory must not be released before it ends,
      // and the process would wait for it without end.
      if (isGone !== true) process.kill(process.pid, 'SIGKILL')
    },
  }
}
