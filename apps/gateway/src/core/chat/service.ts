import pLimit from 'p-limit'
import type { Agent } from '#core/agents/adapter.ts'
import type { ChatEvents } from '#core/agents/events.ts'
import { handled } from '#core/async/handled.ts'
import { InFlight } from '#core/async/in-flight.ts'
import { sleep } from '#core/async/sleep.ts'
import { type Authentication, keyFormatProblem } from '#core/auth/authenticate.ts'
import { type ErrorReason, fail, Problem } from '#core/errors.ts'
import { hashKey } from '#core/keys/key-format.ts'
import type { KeyWatch } from '#core/keys/key-watch.ts'
import type { AdmissionRequest, AdmissionService } from '#core/ledger/admission.ts'
import type { Admitted, Ledger, Settlement } from '#core/ledger/ledger.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'
import { requireKey } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import { OwnerShares } from '#core/sharing/owner-shares.ts'
import { type ChatCall, type Continued, type ResolvedCall, resolveCall } from './chat-call.ts'
import { type ContinuationDeps, continuedConversation } from './continuation.ts'
import { openTurn, type TurnDeps } from './conversation-turn.ts'
import { OpenStreams } from './open-streams.ts'
import { type CancelOutcome, Run, type RunEnd, type RunOptions } from './run.ts'

/** An admitted call in progress. */
export interface Chat {
  readonly callId: string
  /** The id by which the client can continue the conversation. */
  readonly conversationId: string
  /** The model name until the platform reports its own. */
  readonly model: string
  /** Whether the agent is configured to expose its reasoning. */
  readonly reasoning: boolean
  /** Whether the agent gets the parameters of the request, such as its tools. */
  readonly takesParameters: boolean
  /** Whether the agent gets all messages of the request, its instructions included. */
  readonly takesMessages: boolean
  /** Seconds since the epoch. */
  readonly created: number
  readonly events: ChatEvents
}

export interface ChatService {
  /**
   * Admits a call. The request is sent to the agent when the events are read, and the call is settled when it ends.
   *
   * @param onLimit - receives the state of the caller's rate limit, whether or not the call is then rejected
   * @throws Problem if the call is rejected
   */
  start(call: ChatCall, signal: AbortSignal, onLimit: (verdict: LimitVerdict) => void): Promise<Chat>
  /** Rejects new calls, waits for the running ones until the timeout, and then cancels those that are left. */
  drain(timeoutMs: number): Promise<void>
  readonly inFlight: number
}

/** The part of a call that is kept in memory until it ends; it contains none of the call's texts. */
export type CallInFlight = Pick<ResolvedCall, 'requestId' | 'target'>

export interface ChatObserver {
  started(): void
  ended(call: CallInFlight, callId: string, end: RunEnd): void
}

export interface ChatDeps extends TurnDeps, ContinuationDeps {
  readonly agents: ReadonlyMap<string, Agent>
  readonly authenticate: Authentication['authenticate']
  readonly admission: AdmissionService
  readonly keyWatch: KeyWatch
  readonly ledger: Pick<Ledger, 'settle'>
  readonly runtime: Runtime
  readonly observer: ChatObserver
  readonly bounds: ChatBounds
}

/** Limits of one process. */
export interface ChatBounds {
  /** The most calls in progress at once, of which one owner may have all but the last tenth. */
  readonly inFlightMax: number
  /** The most text of one reply, in bytes. */
  readonly streamBytesMax: number
  /** The most open streams of one API key; undefined for no limit. */
  readonly streamsPerKey: number | undefined
}

