import type { FastifyReply } from 'fastify'

/** A signal that aborts when the client's connection closes before the response is complete. */
export function abortedWith({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  // The client may have left while its credential was checked, and the event does not come again.
  if (raw.destroyed) controller.abort()
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort()
  })
  return controller.signal
}
