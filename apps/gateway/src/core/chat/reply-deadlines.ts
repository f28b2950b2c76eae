import type { Timeouts } from '#core/agents/agent.ts'
import type { Runtime } from '#core/runtime.ts'

export type WatchEvent = 'timeout' | 'grace'

/** All deadlines of one reply behind one timer: events only move a number, the timer looks at it when it fires. */
export interface ReplyDeadlines {
  /** Something that counts as life came. */
  alive(): void
  /** The first byte came: from here on silence counts. */
  begun(): void
  /** The client is waited for: that is not the platform's silence. */
  serving(): void
  /** The platform is waited for again: from here on silence counts. */
  waiting(): void
  /** The platform reported its end: what it still has to say may take so long. */
  ending(graceMs: number): void
  stop(): void
}

export function startWatch(
  timeouts: Timeouts,
  runtime: Runtime,
  onEvent: (event: WatchEvent) => void,
): ReplyDeadlines {
  const startedMs = runtime.elapsedMs()
  let hasBegun = false
  let isServing = false
  let lifeMs = startedMs
  let graceAtMs = Number.POSITIVE_INFINITY

  const timeoutAtMs = (nowMs: number) =>
    Math.min(
      startedMs + timeouts.totalMs,
      hasBegun ? (isServing ? nowMs : lifeMs) + timeouts.idleMs : startedMs + timeouts.firstByteMs,
    )

  const look = () => {
    const nowMs = runtime.elapsedMs()
    const endsAtMs = Math.min(timeoutAtMs(nowMs), graceAtMs)
    // Half a millisecond: timers fire a fraction early by the finer clock.
    if (endsAtMs > nowMs + 0.5) timer = setTimeout(look, endsAtMs - nowMs)
    // After the reported end no deadline makes a failure of the reply.
    else onEvent(graceAtMs === Number.POSITIVE_INFINITY ? 'timeout' : 'grace')
  }
  let timer = setTimeout(look, timeoutAtMs(startedMs) - startedMs)

  return {
    alive() {
      lifeMs = runtime.elapsedMs()
    },
    begun() {
      if (hasBegun) return
      hasBegun = true
      lifeMs = runtime.elapsedMs()
      // The silence may be over before the first byte would have been.
      if (timeouts.idleMs < timeouts.firstByteMs) {
        clearTimeout(timer)
        look()
      }
    },
    serving() {
      isServing = true
    },
    waiting() {
      isServing = false
      lifeMs = runtime.elapsedMs()
    },
    ending(graceMs) {
      if (graceAtMs !== Number.POSITIVE_INFINITY) return
      graceAtMs = runtime.elapsedMs() + graceMs
      clearTimeout(timer)
      look()
    },
    stop() {
      clearTimeout(timer)
    },
  }
}
