import type { Agent } from '#core/agents/agent.ts'
import { ERRORS, Problem } from '#core/errors.ts'
import { hashKey } from '#core/keys/key-form.ts'
import type { KeyLimitsReader } from '#core/keys/key-limits.ts'
import { refuseKey } from '#core/keys/refused-keys.ts'
import type { Limits, LimitVerdict } from '#core/limits/limits.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Admitted, Ledger, Settlement } from '#core/usage/ledger.ts'
import { type ChatCall, type ResolvedCall, resolveCall } from './chat-call.ts'
import type { ChatEvents } from './events.ts'
import { Roster } from './roster.ts'
import { Run, type RunEnd, type RunOptions } from './run.ts'
import { openSession, type SessionDeps } from './session.ts'

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
   * Limit → admit → agent → settle. Throws a {@link Problem} where the call is refused.
   * `onLimit` hears where the caller stands in its window, whatever comes of the call.
   */
  start(call: ChatCall, signal: AbortSignal, onLimit: (verdict: LimitVerdict) => void): Promise<Chat>
  /** New calls are refused from now on; the running ones may end until the deadline, then they are cut and stopped. */
  drain(timeoutMs: number): Promise<void>
  readonly inFlight: number
}

export interface ChatObserver {
  started(): void
  ended(call: ResolvedCall, callId: string, end: RunEnd): void
}

export interface ChatDeps extends SessionDeps {
  readonly agents: ReadonlyMap<string, Agent>
  readonly limits: Limits
  readonly keyLimits: KeyLimitsReader
  readonly ledger: Ledger
  readonly runtime: Runtime
  readonly observer: ChatObserver
}

export function createChatService(deps: ChatDeps): ChatService {
  const { agents, ledger, runtime, observer } = deps
  const running = new Roster<Run>()
  const stopping = new Set<Promise<void>>()
  let starting = 0
  let isDraining = false
  let whenIdle: (() => void) | undefined

  const looked = () => {
    if (running.size + starting === 0) whenIdle?.()
  }

  function begin(call: ResolvedCall, callId: string, open: RunOptions['open'], signal: AbortSignal): Run {
    observer.started()
    const run: Run = new Run({
      agent: call.target,
      adapter: call.adapter,
      upstream: deps.upstream,
      runtime,
      open,
      onEnd(end) {
        leave()
        ledger.settle(settlementOf(callId, end))
        observer.ended(call, callId, end)
        looked()
      },
    })
    const leave = running.add(run)
    if (signal.aborted) cancel(run, 'client_gone')
    else signal.addEventListener('abort', () => cancel(run, 'client_gone'), { once: true })
    return run
  }

  function cancel(run: Run, outcome: 'client_gone' | 'drained'): void {
    const stopped = run.cancel(outcome).finally(() => stopping.delete(stopped))
    stopping.add(stopped)
  }

  async function start(
    call: ResolvedCall,
    signal: AbortSignal,
    onLimit: (verdict: LimitVerdict) => void,
  ): Promise<Chat> {
    const keyHash = hashKey(call.credential)
    await takeLimit(deps, call, keyHash, onLimit)
    const callId = runtime.newId()
    const conversationId = call.clientConversationId || runtime.newId()
    const admitted = await admit(deps, call, { callId, keyHash, conversationId })
    return {
      callId,
      conversationId,
      model: call.app?.model ?? call.target.model ?? call.target.id,
      reasoning: call.target.reasoning,
      created: Math.floor(runtime.now().getTime() / 1000),
      events: begin(
        call,
        callId,
        (isOver) => openSession(deps, { call, callId, admitted, conversationId, isOver }),
        signal,
      ),
    }
  }

  return {
    async start(raw, signal, onLimit) {
      const call = resolveCall(agents, raw)
      if (isDraining) throw new Problem('draining')
      starting += 1
      try {
        return await start(call, signal, onLimit)
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
      const deadline = new Promise<void>((resolve) => {
        setTimeout(resolve, timeoutMs).unref()
      })
      await Promise.race([idle, deadline])
      for (const run of running.all()) cancel(run, 'drained')
      // Platforms go on with runs that nobody stops.
      await Promise.all(stopping)
    },
    get inFlight() {
      return running.size
    },
  }
}

/** The limiter stands in front of the database, keyed by the key's hash; an unknown key has no limit to be counted on. */
async function takeLimit(
  { keyLimits, limits }: ChatDeps,
  call: ChatCall,
  keyHash: string,
  onLimit: (verdict: LimitVerdict) => void,
): Promise<void> {
  const own = await keyLimits(keyHash)
  if (own === undefined) return refuseKey(limits, call.address, new Problem('key_unknown'))
  const verdict = await limits.chat.take(keyHash, own.chatPerMinute)
  onLimit(verdict)
  if (!verdict.allowed) throw new Problem('rate_limited', { retryAfterSeconds: verdict.resetSeconds })
}

async function admit(
  { ledger, limits }: ChatDeps,
  call: ResolvedCall,
  ids: { callId: string; keyHash: string; conversationId: string },
): Promise<Admitted> {
  try {
    return await ledger.admit({
      ...ids,
      requestId: call.requestId,
      permission: 'chat',
      kind: 'chat',
      face: call.face,
      agent: call.target.id,
      app: call.ledgerApp,
      endUser: call.endUser,
      conversation: ids.conversationId,
    })
  } catch (error) {
    if (error instanceof Problem && ERRORS[error.reason].status === 401) {
      return refuseKey(limits, call.address, error)
    }
    throw error
  }
}

function settlementOf(callId: string, { outcome, failure, usage, ...end }: RunEnd): Settlement {
  return {
    callId,
    outcome,
    durationMs: end.durationMs,
    ...(end.model !== undefined && { model: end.model }),
    ...(end.firstChunkMs !== undefined && { firstChunkMs: end.firstChunkMs }),
    ...usage,
    ...(failure !== undefined && {
      reason: failure.reason,
      ...(failure.platformStatus !== undefined && { platformStatus: failure.platformStatus }),
      ...(failure.platformCode !== undefined && { platformCode: failure.platformCode }),
      ...(failure.platformLogId !== undefined && { platformLogId: failure.platformLogId }),
    }),
  }
}
