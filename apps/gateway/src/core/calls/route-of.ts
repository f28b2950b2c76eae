import { Problem } from '#core/errors.ts'
import type { KeyLimits } from '#core/keys/key-limits.ts'
import type { Conversations } from './conversation/conversations.ts'
import { type ConversationKeyDeps, conversationKey } from './conversation/enter-conversation.ts'
import type { UnroutedCall } from './request/call.ts'
import { hasSeveralStates, type Residence } from './routing/residence.ts'
import type { Route } from './routing/route.ts'
import type { Routes } from './routing/routes.ts'

export interface RouteOfDeps extends ConversationKeyDeps {
  readonly routes: Routes
  readonly conversations: Pick<Conversations, 'residenceOf'>
}

interface Arrival {
  readonly call: UnroutedCall
  readonly keyHash: string
  /** What is remembered of the key. */
  readonly key: KeyLimits
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

/**
 * Takes a slot for a call. Where the conversations of its agent live in several places, the place of the one that it names is
 * looked up first, and the call waits for that place alone.
 *
 * @throws Problem `agent_unavailable`, `agent_overloaded`, `conversation_not_found`, `draining`; 401 for a key that is known to
 * be invalid, before it takes a place
 */
export function routeOf(deps: RouteOfDeps, arrival: Arrival): Route | Promise<Route> {
  const { call, keyHash, key, signal } = arrival
  const enter = (residence: Residence | undefined) =>
    deps.routes.enter({
      agent: call.agent,
      app: call.app,
      keyHash,
      residence,
      signal,
      confirmKey() {
        if (key.invalid !== undefined) throw new Problem(key.invalid)
      },
    })
  const looking = residenceOf(deps, call, key.ownerId)
  return looking === undefined ? enter(undefined) : looking.then(enter)
}

/** Undefined if the call may go anywhere, as far as is known without looking. */
function residenceOf(
  deps: RouteOfDeps,
  call: UnroutedCall,
  ownerId: string,
): Promise<Residence | undefined> | undefined {
  const { agent, conversation, endUser, ledgerApp: app } = call
  if (conversation.kind === 'new' || !hasSeveralStates(agent)) return undefined
  const context = agent.adapter.context(agent)
  if (context !== 'client' && context !== 'platform') return undefined
  const { id } = conversation
  const key = conversationKey(deps, { call, ownerId, conversationId: id })
  return deps.conversations.residenceOf(
    { key, ownerId, agent: agent.id, app, endUser, conversation: id },
    context === 'client',
  )
}
