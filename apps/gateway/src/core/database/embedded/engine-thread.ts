import { Worker } from 'node:worker_threads'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { shippedFile } from '#core/base/shipped-files.ts'

/** Each message is answered by one of {@link FromEngine}, in order; `close` by the end of the thread. */
export type ToEngine = Uint8Array | 'close'
/** `open` once, then an answer to each message. `ended` says why the thread is about to end. */
export type FromEngine = Uint8Array | 'open' | { readonly ended: string }

/** A thread in which an engine has opened a directory. */
export type EngineThread = Awaited<ReturnType<typeof startEngineThread>>

export interface EngineThreadOptions {
  readonly dataDir: string
  /** How long opening may take, recovery after a crash included. */
  readonly openWithinMs: number
  /** How long an exchange may take, read when it begins. */
  readonly answerWithinMs: () => number
  /** Ends the thread while it is being opened. */
  readonly signal: AbortSignal
  /** The module that runs in the thread; tests pass others. */
  readonly entry?: URL | undefined
}

const ENTRY = shippedFile('engineWorker')
const CLOSE_WITHIN_MS = 5_000

/**
 * Starts a thread and resolves when its engine has opened the directory. The thread is ended when it does not answer in time.
 *
 * @throws Error if the directory cannot be opened
 */
export async function startEngineThread(options: EngineThreadOptions) {
  const { dataDir, openWithinMs, answerWithinMs, signal, entry = ENTRY } = options
  // Options of the process, such as `--eval`, would be taken for the thread's own.
  const worker = new Worker(entry, { workerData: { dataDir }, execArgv: [] })
  const opened = Promise.withResolvers<void>()
  const lost = Promise.withResolvers<Error>()
  const gone = Promise.withResolvers<void>()
  const waiting: ((answer: Uint8Array) => void)[] = []
  let why: Error | undefined
  let timer: NodeJS.Timeout | undefined

  function end(reason: Error): void {
    clearTimeout(timer)
    why ??= reason
    lost.resolve(why)
    opened.reject(why)
    markRejectionHandled(worker.terminate())
  }

  /** If this thread itself was busy, the answer may have arrived without having been read, so it gets one more turn. */
  function expectMessage(withinMs: number): void {
    clearTimeout(timer)
    const expected = setTimeout(() => {
      setImmediate(() => {
        if (timer === expected) end(new Error(`the engine has not answered for ${withinMs} ms`))
      })
    }, withinMs)
    timer = expected
  }

  function expectNothing(): void {
    clearTimeout(timer)
    timer = undefined
  }

  worker.on('message', (message: FromEngine) => {
    if (message === 'open') {
      expectNothing()
      opened.resolve()
    } else if (message instanceof Uint8Array) {
      const onAnswer = waiting.shift()
      if (waiting.length > 0) expectMessage(answerWithinMs())
      else expectNothing()
      onAnswer?.(message)
    } else why ??= new Error(message.ended)
  })
  worker.on('error', (error: unknown) => end(error instanceof Error ? error : new Error(String(error))))
  worker.once('exit', (code) => {
    end(new Error(`the thread of the engine ended with code ${code}`))
    gone.resolve()
  })

  const onAbort = () => end(new Error('the opening was given up'))
  signal.addEventListener('abort', onAbort, { once: true })
  expectMessage(openWithinMs)
  try {
    await opened.promise
  } catch (error) {
    // Another thread must not open the directory while this one may still write to it.
    await gone.promise
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }

  return {
    /** Resolves with the reason when the thread ends, or is made to end, before {@link EngineThread.close} was called. */
    lost: lost.promise,
    /** Resolves when the thread is gone and no longer uses the directory. */
    gone: gone.promise,
    exchange(message: Uint8Array<ArrayBuffer>, onAnswer: (answer: Uint8Array) => void): void {
      waiting.push(onAnswer)
      if (waiting.length === 1) expectMessage(answerWithinMs())
      worker.postMessage(message satisfies ToEngine, [message.buffer])
    },
    /** Asks the engine to close the directory; ends the thread as it is if that takes too long. */
    close(): void {
      worker.postMessage('close' satisfies ToEngine)
      expectMessage(CLOSE_WITHIN_MS)
    },
  }
}
