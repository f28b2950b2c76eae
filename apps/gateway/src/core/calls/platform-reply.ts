import type { Agent, AgentCall, ReplyState, Timeouts, UpstreamRequest } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { isPlatformId } from '#core/agents/translate/platform-id.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Exchange, TurnState } from './call-events.ts'
import type { ConversationTurn } from './conversation/enter-conversation.ts'
import type { ReplyContent } from './reply-content.ts'
import { ReplyDeadlines } from './reply-deadlines.ts'
import { ReplySteps } from './reply-steps.ts'

export interface PlatformReplyDeps {
  readonly upstream: Upstream
  readonly runtime: Runtime
}

/** What is sent, and what notes the reply to it. */
export interface SentRequest {
  readonly agent: Agent
  readonly agentCall: AgentCall
  readonly request: UpstreamRequest
  /** On the clock of `elapsedMs`. */
  readonly sentAtMs: number
  readonly timeouts: Timeouts
  readonly content: ReplyContent
  readonly turn: ConversationTurn
  /** Whether a pause is given up and nothing is asked: the reply is complete without a request. */
  readonly isSilent?: boolean
}

/** What a later request needs to find the run. */
export type StopIds = {
  readonly [Id in 'runId' | 'messageId' | 'platformConversationId']?: string | undefined
}

/** How often the wait after an end is doubled at most; the other deadlines bound it before. */
const DOUBLINGS_MAX = 20

/**
 * The platform's reply to the request of one attempt, translated part by part: what its events mean for the content, for the
 * deadlines and for the turn. It is made when the request is sent.
 */
export class PlatformReply {
  readonly upstreamReply: UpstreamReply
  readonly state: ReplyState
  /** What a later request may need of the call, without its texts. */
  readonly call: AgentCall
  readonly deadlines: ReplyDeadlines
  /** The requests beside the one whose reply this is; undefined where there are none. */
  readonly steps: ReplySteps | undefined
  /** Whether the platform has sent anything that it sends only for a turn that it has taken. */
  sawTurn = false
  readonly #agent: Agent
  readonly #content: ReplyContent
  readonly #turn: ConversationTurn
  readonly #sentAtMs: number
  /** The model that the configuration names. */
  readonly #requestedModel: string | undefined
  /** Stands unless the platform says, when it is asked, what it meant. */
  #refused: Failure | undefined

