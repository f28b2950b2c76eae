import type { Runtime } from '#core/base/runtime.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import { credentialId, type Principal } from '#core/requests/principal.ts'
import { type EndTurn, OwnerTurns } from './owner-turns.ts'

/**
 * Reads of a few short statements, such as a page of keys or a GraphQL operation. One of them is quick, and a client may
 * have hundreds of them in flight; so each credential has a limit, and an owner that sends many at once gets them answered a
 * few at a time, so that its own other requests wait, and not those of other owners.
 */
export type SmallReads = ReturnType<typeof createSmallReads>

/** Enough for one owner to keep the database busy, and few enough to leave it connections for the calls of others. */
const PER_OWNER = 4
/** A read in a place takes some kilobytes, and each belongs to a connection, whose number is bounded as well. */
const PLACES = { inAll: 10_000, perOwner: 1_000 } as const

/** So that large requests of one owner take at most a third of the time of the event loop. */
const PAUSE_PER_MS = 2
const PAUSE_MS_MAX = 250

export interface SmallReadsDeps {
  readonly limits: Pick<Limits, 'reads'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
}

export function createSmallReads({ limits, runtime }: SmallReadsDeps) {
  const turns = new OwnerTurns({
    atOnce: Number.POSITIVE_INFINITY,
    perOwner: PER_OWNER,
    places: PLACES,
    what: 'requests',
  })
  const large = new OwnerTurns({
    atOnce: Number.POSITIVE_INFINITY,
    perOwner: 1,
    places: PLACES,
    what: 'large requests',
  })
  return {
    /**
     * Takes a point of the caller's limit and waits for its turn. What is returned ends the turn, and must be called.
     *
     * @param signal - aborts when the client is gone
     * @throws Problem `rate_limited`, `unavailable`
     */
    async begin(caller: Principal, onLimit?: OnLimit, signal?: AbortSignal): Promise<EndTurn> {
      await requirePoint(limits.reads, credentialId(caller), onLimit)
      return turns.take({ owner: caller.userId, signal })
    },
    /**
     * Waits for the turn of a request that keeps the event loop busy, whose reads have turns beside this one. It takes no
     * point. The next one of the same owner begins a while after the end, in which others are served.
     *
     * @throws Problem `rate_limited`, `unavailable`
     */
    async beginLarge(caller: Principal, signal?: AbortSignal): Promise<EndTurn> {
      const end = await large.take({ owner: caller.userId, signal })
      const startedMs = runtime.elapsedMs()
      return () => {
        const pauseMs = Math.min((runtime.elapsedMs() - startedMs) * PAUSE_PER_MS, PAUSE_MS_MAX)
        // A timer lasts a millisecond at least.
        if (pauseMs < 1) end()
        else setTimeout(end, pauseMs).unref()
      }
    },
  }
}
