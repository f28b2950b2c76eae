import type { Agent } from '#core/agents/adapter.ts'
import type { ChatEvents } from '#core/agents/events.ts'
import { type Authentication, keyFormatProblem } from '#core/auth/authenticate.ts'
import { fail, Problem } from '#core/errors.ts'
import { handled } from '#core/handled.ts'
import { hashKey } from '#core/keys/key-format.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'
import { requireKey } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import { sleep } from '#core/sleep.ts'
import type { AdmissionRequest, AdmissionService } from '#core/usage/admission.ts'
import type { Ledger, Settlement } from '#core/usage/ledger.ts'
import { type ChatCall, type ResolvedCall, resolveCall } from './chat-call.ts'
import { openTurn, type TurnDeps } from './conversation-turn.ts'
import { InFlight } from './in-flight.ts'
import { OpenStreams } from './open-streams.ts'
import { Run, type RunEnd, type RunOptions } from './run.ts'

/** An admitted call under way. */
export interface Chat {
  readonly callId: string
  /** The conversation as the client can name it from now on. */
  readonly conversationId: string
  /** Until the platform names its model. */
  readonly model: string
  /** Whether the agent lets its reasoning out. */
  readonly reasoning: boolean
  /** Seconds since the epoch. */
  readonly created: number
  readonly events: ChatEvents
}

export interface ChatService {
  /**
   * Admits the call, asks the agent and settles the call at its end. Throws a {@link Problem} where the call is refused.
   * `onLimit` gets where the caller stands in its window, whatever comes of the call.
   */
  start(call: ChatCall, signal: AbortSignal, onLimit: (verdict: LimitVerdict) => void): Promise<Chat>
  /** New calls are refused from now on; the running ones may end until the deadline, then they are cut and stopped. */
  drain(timeoutMs: number): Promise<void>
  readonly inFlight: number
}

/** What is held of a call until its end: no text of it. */
export type CallInFlight = Pick<ResolvedCall, 'requestId' | 'target'>

export interface ChatObserver {
  started(): void
  ended(call: CallInFlight, callId: string, end: RunEnd): void
}

export interface ChatDeps extends TurnDeps {
  readonly agents: ReadonlyMap<string, Agent>
  readonly authenticate: Authentication['authenticate']
  readonly admission: AdmissionService
  readonly ledger: Pick<Ledger, 'settle'>
  readonly runtime: Runtime
  readonly observer: ChatObserver
  readonly bounds: ChatBounds
}

/** What one process carries at once, and how much of one reply. */
export interface ChatBounds {
  readonly inFlightMax: number
  readonly streamBytesMax: number
  /** Undefined: as many as there is room for. */
  readonly streamsPerKey: number | undefined
}

export function createChatService(deps: ChatDeps): ChatService {
  const { agents, admission, ledger, runtime, observer, bounds } = deps
  const running = new InFlight<Run>()
  const openStreams = new OpenStreams(bounds.streamsPerKey)
  const stopping = new Set<Promise<void>>()
  let starting = 0
  let isDraining = false
  let whenIdle: (() => void) | undefined

  const looked = () => {
    if (running.size + starting === 0) whenIdle?.()
  }

  function begin(call: ResolvedCall, { callId, open, signal, closeStream }: Beginning): Run {
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
        ledger.settle(settlementOf(callId, end))
        observer.ended({ target, requestId }, callId, end)
        looked()
      },
    })
    const removeRun = running.add(run)
    if (signal.aborted) leave(run)
    else signal.addEventListener('abort', () => leave(run), { once: true })
    return run
  }

  function leave(run: Run): void {
    cancel(run, 'client_gone')
  }

  function cancel(run: Run, outcome: 'client_gone' | 'drained'): void {
    const stopped = handled(run.cancel(outcome).finally(() => stopping.delete(stopped)))
    stopping.add(stopped)
  }

  /** What the caller may hear of a call that cannot be: nothing without a valid key, and only of what that key may use. */
  async function refusalOf(raw: ChatCall, error: unknown): Promise<unknown> {
    if (!(error instanceof Problem)) return error
    const { allowedAgents } = requireKey(await deps.authenticate(raw.credential, raw.address))
    try {
      resolveCall(agents, raw, allowedAgents)
      return error
    } catch (told) {
      return told
    }
  }

  return {
    async start(raw, signal, onLimit) {
      let call: ResolvedCall
      try {
        call = resolveCall(agents, raw)
      } catch (error) {
        throw await refusalOf(raw, error)
      }
      if (isDraining) throw new Problem('draining')
      if (running.size + starting >= bounds.inFlightMax) fail('unavailable', TOO_MANY_IN_FLIGHT)
      starting += 1
      let closeStream: (() => void) | undefined
      try {
        const keyHash = hashKey(call.credential)
        if (call.stream) closeStream = openStreams.open(keyHash)
        const callId = runtime.newId()
        const conversationId = call.clientConversationId || runtime.newId()
        const admitted = await admission.admit(
          admissionOf(call, { callId, keyHash, conversationId }),
          onLimit,
        )
        return {
          callId,
          conversationId,
          model: call.adapter.modelOf?.({ agent: call.target, app: call.app }) ?? call.target.id,
          reasoning: call.target.reasoning,
          created: Math.floor(runtime.now().getTime() / 1000),
          events: begin(call, {
            callId,
            open: (isOver) => openTurn(deps, { call, callId, admitted, conversationId, isOver }),
            signal,
            closeStream,
          }),
        }
      } catch (error) {
        closeStream?.()
        throw withForm(error, call.credential)
      } finally {
        starting -= 1
        looked()
      }
    },
    async drain(timeoutMs) {
      isDraining = true
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve
        looked()
      })
      await Promise.race([idle, sleep(timeoutMs)])
      for (const run of running.all()) cancel(run, 'drained')
      // Platforms go on with runs that nobody stops.
      await Promise.all(stopping)
    },
    get inFlight() {
      return running.size
    },
  }
}

/**
 * What no key hashes to may be no key at all. That is looked at only here, so that a good call pays nothing for it: HTTP
 * refuses such a credential before the call.
 */
function withForm(error: unknown, credential: string): unknown {
  if (!(error instanceof Problem) || error.reason !== 'key_unknown') return error
  const reason = keyFormatProblem(credential)
  return reason === undefined ? error : new Problem(reason, { cause: error })
}

interface Beginning extends Pick<RunOptions, 'open'> {
  readonly callId: string
  readonly signal: AbortSignal
  readonly closeStream: (() => void) | undefined
}

/** Somebody else's call may end at any moment. */
const TOO_MANY_IN_FLIGHT = { detail: 'This gateway serves as many calls as it can.', retryAfterSeconds: 1 }

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