  constructor(
    { upstream, runtime }: PlatformReplyDeps,
    { agent: asked, agentCall, request, sentAtMs, timeouts, content, turn, isSilent = false }: SentRequest,
  ) {
    const agent = isSilent ? silent(asked) : asked
    this.#agent = agent
    this.#content = content
    this.#turn = turn
    this.#sentAtMs = sentAtMs
    const { answer } = agentCall
    const submission = answer && agent.adapter.submitAnswer?.(agentCall, answer)
    const state = agent.adapter.start(agentCall)
    this.state = state
    const begin = agent.adapter.begin?.bind(agent.adapter)
    this.upstreamReply = isSilent
      ? nothingSent()
      : upstream.open(agent, request, {
          announcesStream: submission !== undefined,
          onHead: begin && ((header) => begin(header, state)),
        })
    this.deadlines = new ReplyDeadlines(timeouts, runtime, (event) => {
      // After a reported end that nothing withdrew, no deadline fails the reply.
      if (event === 'grace' || this.#content.ends.stands) this.upstreamReply.finish()
      else {
        const timeout = UpstreamError.timeout(this.upstreamReply.wasBegun)
        this.upstreamReply.cancel(timeout)
        this.steps?.interrupt(timeout)
      }
    })
    // The texts of a long conversation would otherwise stay in memory during the reply.
    this.call = { ...agentCall, query: '', messages: undefined, files: [], variables: {}, parameters: {} }
    if (submission !== undefined || agent.adapter.conclude !== undefined) {
      this.steps = new ReplySteps(upstream, {
        agent,
        call: this.call,
        state: this.state,
        submission,
        works: () => this.deadlines.activity(),
      })
    }
    this.#requestedModel = agent.adapter.modelOf?.({ agent, app: agentCall.app })
  }

  /** By which the run can be stopped at the platform, and where its conversation is there. */
  get stopIds(): StopIds {
    const { runId, messageId, platformConversationId = this.call.platformConversationId } = this.state
    return { runId, messageId, platformConversationId }
  }

  /** The state of the turn. What the reader has seen shows that there is one. */
  turn(hasPassedOn: boolean): TurnState {
    const ofStep = this.steps?.turn
    if (ofStep !== undefined) return ofStep
    const { failure, isComplete } = this.#content
    if (failure?.turn === 'none' && !hasPassedOn) return 'none'
    return isComplete || this.sawTurn ? 'stored' : 'unknown'
  }

  /** The next part of the reply; rejects with an {@link UpstreamError} if there is none. */
  next(): Promise<UpstreamPart> {
    return this.steps === undefined ? this.upstreamReply.next() : this.steps.next(this.upstreamReply)
  }

  /** Rejects the pending {@link PlatformReply.next}, while what the platform sends is still read. */
  interrupt(cause: Error): void {
    this.upstreamReply.interrupt(cause)
    this.steps?.interrupt(cause)
  }

  /** Closes the connection, and asks the platform for nothing more. */
  cancel(cause: Error): void {
    this.upstreamReply.cancel(cause)
    this.steps?.interrupt(cause)
  }

  /** What the exchange with the platform has taken until now. */
  exchange(nowMs: number): Exchange {
    const sentAtMs = this.#sentAtMs
    const { firstTextAtMs, usage, model, ends, unknownFinishWord } = this.#content
    return {
      requestedModel: this.#requestedModel,
      model,
      durationMs: nowMs - sentAtMs,
      firstTextMs: firstTextAtMs === undefined ? undefined : firstTextAtMs - sentAtMs,
      finishReason: ends.reason,
      unknownFinishWord,
      usage,
    }
  }

  /** The events of a part, up to the first failure. After the last part it is known whether the reply is complete. */
  translate(part: UpstreamPart): ChatEvent[] {
    this.deadlines.firstByte()
    const batch: ChatEvent[] = []
    const refused = this.steps?.failure
    if (refused !== undefined) {
      this.#content.failure ??= refused
      return batch
    }
    if (part.kind === 'events') this.#translateEvents(part, batch)
    else {
      if (part.kind === 'body') this.#translateBody(part, batch)
      const mayBeOpen = part.kind === 'body' && this.#content.failure === undefined
      if (mayBeOpen && this.steps?.isOpenAfterBody() === true) return batch
      if (this.steps !== undefined) this.#content.sift(this.steps.concluding, batch)
      if (this.#refused !== undefined) this.#content.failure ??= this.#refused
      this.#content.sift(this.#agent.adapter.finish(this.state), batch)
      this.#learnIds()
      this.#content.close(batch, this.#agent.adapter, this.state)
    }
    return batch
  }

  /** The last events of a reply that broke off without the end of its encoding: it is complete if its end was reported. */
  translateBroken(batch: ChatEvent[]): void {
    // It may know more of the end than was reported, such as that the run has failed.
    this.#content.sift(this.#agent.adapter.finish(this.state), batch)
    if (this.#content.ends.stands) this.#content.close(batch, this.#agent.adapter, this.state)
  }

  #translateEvents({ events }: Extract<UpstreamPart, { kind: 'events' }>, batch: ChatEvent[]): void {
    const { state, deadlines } = this
    const { adapter, endGraceMs } = this.#agent
    const content = this.#content
    const { withdrawn } = content.ends
    for (const event of events) {
      const translated = adapter.translate(event, state)
      if (translated.length > 0) {
        deadlines.activity()
        this.sawTurn = true
      }
      content.sift(translated, batch)
      if (content.failure !== undefined) break
    }
    this.sawTurn ||= state.runId !== undefined || state.messageId !== undefined
    this.#learnIds()
    if (content.ends.withdrawn > withdrawn) deadlines.endGrace()
    // A server that ends with its first event begins its answer much later. The less an end can be trusted, the longer it waits.
    if (content.ends.stands && content.hasContent)
      deadlines.startGrace(endGraceMs * 2 ** Math.min(content.ends.withdrawn, DOUBLINGS_MAX))
  }

  #translateBody(
    { status, body, header }: Extract<UpstreamPart, { kind: 'body' }>,
    batch: ChatEvent[],
  ): void {
    const { adapter } = this.#agent
    const content = this.#content
    const isGone = this.steps?.turn === 'none' && (status === 404 || status === 412)
    if (isGone) content.failure = { reason: 'pause_over', turn: 'none', platformStatus: status }
    else if (status >= 400) this.#refused = adapter.toFailure(status, body, header, this.state)
    else {
      content.sift(adapter.translateBody(body, this.state), batch)
      this.sawTurn = batch.length > 0 || content.failure === undefined
    }
  }

  /** Checks the ids that the platform sent, before they are stored or sent anywhere. */
  #learnIds(): void {
    const { platformConversationId, runId, messageId, answerId } = this.state
    const isPlain = [platformConversationId, runId, messageId, answerId].every(
      (id) => id === undefined || isPlatformId(id),
    )
    if (!isPlain) this.#content.failure ??= { reason: 'agent_malformed' }
    else if (platformConversationId !== undefined) this.#turn.named(platformConversationId)
  }
}

/** An agent whose reply is complete when nothing has come. */
function silent(agent: Agent): Agent {
  const end: readonly ChatEvent[] = [{ type: 'end', reason: 'stop' }]
  const { submitAnswer: _submit, conclude: _conclude, ...adapter } = agent.adapter
  return { ...agent, adapter: { ...adapter, finish: () => end, mayBeEmpty: () => true } }
}

function nothingSent(): UpstreamReply {
  return {
    status: undefined,
    wasBegun: false,
    next: async () => ({ kind: 'end' }),
    interrupt: () => undefined,
    finish: () => undefined,
    cancel: () => undefined,
  }
}
