import type { AgentApp } from '#core/agents/adapter.ts'
import type { Caller } from '#core/agents/deployments/caller.ts'
import type { RefusedFromNow } from '#core/agents/deployments/caller-breakers.ts'
import { type Candidate, choose } from '#core/agents/deployments/choose.ts'
import { CredentialRests } from '#core/agents/deployments/credential-rests.ts'
import { FairQueue } from '#core/agents/deployments/fair-queue.ts'
import type { AgentLoad } from '#core/agents/deployments/load.ts'
import type { Failure } from '#core/agents/events.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import { InFlight } from '#core/base/async/in-flight.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { DeploymentHealth } from './deployment-health.ts'
import { homesOf, type Residence } from './residence.ts'
import { type HeldSlots, type HoldingCall, SlotBounds } from './slot-bounds.ts'

/** What a call is given to choose from. */
export interface Wish {
  readonly caller: Caller
  readonly app: AgentApp | undefined
  /** Where the conversation of the call lives; undefined if it may live anywhere. */
  readonly residence: Residence | undefined
  /** Deployments that have been tried. */
  readonly tried?: readonly DeploymentHealth[]
  /** Credentials that have been refused. */
  readonly refusedKeys?: readonly string[]
}

/** How an attempt has ended. */
export interface Judged {
  readonly caller: Caller
  readonly app: AgentApp | undefined
  /** Undefined if the deployment works. */
  readonly failure: Failure | undefined
  readonly refused: RefusedFromNow
}

/** Why no deployment can be chosen: all of them are down for the caller, or those that work have no free slot. */
export type NoWay = 'down' | 'full'

export interface AgentRoutesDeps {
  readonly agent: ServedAgent
  readonly runtime: Pick<Runtime, 'elapsedMs' | 'now'>
  readonly random: () => number
  /** Asks a deployment whose breaker is open whether it answers again, with the key of the app. */
  readonly probe: (state: DeploymentHealth, app: AgentApp | undefined) => void
  /** A breaker has opened or closed. */
  readonly changed: (deployment: string, breaker: 'closed' | 'open', failure: Failure | undefined) => void
  /** The calls of an owner are refused at a deployment that serves others. */
  readonly ownerRefused: (deployment: string, ownerId: string, failure: Failure | undefined) => void
}

const WITHOUT_QUEUE = 0
/** So many calls may be repetitions whatever the number of calls. */
const REPETITIONS_MIN = 3
const REPETITIONS_SHARE = 0.2

/** What one process knows of an agent: its deployments, and the calls that hold its slots or wait for them. */
export class AgentRoutes {
  readonly agent: ServedAgent
  readonly queue: FairQueue
  readonly rests: CredentialRests
  readonly held: HeldSlots
  readonly #deps: AgentRoutesDeps
  readonly #states: readonly DeploymentHealth[]
  /** The only deployment, which saves most agents the choice. */
  readonly #only: DeploymentHealth | undefined
  #repetitions = 0