export function createChatService(deps: ChatDeps): ChatService {
  const { agents, admission, ledger, runtime, observer, bounds, files } = deps
  const running = new InFlight<Run>()
  const openStreams = new OpenStreams(bounds.streamsPerKey)
  const shares = new OwnerShares(bounds.inFlightMax)
  const stopping = new Set<Promise<void>>()
  const inStopTurn = pLimit(STOPS_AT_ONCE)
  let starting = 0
  let isDraining = false
  let whenIdle: (() => void) | undefined

  const checkIdle = () => {
    if (running.size + starting === 0) whenIdle?.()
  }

  function takeShare(ownerId: string): void {
    const refusal = shares.refusalOf(ownerId)
    if (refusal === 'all') fail('unavailable', TOO_MANY_IN_FLIGHT)
    if (refusal === 'share') fail('rate_limited', TOO_MANY_OF_OWNER)
    shares.take(ownerId)
  }

  function begin(call: ResolvedCall, { callId, admitted, open, signal, closeStream }: Beginning): Run {
    const { target, adapter, requestId } = call
    observer.started()
    const run: Run = new Run({
      agent: target,
      adapter,
      upstream: deps.upstream,
      runtime,
      streamBytesMax: bounds.streamBytesMax,
      open,
      onLeave: leave,
      onEnd(end) {
        removeRun()
        closeStream?.()
        shares.giveBack(admitted.ownerId)
        endWatch()
        ledger.settle(settlementOf(callId, end))
        observer.ended({ target, requestId }, callId, end)
        checkIdle()
      },
    })
    const removeRun = running.add(run)
    const endWatch = deps.keyWatch.watch(admitted, (reason) => cancel(run, 'rejected', reason))
    if (signal.aborted) leave(run)
    else signal.addEventListener('abort', () => leave(run), { once: true })
    return run
  }

  function leave(run: Run): void {
    cancel(run, 'client_gone')
  }

  function cancel(run: Run, outcome: CancelOutcome, reason?: ErrorReason): void {
    const stopTurn = outcome === 'rejected' ? inStopTurn : undefined
    const stopped = handled(run.cancel(outcome, reason, stopTurn).finally(() => stopping.delete(stopped)))
    stopping.add(stopped)
  }

  /**
   * The error to return for a call that could not be resolved. The key is checked first, so that callers without a valid one
   * learn nothing about the agents, and the message names only what that key may use.
   */
  async function refusalOf(raw: ChatCall, error: unknown): Promise<unknown> {
    if (!(error instanceof Problem)) return error
    const { allowedAgents } = requireKey(await deps.authenticate(raw.credential, raw.address))
    try {
      resolveCall(agents, raw, files.isIssued, allowedAgents)
      return error
    } catch (refusal) {
      return refusal
    }
  }

  /** The call in the conversation of the earlier ones that it continues. */
  async function inContinued(call: ResolvedCall, continued: readonly Continued[]): Promise<ResolvedCall> {
    const caller = await deps.authenticate(call.credential, call.address)
    requireKey(caller)
    return {
      ...call,
      clientConversationId: await continuedConversation(deps, call, caller.userId, continued),
    }
  }

  return {
    async start(raw, signal, onLimit) {
      let call: ResolvedCall
      try {
        call = resolveCall(agents, raw, files.isIssued)
      } catch (error) {
        throw await refusalOf(raw, error)
      }
      if (isDraining) throw new Problem('draining')
      // Calls whose owner is not known yet do not count, or one owner's burst would refuse the calls of others.
      if (shares.taken >= bounds.inFlightMax) fail('unavailable', TOO_MANY_IN_FLIGHT)
      starting += 1
      let closeStream: (() => void) | undefined
      let shareOf: string | undefined
      try {
        const keyHash = hashKey(call.credential)
        if (call.stream) closeStream = openStreams.open(keyHash)
        const callId = runtime.newId()
        if (call.continued?.length) call = await inContinued(call, call.continued)
        const conversationId = call.clientConversationId || runtime.newId()
        const admitted = await admission.admit(
          admissionOf(call, { callId, keyHash, conversationId }),
          onLimit,
          (ownerId) => {
            takeShare(ownerId)
            shareOf = ownerId
          },
        )
        return {
          callId,
          conversationId,
          model: modelOf(call),
          reasoning: call.target.reasoning,
          takesParameters: call.adapter.context(call.target) === 'gateway',
          takesMessages: call.sendsMessages,
          created: Math.floor(runtime.now().getTime() / 1000),
          events: begin(call, {
            callId,
            admitted,
            open(ending) {
              const enter = () => openTurn(deps, { call, callId, admitted, conversationId, ...ending })
              const { continued = [] } = call
              if (continued.length === 0) return enter()
              return continuedConversation(deps, call, admitted.ownerId, continued, callId).then(enter)
            },
            signal,
            closeStream,
          }),
        }
      } catch (error) {
        closeStream?.()
        if (shareOf !== undefined) shares.giveBack(shareOf)
        throw withForm(error, call.credential)
      } finally {
        starting -= 1
        checkIdle()
      }
    },
    async drain(timeoutMs) {
      isDraining = true
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve
        checkIdle()
      })
      await Promise.race([idle, sleep(timeoutMs)])
      // The process must end in time, also if a platform answers none of the stop requests that others wait for.
      inStopTurn.concurrency = Number.POSITIVE_INFINITY
      for (const run of running.all()) cancel(run, 'drained')
      // Platforms keep generating until they receive a stop request, so these requests are awaited.
      await Promise.all(stopping)
    },
    get inFlight() {
      return running.size
    },
  }
}

