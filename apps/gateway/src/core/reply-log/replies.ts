import type { KeyWatch } from '#core/accounts/keys/key-watch.ts'
import { createBatcher } from '#core/base/async/batcher.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { fail, Problem, refuseField } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { AttachedCall } from '#core/ledger/admission-row.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import type { TakeWrite } from '#core/limits/writes.ts'
import { type Principal, requireKey } from '#core/requests/principal.ts'
import { type KeptCall, type KeptCallRef, type KeptEnd, type LogContent, logContentOf } from './kept-call.ts'
import type { KeptForm } from './kept-form.ts'
import { problemOfKept } from './kept-problem.ts'
import type { ReplyToKeep, RunCall } from './kept-run.ts'
import { KeptRuns, type ReplyRunsDeps, type RunsObserver } from './kept-runs.ts'
import { type ReaderBounds, ReaderPlaces } from './reader-places.ts'
import { type FollowEnd, type FollowOptions, ReplyReaders, type WholeReply } from './reply-readers.ts'
import { ReplySpace } from './reply-space.ts'
import type { ReplyStore } from './store/reply-store.ts'
import type { WakeUps } from './wake-ups/wake-ups.ts'

/** A kept reply for one client, who may read it as a stream or as a whole. */
export interface KeptReply {
  readonly call: Pick<KeptCall, 'callId' | 'face' | 'conversation' | 'stream'>
  /** Whether the call had ended when the client sent its request, so that the whole reply is a repetition. */
  readonly isReplay: boolean
  /**
   * Passes on the events of the stream.
   *
   * @throws Problem `invalid_request` for an event after the last one; the failure of the call, if the reader can be refused; that of the reader's key, if it is valid no more
   */
  follow(options: FollowOptions): Promise<FollowEnd>
  /**
   * Waits for the end of the call, and returns its JSON reply as text; undefined if the client has left.
   *
   * @throws Problem the failure of the call, `reply_gone`; that of the reader's key, if it is valid no more
   */
  whole(signal: AbortSignal): Promise<string | undefined>
}

/** The JSON reply of a kept call, or that it is still running. */
export type ReplyNow =
  | { readonly kind: 'running'; readonly call: KeptCall }
  | { readonly kind: 'ended'; readonly call: KeptCall; readonly reply: string }

/**
 * Kept replies, for the API key that made their calls, and for the end user to whom that was bound. For all others there are none:
 * `call_not_found`.
 */
export interface Replies {
  /**
   * The stream of a call. It never starts a run.
   *
   * @param content - what the face can pass on
   * @throws Problem `call_not_found`, `reply_gone`; `invalid_request` if the call requested no stream, or its log has other content
   */
  resume(caller: Principal, ref: KeptCallRef, content: LogContent): Promise<KeptReply>
  /** @throws Problem `call_not_found`, `reply_gone`, and the failure of a call that has failed */
  reply(caller: Principal, ref: KeptCallRef): Promise<ReplyNow>
  /**
   * Deletes the stored reply of a call; that of a running call is not stored any more. Its `Idempotency-Key` stays taken.
   *
   * @throws Problem `call_not_found`, `rate_limited`
   */
  remove(caller: Principal, ref: KeptCallRef, onLimit?: OnLimit): Promise<{ readonly callId: string }>
}

/** What other parts of the life of a call need of kept replies. */
export interface KeptReplies {
  /** Runs an admitted call; its client is the first of its readers. */
  run(
    call: RunCall & KeptReply['call'],
    parts: { readonly reply: ReplyToKeep; readonly form: KeptForm },
  ): KeptReply
  /**
   * The reply of an earlier call for a client that has repeated its request; the repetition is noted in the ledger.
   *
   * @throws Problem `reply_gone`, `unavailable`
   */
  attach(attached: AttachedCall, address?: string): Promise<KeptReply>
  /**
   * Refuses a new kept call of this owner if there is no room for its reply.
   *
   * @throws Problem `unavailable`
   */
  requireRoom(ownerId: string): void
  /**
   * The kept call of the caller's API key, and of the end user to whom the caller is bound.
   *
   * @throws Problem `call_not_found`, `api_key_required`
   */
  find(caller: Principal, ref: KeptCallRef): Promise<KeptCall>
  /** Stops a call whose stop was requested if it runs here, or else lets its process know sooner. */
  stopSoon(callId: string): void
  /** Whether the stop of a running call was requested. False if the database does not answer in time; it is read again later. */
  isStopRequested(callId: string): Promise<boolean>
}

/** What the process does with kept replies without a caller. */
export interface ReplyTasks {
  /** Ends those who read calls of other processes: their clients go on at a process that does not stop. */
  drain(): void
  /** Waits until every end is stored, at most so long, and stores nothing more. */
  close(timeoutMs: number): Promise<void>
}

export interface RepliesDeps {
  readonly store: ReplyStore
  readonly wakeUps: WakeUps
  readonly keyWatch: KeyWatch
  readonly takeWrite: TakeWrite
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  readonly bounds: ReplyRunsDeps['bounds'] & ReaderBounds
  readonly observer: Omit<RunsObserver, 'grown'>
}

/** Before an attempt, a call does not wait longer for a database that hangs. */
const LOOK_WITHIN_MS = 1_500
const COUNT_REPLAYS_EVERY_MS = 50

