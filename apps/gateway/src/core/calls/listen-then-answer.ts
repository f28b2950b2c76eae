import type { Agent, AgentCall, HelperCall, ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import type { TurnState } from './call-events.ts'

interface SteppedReply {
  readonly agent: Agent
  readonly call: AgentCall
  readonly state: ReplyState
  /** Sends the answer to a pause, once the rest of the run is listened to. */
  readonly submission: HelperCall<void> | undefined
}

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

  /** A platform that does not say what is missing has no more to say: the reply is judged by what it was. */
  async #conclude(): Promise<void> {
    const { agent, call, state } = this.#reply
    const helper = agent.adapter.conclude?.(call, state)
    if (helper === undefined) return
    try {
      const result = await this.#upstream.help(agent, helper, agent.timeouts.firstByteMs)
      if ('ok' in result) this.concluding = result.ok
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
    }
  }
}
