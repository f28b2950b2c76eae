import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { messageOf } from '#core/database/unusable-database.ts'
import { answerOf } from './answer-of.ts'
import type { FromEngine, ToEngine } from './engine-thread.ts'

/**
 * The thread of the embedded engine. It does nothing but run PGlite: whatever happens in here, the thread of the gateway goes
 * on, and ends this one if it no longer answers.
 */
const { dataDir } = workerData as { readonly dataDir: string }

function post(message: FromEngine, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}

/**
 * PGlite writes zeros into all of it when it is opened, so that PostgreSQL's default of 128 MB would be resident however little the
 * database has. What is not in here is in the operating system's cache.
 */
const BUFFERS = '32MB'

/** PGlite ends an error of a statement by a status of its own. Every other exception has ended the engine itself. */
const STATEMENT_FAILED = 100

/**
 * Ends the thread when PostgreSQL has ended, for example after it could not write its log. PGlite would call it again and
 * again, for ever.
 */
function endWithPostgres({ Module: engine }: PGlite): void {
  const runOnce = engine._PostgresMainLoopOnce
  engine._PostgresMainLoopOnce = () => {
    try {
      runOnce()
    } catch (error) {
      const { status } = error as { readonly status?: unknown }
      if (status !== STATEMENT_FAILED) {
        post({ ended: messageOf(error) })
        process.exit(1)
      }
      throw error
    }
  }
}

try {
  const startParams = [...PGlite.defaultStartParams, '-c', `shared_buffers=${BUFFERS}`]
  const pglite = await PGlite.create({ dataDir, startParams })
  endWithPostgres(pglite)
  parentPort?.on('message', (message: ToEngine) => {
    if (message === 'close') {
      const exit = () => process.exit()
      pglite.close().then(exit, exit)
      return
    }
    answerOf(pglite, message).then(
      (answer) => post(answer, [answer.buffer]),
      (error: unknown) => {
        post({ ended: messageOf(error) })
        process.exit(1)
      },
    )
  })
  post('open')
} catch (error) {
  // The errors of PGlite's file system cannot be sent to another thread as they are.
  post({ ended: messageOf(error) })
  process.exit(1)
}
