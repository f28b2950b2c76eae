import type { Agent, AgentCall, Conclusion, HelperCall, ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import { inTime } from '#core/base/async/in-time.ts'
import { sleep } from '#core/base/async/sleep.ts'
import type { TurnState } from './call-events.ts'

interface SteppedReply {
  readonly agent: Agent
  readonly call: AgentCall
  readonly state: ReplyState
  /** Sends the answer to a pause, once the rest of the run is listened to. */
  readonly submission: HelperCall<void> | undefined
  /** Called whenever the platform has said that the run still works. */
  readonly works: () => void
}

/** How long a run that works is left alone before it is asked about again: doubled each time, up to the last one. */
const WORKING_PAUSES_MS = { first: 1_000, max: 10_000 }

const END: UpstreamPart = { kind: 'end' }
const NOTHING: UpstreamPart = { kind: 'events', events: [] }

/**
 * The requests of an attempt beside the one whose reply is read: the answer to a pause, which is sent when the platform has begun to
 * send the rest of the run, and what is asked for after the end. The platform reports the rest only to those who listen, so the
 * order matters; what has come before the answer was sent belongs to the run up to its pause.
 */
export class ReplySteps {
  /** Why the answer was not taken. */
  failure: Failure | undefined
  /** What was asked for after the end of the bytes. */
  concluding: readonly ChatEvent[] = []
  readonly #upstream: Pick<Upstream, 'help'>
  readonly #reply: SteppedReply
  /** Aborts with the reason for which nothing more is asked. */
  readonly #interrupted = new AbortController()
  /** Whether the reply was a body, after which something is missing. */
  #isBodyOpen = false
  #submission: 'none' | 'waiting' | 'sent' | 'accepted'

  constructor(upstream: Pick<Upstream, 'help'>, reply: SteppedReply) {
    this.#upstream = upstream
    this.#reply = reply
    this.#submission = reply.submission === undefined ? 'none' : 'waiting'
  }

  get turn(): TurnState | undefined {
    if (this.#submission === 'none') return undefined
    if (this.#submission === 'sent') return this.failure?.turn ?? 'unknown'
    return this.#submission === 'waiting' ? 'none' : 'stored'
  }

  /** Rejects the pending {@link ReplySteps.next} where it waits for something other than the reply. */
  interrupt(cause: Error): void {
    this.#interrupted.abort(cause)
  }

  /** Whether something is missing from a reply that was one body, which the next part then brings. */
  isOpenAfterBody(): boolean {
    const { agent, call, state } = this.#reply
    this.#isBodyOpen = agent.adapter.conclude?.(call, state) !== undefined
    return this.#isBodyOpen
  }

  async next(upstreamReply: UpstreamReply): Promise<UpstreamPart> {
    const part = await this.#nextPart(upstreamReply)
    if (this.#submission === 'waiting' && part.kind === 'events') {
      await this.#submit()
      return NOTHING
    }
    return part
  }

  /** The next part; after the end, what is missing is asked for. A response that has broken off is whole if the platform knows it. */
  async #nextPart(upstreamReply: UpstreamReply): Promise<UpstreamPart> {
    if (this.#isBodyOpen) {
      await this.#conclude()
      return END
    }
    try {
      const part = await upstreamReply.next()
      if (part.kind === 'end') await this.#conclude()
      return part
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.reason !== 'agent_truncated') throw error
      await this.#conclude()
      if (this.concluding.length === 0) throw error
      return END
    }
  }

  async #submit(): Promise<void> {
    const { agent, submission } = this.#reply
    if (submission === undefined) return
    this.#submission = 'sent'
    try {
      const result = await this.#upstream.help(agent, submission, agent.timeouts.firstByteMs)
      if ('failure' in result) this.failure = result.failure
      else this.#submission = 'accepted'
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      this.failure = error.failure
    }
  }

  /**
   * A platform that does not say what is missing has no more to say: the reply is judged by what it was. A run that still works is
   * asked about until it ends, also after answers that failed; the time limits of the reply end this too.
   */
  async #conclude(): Promise<void> {
    const { agent, call, state, works } = this.#reply
    let isWorking = false
    for (let pauseMs = WORKING_PAUSES_MS.first; ; pauseMs = Math.min(pauseMs * 2, WORKING_PAUSES_MS.max)) {
      const helper = agent.adapter.conclude?.(call, state)
      if (helper === undefined) return
      const answer = await this.#ask(helper)
      if (answer === 'again') continue
      if (answer === 'working') {
        isWorking = true
        works()
      } else if (answer !== 'failed') {
        this.concluding = answer
        return
      } else if (!isWorking) return
      await inTime(sleep(pauseMs), this.#interrupted.signal)
    }
  }

  async #ask(helper: HelperCall<Conclusion>): Promise<Conclusion | 'failed'> {
    const { agent } = this.#reply
    const { signal } = this.#interrupted
    try {
      const result = await this.#upstream.help(agent, helper, agent.timeouts.firstByteMs, signal)
      if ('ok' in result) return result.ok
      const status = result.failure.platformStatus ?? 500
      return status >= 500 || status === 429 ? 'failed' : []
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof UpstreamError)) throw error
      return 'failed'
    }
  }
}
