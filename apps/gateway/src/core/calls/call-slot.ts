import type { KeyLimits } from '#core/accounts/keys/key-limits.ts'
import { isAllowedApp } from '#core/agents/allowed-agents.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { fail, Problem } from '#core/errors/errors.ts'
import type { KeysSlot } from './admission.ts'
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
export class CallSlot implements KeysSlot {
  readonly #deps: RouteOfDeps
  #arrival: Omit<Arrival, 'key'> | undefined
  #route: Route | undefined

  constructor(deps: RouteOfDeps, arrival: Omit<Arrival, 'key'>) {
    this.#deps = deps
    this.#arrival = arrival
  }

  /** The way to the deployment, once the slot has been taken. */
  get route(): Route {
    if (this.#route === undefined) throw new Error('a call was admitted without a route')
    return this.#route
  }

  takeFor(key: KeyLimits): Promise<void> | undefined {
    const arrival = this.#arrival
    if (arrival === undefined) throw new Error('a slot is taken once')
    this.#arrival = undefined
    const entering = markRejectionHandled(routeOf(this.#deps, { ...arrival, key }))
    if (entering instanceof Promise) return entering.then((route) => this.#took(route))
    this.#took(entering)
    return undefined
  }

  /** Gives the slot back, if it was taken. */
  leave(): void {
    this.#route?.leave()
  }

  #took(route: Route): void {
    this.#route = route
  }
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
 * Takes a slot for a call. Where the conversations of its agent may live in several places, or in one that is gone, the place of
 * the one that it names is looked up first, and the call waits for that place alone.
 *
 * @throws Problem `agent_unavailable`, `agent_overloaded`, `conversation_not_found`, `draining`; `unavailable` if the database does
 * not answer in time; 401 or 403 for a key that is known to be refused, before it takes a place
 */
function routeOf(deps: RouteOfDeps, arrival: Arrival): Route | Promise<Route> {
  const { call, keyHash, key, signal } = arrival
  const enter = (residence: Residence | undefined) =>
    deps.routes.enter({
      agent: call.agent,
      app: call.app,
      caller: { owner: key.ownerId, key: keyHash },
      residence,
      signal,
      confirmKey: () => confirmKey(key, call),
    })
  const looking = markRejectionHandled(residenceOf(deps, call, key.ownerId))
  return looking === undefined ? enter(undefined) : looking.then(enter)
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

/** Undefined if the call may go anywhere, as far as is known without looking. */
function residenceOf(
  deps: RouteOfDeps,
  call: UnroutedCall,
  ownerId: string,
): Promise<Residence | undefined> | undefined {
  const { agent, conversation } = call
  if (conversation.kind === 'new' || !agent.isListed) return undefined
  const context = agent.adapter.context(agent)
  if (context !== 'client' && context !== 'platform') return undefined
  const looking = markRejectionHandled(
    deps.conversations
      .stored(
        nameOf(call, ownerId, conversation.id),
        // Where there is one place, only a row can name another, which the list had before.
        context === 'client' && hasSeveralStates(agent),
      )
      .then(({ residence }) => residence),
  )
  return withDeadline(LOOK_UP_WITHIN_MS, looking)
}