  /**
   * @param predecessor - the agent of this id before the configuration was changed, whose calls go on: both share slots, queue and
   * what is known of the servers
   */
  constructor(deps: AgentRoutesDeps, predecessor?: AgentRoutes) {
    const { agent, random } = deps
    this.#deps = deps
    this.agent = agent
    this.queue = predecessor?.queue ?? new FairQueue()
    this.held = predecessor?.held ?? { calls: new InFlight(), bounds: undefined }
    this.rests = predecessor?.rests ?? new CredentialRests()
    this.#states = agent.deployments.map((each) => {
      const before = predecessor
        ?.homes({ residence: undefined })
        .find(({ deployment }) => deployment.id === each.id)
      const state = new DeploymentHealth(each, random, before)
      if (before !== undefined && before.findings !== state.findings) this.rests.forget(each.id)
      return state
    })
    this.#only = this.#states.length === 1 ? this.#states[0] : undefined
  }

  /** The bounds of this agent hold from now on, also for the calls of its predecessor. */
  holdBounds(): void {
    const { concurrency } = this.agent
    this.queue.max = concurrency?.queue ?? WITHOUT_QUEUE
    this.held.bounds = concurrency && new SlotBounds(concurrency, this.held.calls)
  }

  get elapsedMs(): number {
    return this.#deps.runtime.elapsedMs()
  }

  get random(): () => number {
    return this.#deps.random
  }

  /** The deployments that may answer a call, whether or not they can. Empty if its conversation lives nowhere any more. */
  homes({ residence }: Pick<Wish, 'residence'>): readonly DeploymentHealth[] {
    if (residence === undefined) return this.#states
    const homes = homesOf(this.agent, residence)
    return this.#states.filter(({ deployment }) => homes.includes(deployment))
  }

  /** Chooses a deployment, which does not take its slot yet. */
  choose(wish: Wish): DeploymentHealth | NoWay {
    const nowMs = this.elapsedMs
    if (this.#only !== undefined && wish.tried === undefined && wish.residence === undefined)
      return this.#judge(this.#only, wish.caller, nowMs)
    let isFull = false
    const candidates: (Candidate & { readonly state: DeploymentHealth })[] = []
    for (const state of this.homes(wish)) {
      const { deployment } = state
      const { inFlight } = state.findings
      const isNew = wish.residence === undefined
      if (isNew && deployment.weight === 0) continue
      if (wish.tried?.includes(state) || wish.refusedKeys?.includes(state.keyOf(wish.app))) continue
      const judged = this.#judge(state, wish.caller, nowMs)
      if (judged === 'full') isFull = true
      if (typeof judged === 'string') continue
      candidates.push({
        state,
        weight: isNew ? deployment.weight : Math.max(1, deployment.weight),
        // What has the conversation itself is nearer than what shares its state.
        priority: deployment.id === wish.residence?.deployment ? -1 : deployment.priority,
        inFlight,
        restsUntilMs: this.rests.restUntil(deployment.id, state.keyOf(wish.app), wish.caller.owner, nowMs),
      })
    }
    return choose(candidates, this.#deps.random)?.state ?? (isFull ? 'full' : 'down')
  }

  /** How long a caller should wait who finds all deployments down, of which there is one at least. */
  retryAfterSeconds(wish: Wish): number {
    const nowMs = this.elapsedMs
    const waits = this.homes(wish).map(({ breaker }) => breaker.retryAfterMs(wish.caller, nowMs))
    return Math.ceil(Math.min(...waits) / 1_000)
  }

  /** Takes a slot of the agent, of which the caller has made sure that there is one. */
  take(call: HoldingCall): () => void {
    this.held.bounds?.count(call, 1)
    return this.held.calls.add(call)
  }

  /** @param remove - what {@link AgentRoutes.take} has returned */
  giveBack(call: HoldingCall, remove: () => void): void {
    remove()
    this.held.bounds?.count(call, -1)
    if (this.queue.size > 0) this.serveWaiting()
  }

  /** Lets calls go on that can, since a slot has become free or a deployment may be tried again. */
  serveWaiting(): void {
    this.queue.serve((caller) => this.held.bounds?.hasRoom(caller) !== false)
  }

  /** Takes one of the repetitions that may run at once; false if there is none left. */
  beginRepetition(): boolean {
    if (this.#repetitions >= Math.max(REPETITIONS_MIN, REPETITIONS_SHARE * this.held.calls.size)) return false
    this.#repetitions += 1
    return true
  }

  endRepetition(): void {
    this.#repetitions -= 1
  }

  load(): AgentLoad {
    const nowMs = this.elapsedMs
    return {
      agent: this.agent.id,
      inFlight: this.held.calls.size,
      waiting: this.queue.size,
      deployments: this.#states.map((state) => state.load(nowMs)),
    }
  }

  /** Asks the deployments that do not work, also while nobody calls. Returns whether there are some. */
  probeOpen(): boolean {
    const nowMs = this.elapsedMs
    const open = this.#states.filter(({ findings }) => findings.wasOpen)
    for (const state of open)
      if (state.breaker.isProbeDue(nowMs)) this.#deps.probe(state, state.findings.failedApp)
    return open.length > 0
  }

  /** An attempt has shown whether its deployment works. */
  judged(state: DeploymentHealth, { caller, app, failure, refused }: Judged): void {
    const { id } = state.deployment
    const { findings } = state
    const isOpen = state.breaker.state !== 'closed'
    if (failure !== undefined) findings.failedApp = app
    if (isOpen !== findings.wasOpen) {
      findings.wasOpen = isOpen
      const reason = failure?.reason ?? 'agent_error'
      findings.opened = isOpen ? { at: this.#deps.runtime.now().getTime(), reason } : undefined
      this.#deps.changed(id, isOpen ? 'open' : 'closed', failure)
    }
    if (refused !== undefined && !isOpen) this.#deps.ownerRefused(id, caller.owner, failure)
    // Calls that would be refused now wait in vain, whether or not there are free slots.
    if (refused !== undefined) this.queue.serve()
  }

  #judge(state: DeploymentHealth, caller: Caller, nowMs: number): DeploymentHealth | NoWay {
    if (!state.breaker.mayBegin(caller, nowMs)) {
      if (state.breaker.refused(caller, nowMs)) this.#deps.probe(state, state.findings.failedApp)
      return 'down'
    }
    return state.deployment.max !== undefined && state.isFull ? 'full' : state
  }
}
