import type { KeyLimits } from '#core/accounts/keys/key-limits.ts'
import { isAllowedApp } from '#core/agents/allowed-agents.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { fail, Problem } from '#core/base/errors/errors.ts'
import type { Conversations } from './conversation/conversations.ts'
import { nameOf } from './conversation/enter-conversation.ts'
import type { UnroutedCall } from './request/call.ts'
import { hasSeveralStates, type Residence } from './routing/residence.ts'
import type { Route } from './routing/route.ts'
import type { Routes } from './routing/routes.ts'

export interface RouteOfDeps {
  readonly routes: Routes
  readonly conversations: Pick<Conversations, 'stored'>
}

/** Shorter than the deadline of the admission, so that a call does not wait twice for a database that hangs. */
const LOOK_UP_WITHIN_MS = 1_500

/**
 * The slot of a call at one of its agent's deployments. It is no closure, and refers to the call only until it is taken: the
 * texts of the call would otherwise stay in memory as long as its stream is open.
 */
export class CallSlot {
  readonly #deps: RouteOfDeps
  #arrival: Arrival | undefined
  /** The way to the deployment, once the slot has been taken. */
  route: Route | undefined

  constructor(deps: RouteOfDeps, arrival: Arrival) {
    this.#deps = deps
    this.#arrival = arrival
  }

  /**
   * Where the conversations of the agent may live in several places, or in one that is gone, the place of the one that the call names
   * is looked up first, and the call waits for that place alone.
   *
   * @throws Problem `agent_unavailable`, `agent_overloaded`, `conversation_not_found`, `draining`; `unavailable` if the database does
   * not answer in time; 401 or 403 for a key that is known to be refused, before it takes a place
   */
  takeFor(key: KeyLimits): Promise<void> | undefined {
    const arrival = this.#arrival
    if (arrival === undefined) throw new Error('a slot is taken once')
    this.#arrival = undefined
    const { agent, conversation } = arrival.call
    // Anything else may go anywhere, as far as is known without looking.
    const looking =
      conversation.kind === 'new' || !agent.isListed
        ? undefined
        : markRejectionHandled(residenceOf(this.#deps, arrival.call, conversation.id, key.ownerId))
    if (looking !== undefined) return looking.then((residence) => this.#enter(arrival, key, residence))
    return this.#enter(arrival, key, undefined)
  }

  /** Gives the slot back, if it was taken. */
  leave(): void {
    this.route?.leave()
  }

  #enter(
    { call, signal }: Arrival,
    key: KeyLimits,
    residence: Residence | undefined,
  ): Promise<void> | undefined {
    const entering = markRejectionHandled(
      this.#deps.routes.enter({
        agent: call.agent,
        app: call.app,
        caller: { owner: key.ownerId, key: key.keyId },
        residence,
        signal,
        confirmKey: () => confirmKey(key, call),
      }),
    )
    if (entering instanceof Promise)
      return entering.then((route) => {
        this.route = route
      })
    this.route = entering
    return undefined
  }
}

interface Arrival {
  readonly call: UnroutedCall
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

/**
 * Refuses a key that the ledger would refuse, as far as is remembered of it: it must not take a place in the queue, nor learn
 * whether an agent works that it may not use.
 */
function confirmKey(
  { invalid, permissions, allowedAgents }: KeyLimits,
  { agent, ledgerApp }: UnroutedCall,
): void {
  if (invalid !== null) throw new Problem(invalid)
  if (!permissions.includes('chat') && !permissions.includes('admin'))
    fail('permission_denied', 'the API key needs the permission chat.')
  if (!isAllowedApp(allowedAgents, agent.id, ledgerApp)) throw new Problem('agent_denied')
}

function residenceOf(
  deps: RouteOfDeps,
  call: UnroutedCall,
  conversation: string,
  ownerId: string,
): Promise<Residence | undefined> | undefined {
  const { agent } = call
  const context = agent.context
  if (context !== 'client' && context !== 'platform') return undefined
  const looking = markRejectionHandled(
    deps.conversations.stored(
      nameOf(call, ownerId, conversation),
      // Where there is one place, only a row can name another, which the list had before.
      context === 'client' && hasSeveralStates(agent),
    ),
  )
  return withDeadline(
    LOOK_UP_WITHIN_MS,
    looking.then(({ residence }) => residence),
  )
}