export function createReplies(deps: RepliesDeps): Replies & KeptReplies & { readonly tasks: ReplyTasks } {
  const { store, wakeUps, keyWatch, bounds } = deps
  const space = new ReplySpace({ store, runtime: deps.runtime, onAnswer: deps.observer.storable })
  const runs = new KeptRuns({ ...deps, observer: { ...deps.observer, grown: () => space.grown() } })
  const readers = new ReplyReaders({ store, wakeUps, runs })
  const places = new ReaderPlaces(bounds)
  const lookForStop = createBatcher<string, boolean>(
    async (callIds) => {
      const stopped = new Set((await store.stopped(callIds)).map(({ callId }) => callId))
      return callIds.map((callId) => stopped.has(callId))
    },
    { sizeMax: 256, isShared: () => true },
  )
  const countReplay = createBatcher<string>(
    async (callIds) => {
      const counts = new Map<string, number>()
      for (const callId of callIds) counts.set(callId, (counts.get(callId) ?? 0) + 1)
      await store.countReplays(counts)
    },
    {
      sizeMax: 1_000,
      isShared: () => true,
      gather: (send) => setTimeout(send, COUNT_REPLAYS_EVERY_MS).unref(),
    },
  )

  let counting: Promise<unknown> = markRejectionHandled(Promise.resolve())

  async function close(timeoutMs: number): Promise<void> {
    await Promise.all([runs.close(timeoutMs), withDeadline(timeoutMs, counting).catch(() => undefined)])
    space.stop()
  }

  async function find(caller: Principal, ref: KeptCallRef): Promise<KeptCall> {
    const { keyId } = requireKey(caller)
    return (await store.find(keyId, ref, caller.endUser)) ?? fail('call_not_found')
  }

  /** Reads as long as the key is valid, in one of the places that readers have. */
  async function asReader<Result>(
    call: KeptCall & { readonly address: string | undefined },
    signal: AbortSignal,
    read: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    places.enter(call)
    const left = new AbortController()
    let refused: Problem | undefined
    const { keyId, ownerId, address } = call
    const endWatch = keyWatch.watch({ keyId, ownerId, address }, (reason) => {
      refused = new Problem(reason)
      left.abort()
    })
    const leave = () => left.abort()
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    try {
      const result = await read(left.signal)
      if (refused !== undefined) throw refused
      return result
    } finally {
      endWatch()
      places.leave(call)
      signal.removeEventListener('abort', leave)
    }
  }

  function replyOf(call: KeptCall, address: string | undefined): KeptReply {
    if (call.isGone) fail('reply_gone')
    return {
      call,
      isReplay: call.end !== undefined,
      async follow(options) {
        if (call.end !== undefined && isBeyond(options.after, call.end)) {
          refuseField(['after'], `is beyond the last event of the stream, which is ${call.end.events}.`)
        }
        return await asReader({ ...call, address }, options.signal, (signal) =>
          readers.follow(call.callId, { ...options, signal }),
        )
      },
      async whole(signal) {
        const text = await asReader({ ...call, address }, signal, async (until) =>
          textOf(await readers.whole(call.callId, until)),
        )
        // The client asks again, at a process that goes on.
        return text === undefined && !signal.aborted ? fail('draining') : text
      },
    }
  }

  return {
    tasks: { drain: () => readers.drain(), close },
    run(call, parts) {
      runs.start(call, parts)
      return {
        call,
        isReplay: false,
        follow: (options) => readers.follow(call.callId, options),
        whole: async (signal) => textOf(await readers.whole(call.callId, signal)),
      }
    },
    async attach({ attachedTo, keyId }, address) {
      const call = await store.find(keyId, { kind: 'call', callId: attachedTo })
      counting = markRejectionHandled(countReplay(attachedTo))
      // An admission that came too late for its own client is taken back, with its key.
      return replyOf(call ?? fail('unavailable', { limit: 'database', retryAfterSeconds: 1 }), address)
    },
    requireRoom: (ownerId) => space.require(ownerId),
    async isStopRequested(callId) {
      try {
        return await withDeadline(LOOK_WITHIN_MS, lookForStop(callId))
      } catch {
        return false
      }
    },
    async resume(caller, ref, content) {
      const call = await find(caller, ref)
      if (!call.stream) refuseField(['callId'], 'did not request a stream; read its reply as a whole.')
      if (logContentOf(call) !== content) refuseField(['callId'], OTHER_CONTENT[content])
      return replyOf(call, caller.origin?.address)
    },
    async reply(caller, ref) {
      const call = await find(caller, ref)
      if (call.isGone) fail('reply_gone')
      if (call.end === undefined) {
        await store.holdReading([call.callId], bounds.graceMs)
        return { kind: 'running', call }
      }
      // A call that has ended has this reply for ever, also where its key is free for another one.
      if (call.end.problem !== undefined) throw problemOfKept({ ...call.end.problem, isFinal: true })
      return { kind: 'ended', call, reply: (await store.reply(call.callId)) ?? fail('reply_gone') }
    },
    find,
    stopSoon(callId) {
      runs.get(callId)?.stop()
      wakeUps.send('stop', [callId])
    },
    async remove(caller, ref, onLimit) {
      const { callId, end } = await find(caller, ref)
      await deps.takeWrite(caller, onLimit)
      await (end === undefined ? store.lose(callId) : store.remove(callId))
      return { callId }
    },
  }
}

/** Why a log cannot be passed on as what is wanted. */
const OTHER_CONTENT: Readonly<Record<LogContent, string>> = {
  events: 'was made over GraphQL; resume it there, by the subscription chatResumed.',
  items: 'was not made over GraphQL; resume its stream over the REST API.',
}

/** The reply of a call whose process died may have had events that were never stored. */
function isBeyond(after: number, { events, outcome }: KeptEnd): boolean {
  return after > events && outcome !== 'interrupted'
}

/** @throws Problem the failure of the call, `reply_gone` */
export function textOf(whole: WholeReply): string | undefined {
  if (whole.kind === 'left') return undefined
  if (whole.kind === 'gone') return fail('reply_gone')
  const { end, reply } = whole
  if (end.problem !== undefined) throw problemOfKept(end.problem)
  return reply ?? fail('reply_gone')
}
