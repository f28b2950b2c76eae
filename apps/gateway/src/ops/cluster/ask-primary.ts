import { withDeadline } from '#core/base/async/deadline.ts'
import { isMessage, type PrimaryMessage, type WorkerMessage } from './messages.ts'

/** How long the primary may take for an answer, before it counts as stuck. */
const ANSWER_WITHIN_MS = 5_000

/** The answers to requests, which have the id of the request. */
type Answer = Extract<PrimaryMessage, { readonly answers: number }>

let requests = 0

/**
 * In a worker: sends the primary a request, and resolves with its answer.
 *
 * @throws Error if the primary has ended or does not answer
 */
export async function askPrimary<Kind extends Answer['kind']>(
  kind: Kind,
  request: (id: number) => WorkerMessage,
): Promise<Extract<Answer, { kind: Kind }>> {
  requests += 1
  const id = requests
  const { promise, resolve, reject } = Promise.withResolvers<Extract<Answer, { kind: Kind }>>()
  const onMessage = (message: unknown) => {
    if (isMessage<Answer, Kind>(kind, message) && message.answers === id) resolve(message)
  }
  const onLost = () => reject(new Error('the primary has ended'))
  process.on('message', onMessage)
  process.on('disconnect', onLost)
  try {
    if (!process.connected) onLost()
    await send(request(id))
    return await withDeadline(ANSWER_WITHIN_MS, promise)
  } finally {
    process.off('message', onMessage)
    process.off('disconnect', onLost)
  }
}

/** Resolves when the message is written, also if the primary is gone. */
export function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    // Without a callback a failure would be an `error` event of the process and end it.
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve())
    else resolve()
  })
}