/**
 * Replaces `key_unknown` by a more precise error if the credential does not even have the form of a key. This is checked
 * only after the lookup has failed, so that valid calls do not pay for it. Over HTTP such a credential is rejected earlier.
 */
function withForm(error: unknown, credential: string): unknown {
  if (!(error instanceof Problem) || error.reason !== 'key_unknown') return error
  const reason = keyFormatProblem(credential)
  return reason === undefined ? error : new Problem(reason, { cause: error })
}

/** Until the platform names its model: that of the entry, or else what the request calls the agent. */
function modelOf({ adapter, target, app, model, isAgentInModel }: ResolvedCall): string {
  return adapter.modelOf?.({ agent: target, app }) ?? (isAgentInModel && model ? model : target.id)
}

interface Beginning extends Pick<RunOptions, 'open'> {
  readonly callId: string
  readonly admitted: Admitted
  readonly signal: AbortSignal
  readonly closeStream: (() => void) | undefined
}

/**
 * The most stop requests at once for calls that end with their key, of which one suspension may end thousands. Those of
 * clients that leave do not wait behind them.
 */
const STOPS_AT_ONCE = 100

/** The delay is short, because any running call may end at any moment. */
const TOO_MANY_IN_FLIGHT = { detail: 'This gateway serves as many calls as it can.', retryAfterSeconds: 1 }

const TOO_MANY_OF_OWNER = {
  detail: 'The owner of the API key has as many calls in progress as one user may have in this gateway.',
  retryAfterSeconds: 1,
}

function admissionOf(
  call: ResolvedCall,
  { callId, keyHash, conversationId }: { callId: string; keyHash: string; conversationId: string },
): AdmissionRequest {
  return {
    callId,
    keyHash,
    address: call.address,
    requestId: call.requestId,
    kind: 'chat',
    face: call.face,
    agent: call.target.id,
    app: call.ledgerApp,
    endUser: call.endUser,
    conversation: conversationId,
  }
}

function settlementOf(callId: string, end: RunEnd): Settlement {
  const { usage, failure } = end
  return {
    callId,
    outcome: end.outcome,
    durationMs: end.durationMs,
    model: end.model,
    firstChunkMs: end.firstChunkMs,
    promptTokens: usage?.promptTokens,
    completionTokens: usage?.completionTokens,
    totalTokens: usage?.totalTokens,
    reason: failure?.reason,
    platformStatus: failure?.platformStatus,
    platformCode: failure?.platformCode,
    platformLogId: failure?.platformLogId,
  }
}
