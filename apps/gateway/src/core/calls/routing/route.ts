import type { AgentApp } from '#core/agents/adapter.ts'
import type { Ticket } from '#core/agents/deployments/breaker.ts'
import type { Caller } from '#core/agents/deployments/caller.ts'
import type { RefusedFromNow } from '#core/agents/deployments/caller-breakers.ts'
import { RefusedFields } from '#core/agents/deployments/refused-fields.ts'
import { type Verdict, verdictOf } from '#core/agents/deployments/verdict.ts'
import type { Failure } from '#core/agents/events.ts'
import type { Deployment } from '#core/agents/served-agent.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { TurnState } from '#core/calls/call-events.ts'
import type { AgentRoutes, Wish } from './agent-routes.ts'
import type { DeploymentHealth } from './deployment-health.ts'
import { repetitionOf } from './repeatable.ts'
import { isHome, type Residence } from './residence.ts'

/** How an attempt has failed. */
export interface FailedAttempt {
  readonly failure: Failure
  readonly turn: TurnState
  /** The status of the platform's response. */
  readonly httpStatus: number | undefined
}

const BEFORE_THE_SAME_MS = 200
/** After a longer `Retry-After` the call is not sent to the platform again. */
const RETRY_AFTER_MS_MAX = 2_000

/**
 * The way of one call to its platform: the deployment that answers it, and after a failure the next one. It holds the call's
 * slots until it is left.
 */
export class Route {
  /** How long the call has waited for its slot; undefined if it did not wait. */
  queuedMs: number | undefined
  /** The deployment that answers the call. */
  deployment: Deployment
  /** How many attempts have begun. */
  attempts = 0
  readonly caller: Caller
  readonly #routes: AgentRoutes
  /** Removes the call from those in progress. */
  readonly #remove: () => void
  readonly #app: AgentApp | undefined
  #residence: Residence | undefined
  #state: DeploymentHealth
  /** The ticket of the attempt that has begun and has no verdict yet. */
  #ticket: Ticket | undefined
  #tried: DeploymentHealth[] | undefined
  #refusedKeys: string[] | undefined
  /** When the latest attempt has begun. */
  #beganMs = 0
  #isRepetition = false
  #isPinned = false
  #isLeft = false

  /** Takes the slots, of which the caller has made sure. */
  constructor(
    routes: AgentRoutes,
    state: DeploymentHealth,
    call: { caller: Caller; app: AgentApp | undefined; residence: Residence | undefined },
  ) {
    this.#routes = routes
    this.#state = state
    this.caller = call.caller
    this.#app = call.app
    this.#residence = call.residence
    this.deployment = state.deployment
    this.#remove = routes.take(this)
    state.findings.inFlight += 1
    this.#ticket = state.findings.breaker.begin(call.caller, routes.elapsedMs)
  }

  /** The app as the deployment has it. */
  get app(): AgentApp | undefined {
    return this.#state.appOf(this.#app)
  }

  /** Whether another attempt is allowed after this one. */
  get isLastAttempt(): boolean {
    return this.attempts >= this.#routes.agent.retry.attempts
  }

