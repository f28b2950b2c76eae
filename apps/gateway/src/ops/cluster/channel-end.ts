import type { Worker } from 'node:cluster'

const LOOK_EVERY_MS = 50

/**
 * In the primary: calls back once, when the channel to a worker has ended and everything that came through it has been
 * received. This is usually the event `disconnect`, but Node never emits it for a worker that was killed while a connection was
 * on its way to it, since it waits for the worker's answer.
 */
export function onceChannelEnded(worker: Worker, onEnd: () => void): void {
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    onEnd()
  }
  // The process may be known to have ended before its last messages are read.
  const endIfRead = () => {
    if (worker.isConnected()) setTimeout(endIfRead, LOOK_EVERY_MS)
    else setImmediate(end)
  }
  worker.once('disconnect', end)
  worker.once('exit', endIfRead)
}
