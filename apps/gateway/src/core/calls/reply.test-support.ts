import type { ServedAgent } from '#core/agents/served-agent.ts'
import { callOf } from '#core/agents/transcripts.test-support.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { AttemptDeps } from './attempted-call.ts'
import type { CallEvent, Settled } from './call-events.ts'
import type { ConversationTurn, Entered } from './conversation/enter-conversation.ts'
import { Reply } from './reply.ts'
import type { UnroutedCall } from './request/call.ts'
import type { Route } from './routing/route.ts'
import { createRoutes } from './routing/routes.ts'

export interface ReplyOptions {
  readonly agent: ServedAgent
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
  const { enter = ({ call }): Entered => ({ agentCall: callOf(call.agent), turn: turnOf() }) } = options
  const events: CallEvent[] = []
  const ends: Settled[] = []
  const stops: Promise<void>[] = []
  const route = routeTo(agent, upstream)
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
    {
      attempts: {
        upstream,
        runtime: systemRuntime,
        streamBytesMax,
        enter,
        conversationOf: () => 'conversation-key',
        filesOf: () => ({ keep: async () => undefined }) as never,
      },
      chat: {
        ...CHAT,
        call: { agent } as UnroutedCall,
      },
      route,
      place: { leave: () => undefined },
      arrivedMs: systemRuntime.elapsedMs(),
      pauses: { keep: async () => undefined, endClaim: async () => undefined },
      holder: { ...CHAT, endUser: '', agent: '', app: '', conversation: '' },
    },
  )
  return { reply, events, ends, stops }
}

/** The route of a call to a deployment of an agent. */
export function routeTo(agent: ServedAgent, upstream: Upstream): Route {
  const routes = createRoutes({
    catalog: { current: () => new Map([[agent.id, agent]]) },
    upstream,
    runtime: systemRuntime,
    observer: { deploymentChanged: () => undefined, ownerRefused: () => undefined },
    random: () => 0.5,
  })
  const route = routes.enter({
    agent,
    app: undefined,
    caller: { owner: 'owner-1', key: 'key-1' },
    residence: undefined,
    signal: new AbortController().signal,
    confirmKey: () => undefined,
  })
  if (route instanceof Promise) throw new Error('an agent without limits has a slot for every call')
  return route
}

const CHAT = {
  callId: '01890a5d-ac96-774b-bcce-b302099a8057',
  ownerId: 'owner-1',
  conversationId: 'conversation-1',
}