  /** The time to the first byte that an attempt has: less than the agent's if the call could then go elsewhere from a hang. */
  get firstByteMs(): number {
    const { retry, deployments } = this.#routes.agent
    const { firstByteMs } = this.deployment.agent.timeouts
    if (deployments.length === 1 || this.isLastAttempt || !this.#keepsNothing) return firstByteMs
    return Math.min(firstByteMs, retry.firstByteMs ?? firstByteMs / retry.attempts)
  }

  beginAttempt(): void {
    this.attempts += 1
    this.#beganMs = this.#routes.elapsedMs
    this.#ticket ??= this.#state.findings.breaker.begin(this.caller, this.#routes.elapsedMs)
  }

  /** The first event of the reply has come, or the first bytes of a whole reply: the deployment works. */
  answered(): void {
    this.#judge('works')
    if (this.#isRepetition) this.#endRepetition()
  }

  /**
   * Notes the failure, and chooses the deployment of the next attempt. Undefined if the call must not or cannot be sent again;
   * else how long to wait before.
   */
  afterFailure(failed: FailedAttempt): { readonly delayMs: number } | undefined {
    this.noteFailure(failed)
    if (!this.#mayRepeat(failed)) return undefined
    const { failure } = failed
    this.#tried = [...(this.#tried ?? []), this.#state]
    const needsOtherKey = repetitionOf(failure) === 'other_credential'
    if (needsOtherKey) this.#refusedKeys = [...(this.#refusedKeys ?? []), this.#key]
    const wish = { ...this.#wish, refusedKeys: this.#refusedKeys ?? [] }
    const next = this.#routes.choose({ ...wish, tried: this.#tried })
    if (typeof next !== 'string') return this.#beginRepetition() ? this.#goTo(next, 0) : undefined
    // `unknown` may go elsewhere alone.
    if (failed.turn !== 'none') return undefined
    const delayMs = this.#delayMs(failure)
    const again = this.#routes.choose({ ...wish, tried: [] })
    if (typeof again === 'string' || delayMs === undefined) return undefined
    return this.#beginRepetition() ? this.#goTo(again, delayMs) : undefined
  }

  noteFailure({ failure, httpStatus }: FailedAttempt): void {
    this.#judge(verdictOf({ failure, httpStatus }), failure)
  }

  /** Fields that the platform has refused lately; undefined if it never has. */
  get refusedFields(): readonly string[] | undefined {
    return this.#state.findings.refusedFields?.at(this.#routes.elapsedMs)
  }

  /** Leaves such fields out of the next requests. Returns those that were not known to be refused. */
  rememberRefused(fields: readonly string[]): readonly string[] {
    const { findings } = this.#state
    findings.refusedFields ??= new RefusedFields()
    return findings.refusedFields.remember(fields, this.#routes.elapsedMs)
  }

  /** Whether the deployment of the route can continue a conversation that lives there. */
  canContinue(residence: Residence): boolean {
    return isHome(this.#routes.agent, this.deployment, residence)
  }

  /**
   * Moves the call to where its conversation lives, which is known only now, and before anything was sent.
   *
   * @throws Problem `conversation_not_found` if it lives nowhere any more, `agent_unavailable` if it cannot be reached
   */
  moveTo(residence: Residence): void {
    this.#residence = residence
    const wish = { ...this.#wish, tried: [] }
    if (this.#routes.homes(wish).length === 0) throw new Problem('conversation_not_found')
    const next = this.#routes.choose(wish)
    if (typeof next === 'string') throw unavailable(next, this.#routes.retryAfterSeconds(wish), residence)
    this.#judge('none')
    this.#goTo(next, 0)
  }

  /**
   * Keeps the call, and all its attempts, where a run waits that it continues.
   *
   * @throws Problem as {@link Route.moveTo} does
   */
  stayAt(residence: Residence): void {
    if (!this.canContinue(residence)) this.moveTo(residence)
    this.#residence = residence
    this.#isPinned = true
  }

  /** Gives the slots back. An attempt that has no verdict yet has none. Does nothing the second time. */
  leave(): void {
    if (this.#isLeft) return
    this.#isLeft = true
    this.#judge('none')
    if (this.#isRepetition) this.#endRepetition()
    this.#state.findings.inFlight -= 1
    this.#routes.giveBack(this, this.#remove)
  }

  get #wish(): Wish {
    return { caller: this.caller, app: this.#app, residence: this.#residence }
  }

  get #key(): string {
    return this.#state.keyOf(this.#app)
  }

  get #keepsNothing(): boolean {
    if (this.#isPinned) return false
    const { agent } = this.deployment
    const context = agent.context
    return context === 'gateway' || context === 'none'
  }

  #mayRepeat({ failure, turn }: FailedAttempt): boolean {
    if (this.#isLeft || this.isLastAttempt || repetitionOf(failure) === 'never') return false
    return turn === 'none' || (turn === 'unknown' && this.#keepsNothing)
  }

  #delayMs({ retryAfterSeconds }: Failure): number | undefined {
    if (retryAfterSeconds !== undefined) {
      const ms = retryAfterSeconds * 1_000
      return ms <= RETRY_AFTER_MS_MAX ? ms : undefined
    }
    return BEFORE_THE_SAME_MS * 2 ** (this.attempts - 1) * (0.5 + this.#routes.random())
  }

  #beginRepetition(): boolean {
    this.#isRepetition ||= this.#routes.beginRepetition()
    return this.#isRepetition
  }

  #endRepetition(): void {
    this.#routes.endRepetition()
    this.#isRepetition = false
  }

  #goTo(next: DeploymentHealth, delayMs: number): { readonly delayMs: number } {
    if (next !== this.#state) {
      this.#state.findings.inFlight -= 1
      next.findings.inFlight += 1
      this.#state = next
      this.deployment = next.deployment
      this.#routes.serveWaiting()
    }
    this.#ticket = next.breaker.begin(this.caller, this.#routes.elapsedMs)
    return { delayMs }
  }

  /** An attempt has one verdict: the first. */
  #judge(verdict: Verdict, failure?: Failure): void {
    const ticket = this.#ticket
    if (ticket === undefined) return
    this.#ticket = undefined
    const { rests, elapsedMs } = this.#routes
    const { id } = this.deployment
    const refused = this.#tellBreaker(verdict, ticket)
    if (verdict === 'credential' || verdict === 'rest') {
      rests.rest(id, this.#key, this.caller.owner, elapsedMs, failure?.retryAfterSeconds)
    } else if (verdict === 'works' && rests.all.size > 0) {
      rests.end(id, this.#key, this.#beganMs)
    }
    if (verdict === 'none' || verdict === 'rest') return
    const hasFailed = verdict === 'failed' || verdict === 'unreachable'
    this.#routes.judged(this.#state, {
      caller: this.caller,
      app: this.#app,
      failure: hasFailed ? failure : undefined,
      refused,
    })
  }

  #tellBreaker(verdict: Verdict, ticket: Ticket): RefusedFromNow {
    const { breaker } = this.#state.findings
    const { elapsedMs, agent } = this.#routes
    const hasFailed = verdict === 'failed' || verdict === 'unreachable'
    const isUnknown = verdict === 'none' || verdict === 'rest'
    if (isUnknown || (hasFailed && !agent.hasBreaker)) breaker.withoutVerdict(ticket)
    else if (verdict === 'unreachable') return breaker.wasUnreachable(ticket, elapsedMs)
    else if (verdict === 'failed') return breaker.failed(ticket, elapsedMs)
    else breaker.succeeded(ticket, elapsedMs)
    return undefined
  }
}

/** The refusal of a call for which there is no deployment. */
export function unavailable(
  noWay: 'down' | 'full',
  retryAfterSeconds: number,
  residence: Residence | undefined,
): Problem {
  if (noWay === 'full') return new Problem('agent_overloaded', { retryAfterSeconds: 1 })
  return new Problem('agent_unavailable', {
    retryAfterSeconds,
    ...(residence !== undefined && { detail: 'this conversation lives on a deployment that is down.' }),
  })
}
