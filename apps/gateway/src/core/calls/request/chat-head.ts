import type { Route } from '#core/calls/routing/route.ts'
import type { UnroutedCall } from './call.ts'
import type { AgentName } from './chat-request.ts'

/** What is known of an admitted call from its beginning. */
export interface ChatHead {
  readonly callId: string
  /** The id by which the client can continue the conversation. */
  readonly conversationId: string
  /** The model name until the platform reports its own. */
  readonly model: string
  /** Whether the agent is configured to expose its reasoning. */
  readonly reasoning: boolean
  /** Whether the agent gets the parameters of the request, such as its tools. */
  readonly takesParameters: boolean
  /** The kinds of the request's tools, where the agent is configured to ignore them. */
  readonly ignoredTools: readonly string[]
  /** Whether the agent gets all messages of the request, its instructions included. */
  readonly takesMessages: boolean
  /** The end user of the call; empty if it has none. */
  readonly endUser: string
  /** Seconds since the epoch. */
  readonly created: number
}

/** @param name - how the request names the agent */
export function headOf(
  { agent, app, asks, ignoredTools, endUser }: UnroutedCall,
  route: Pick<Route, 'app' | 'deployment'>,
  name: AgentName,
  started: Pick<ChatHead, 'callId' | 'conversationId' | 'created'>,
): ChatHead {
  const model = agent.adapter.modelOf?.({ agent: route.deployment.agent, app: app && route.app })
  return {
    ...started,
    model: model ?? (name.isInModel && name.model ? name.model : agent.id),
    reasoning: agent.reasoning,
    takesParameters: agent.context === 'gateway',
    ignoredTools,
    takesMessages: asks.kind === 'messages' || asks.isWhole,
    endUser,
  }
}
