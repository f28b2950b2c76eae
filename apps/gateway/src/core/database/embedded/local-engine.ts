import type { PGlite } from '@electric-sql/pglite'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { answerOf } from './answer-of.ts'
import type { Engine } from './engine.ts'
import { EngineSocket } from './engine-socket.ts'

/** An engine in this thread, which starts faster than one in a thread of its own: for databases in memory. */
export function localEngine(pglite: PGlite): Engine {
  return {
    connect: () =>
      new EngineSocket((message, onAnswer) => {
        markRejectionHandled(answerOf(pglite, message).then(onAnswer))
      }),
    patiently: (work) => work(),
    close: () => pglite.close(),
  }
}
