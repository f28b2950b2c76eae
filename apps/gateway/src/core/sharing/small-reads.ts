import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import { credentialId, type Principal } from '#core/principal.ts'
import { type EndTurn, OwnerTurns } from './owner-turns.ts'

/**
 * Reads of a few short statements, such as a page of keys or a GraphQL operation. One of them is quick, and a client may
 * have hundreds of them in flight; so each credential has a limit, and an owner that sends many at once gets them answered a
 * few at a time, so that the others of its own wait and not those of everybody.
 */
export interface SmallReads {
  /**
   * Takes a point of the caller's limit and waits for its turn. What is returned ends the turn, and must be called.
   *
   * @param signal - aborts when the client is gone
   * @throws Problem `rate_limited`, `unavailable`
   */
  begin(caller: Principal, onLimit?: OnLimit, signal?: AbortSignal): Promise<EndTurn>
}

/** Enough for one owner to keep the database busy, and few enough to leave it connections for the calls of others. */
const PER_OWNER = 4
/** A read in a place takes some kilobytes, and each belongs to a connection, whose number is bounded as well. */
const PLACES = { inAll: 10_000, perOwner: 1_000 } as const

export function createSmallReads({ limits }: { readonly limits: Pick<Limits, 'reads'> }): SmallReads {
  const turns = new OwnerTurns({
    ...{ atOnce: Number.POSITIVE_INFINITY, perOwner: PER_OWNER, places: PLACES },
    what: 'requests',
  })
  return {
    async begin(caller, onLimit, signal) {
      await requirePoint(limits.reads, credentialId(caller), onLimit)
      return turns.take({ owner: caller.userId, signal })
    },
  }
}
