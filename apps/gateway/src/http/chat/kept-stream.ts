import type { FastifyReply } from 'fastify'
import { Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import type { KeptReply } from '#core/reply-log/replies.ts'
import { EventStream, type StreamTimes } from './event-stream.ts'
import { failureFrame } from './failure-frame.ts'

export interface KeptStreamOptions extends StreamTimes {
  /** The number of the last event that the client has. */
  readonly after: number
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** Whether a call that has failed before its first event is an ordinary response; otherwise its failure is an event. */
  readonly refuses: boolean
}

/**
 * Writes the log of a kept call as server-sent events. A stream that ends without its last event can be resumed, here or at
 * another process.
 *
 * @throws Problem if nothing has been sent yet, and errors that are not problems in any case
 */
export async function sendKeptStream(
  reply: FastifyReply,
  { call, follow }: Pick<KeptReply, 'call' | 'follow'>,
  { after, signal, refuses, ...times }: KeptStreamOptions,
): Promise<void> {
  const stream = new EventStream(reply, { ...times, lifetime: refuses ? 'no-cache' : 'no-store' })
  let last = after
  const fails = (problem: Problem) => stream.write(failureFrame(call.face, problem, last + 1))
  try {
    const end = await follow({
      after,
      signal,
      canRefuse: () => refuses && !stream.isOpen,
      take(text, events) {
        last += events
        return stream.write(text) ? undefined : stream.drained()
      },
    })
    if (end.kind === 'ended') {
      last = Math.max(last, end.end.events)
      if (end.end.outcome === 'interrupted') fails(new Problem('interrupted'))
      // What follows the last event is an empty stream.
      else if (!stream.isOpen) stream.open()
    } else if (!stream.isOpen && !signal.aborted) {
      throw new Problem(end.kind === 'gone' ? 'reply_gone' : 'draining')
    }
  } catch (error) {
    if (!stream.isOpen) throw error
    fails(problemOf(error))
    if (!(error instanceof Problem)) throw error
  } finally {
    stream.end()
  }
}
