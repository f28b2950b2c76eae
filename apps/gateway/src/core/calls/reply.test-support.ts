import type { Agent } from '#core/agents/adapter.ts'
import { callOf } from '#core/agents/transcripts.test-support.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { systemRuntime } from '#core/runtime.ts'
import { Attempt, type AttemptDeps } from './attempt.ts'
import type { CallEvent, Settled } from './call-events.ts'
import type { AdmittedChat, ConversationTurn, Entered } from './conversation/enter-conversation.ts'
import { Reply } from './reply.ts'
import type { Call } from './request/call.ts'

export interface ReplyOptions {
  readonly agent: Agent
  readonly upstream: Upstream
  readonly streamBytesMax?: number
  /** Defaults to a conversation of which nothing is kept. */
  readonly enter?: AttemptDeps['enter'] | undefined
  /** Decides when stop requests that wait for their turn are sent; defaults to at once. */
  readonly inTurn?: (<Result>(send: () => Promise<Result>) => Promise<Result>) | undefined
}

/** What is known of a reply's call. */
export interface StartedReply {
  readonly reply: Reply
  readonly events: readonly CallEvent[]
  readonly ends: readonly Settled[]
  /** The requests that stop the run at the platform; each promise resolves when its request has been answered. */
  readonly stops: readonly Promise<void>[]
}

/** A conversation of which nothing is kept, but for what the test replaces. */
export function turnOf(more: Partial<ConversationTurn> = {}): ConversationTurn {
  return {
    saw: () => undefined,
    named: () => undefined,
    complete: async () => undefined,
    failed: async () => undefined,
    ...more,
  }
}

/** The reply to an admitted call of this agent. */
export function startReply(options: ReplyOptions): StartedReply {
  const { agent, upstream, streamBytesMax = Number.POSITIVE_INFINITY } = options
  const { enter = (): Entered => ({ agentCall: callOf(agent), turn: turnOf() }) } = options
  const events: CallEvent[] = []
  const ends: Settled[] = []
  const stops: Promise<void>[] = []
  const attempt = new Attempt({ upstream, runtime: systemRuntime, streamBytesMax, enter }, agent, {
    kind: 'enter',
    chat: CHAT,
  })
  const reply = new Reply(
    {
      runtime: systemRuntime,
      observe(event) {
        events.push(event)
        if (event.type === 'settled') ends.push(event.settled)
      },
      stops: {
        add: (stop) => void stops.push(stop),
        inTurn: options.inTurn ?? ((send) => send()),
      },
    },
    { callId: CHAT.callId, requestId: 'request-1', kind: 'chat', face: 'rest', agent: agent.id },
    attempt,
    { leave: () => undefined },
  )
  return { reply, events, ends, stops }
}

/** Only what enters the conversation reads it. */
const CHAT: AdmittedChat = {
  call: {} as Call,
  callId: '01890a5d-ac96-774b-bcce-b302099a8057',
  ownerId: 'owner-1',
  conversationId: 'conversation-1',
}
