import { setTimeout as pause } from 'node:timers/promises'
import { ClientGone } from '#core/base/errors/client-gone.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { Database } from '#core/database/database.ts'
import { type Asking, OwnerTurns, type WaitingPlaces } from './owner-turns.ts'

/**
 * Schedules the large reads: reports, pages of the ledger and exports, and beside them searches of keys and users. On a
 * server at most two of them run at a time, so that they leave the other connections of the pool to short statements, and
 * one of each owner: a filter that matches no call reads the whole ledger, and two of these would keep everybody waiting
 * until the statement limit. An embedded database has one session, in a thread of its own, and every other statement waits
 * while one runs; there, one read runs at a time, in slices. Owners take turns, so that many reads of one of them delay those
 * of another by one.
 */
export interface Reads {
  /**
   * Runs a read when its turn comes. On an embedded database, where a long statement would keep calls waiting, it is given
   * slices into which it splits what is large (in-slices.ts); on a server, undefined.
   *
   * @throws Problem `rate_limited` if too many reads of the owner are waiting, `unavailable` if too many of all are
   */
  inTurn<Result>(asking: Asking, read: (slices: Slices | undefined) => Promise<Result>): Promise<Result>
  /**
   * Refuses a read that would not get a place, before it counts towards a limit.
   *
   * @throws Problem what {@link Reads.inTurn} throws
   */
  requirePlace(asking: Asking): void
}

export interface Slices {
  /**
   * Runs one statement, which must read at most `rowsMax` rows, and then leaves the database to other statements for as long
   * as it took.
   *
   * @throws Problem `unavailable` if the read has taken too long; `invalid_request` if the client is gone
   */
  run<Result>(statement: (rowsMax: number) => Promise<Result>): Promise<Result>
}

const READS_AT_ONCE = { embedded: 1, server: 2 } as const

/** Behind a read that takes longer, such as a search of a very large ledger, the requests that wait for their turn would time out. */
export const READ_MS_MAX = 20_000
const TOO_LONG = {
  detail: 'The search or report takes too long. Where it has a range of time, a shorter one takes less.',
  limit: 'search_time',
} as const

/** A turn stays free for as long as it was used, at most for this time. */
const PAUSE_MS_MAX = 40

export interface ReadsOptions {
  readonly places?: WaitingPlaces | undefined
  /** What is read, as it is called in error messages. */
  readonly what?: string
  /** How many run at a time on a server; two by default. */
  readonly atOnce?: number
  readonly elapsedMs?: () => number
}

export function createReads(
  kind: Database['kind'],
  {
    places,
    what = 'reports and pages of calls',
    atOnce = READS_AT_ONCE.server,
    elapsedMs = () => performance.now(),
  }: ReadsOptions = {},
): Reads {
  const turns = new OwnerTurns({
    atOnce: kind === 'embedded' ? READS_AT_ONCE.embedded : atOnce,
    perOwner: 1,
    what,
    ...(places !== undefined && { places }),
  })
  const slices = kind === 'embedded' ? createSlices(elapsedMs) : undefined
  const slicesOf = ({ signal }: Asking, startedMs: number): Slices | undefined =>
    slices && {
      run(statement) {
        if (signal?.aborted === true) throw new ClientGone()
        if (elapsedMs() - startedMs > READ_MS_MAX) fail('unavailable', TOO_LONG)
        return slices.run(statement)
      },
    }
  return {
    async inTurn(asking, read) {
      const endTurn = await turns.take(asking)
      const startedMs = elapsedMs()
      try {
        return await read(slicesOf(asking, startedMs))
      } finally {
        // What was read is now written, which takes the event loop, and chats wait behind it and behind the next read.
        const pauseMs = Math.min(elapsedMs() - startedMs, PAUSE_MS_MAX)
        if (pauseMs < 1) endTurn()
        else setTimeout(endTurn, pauseMs)
      }
    },
    requirePlace: (asking) => turns.requirePlace(asking),
  }
}

/**
 * The target for one slice. No statement on an embedded database may take 200 ms. The size of a slice adapts to the time that
 * the previous ones took, and is bounded so that a slice whose pages must all be read from disk, which takes twenty times as
 * long, stays below that as well.
 */
const SLICE_MS = 40
/** Below this, a slice takes what a statement costs by itself, and a search of a large table on a busy machine would not end. */
const ROWS_MIN = 200
const ROWS_MAX = 1_000

function createSlices(elapsedMs: () => number): Slices {
  let rows = ROWS_MIN
  return {
    async run(statement) {
      const startedMs = elapsedMs()
      const result = await statement(rows)
      const tookMs = elapsedMs() - startedMs
      if (tookMs > SLICE_MS) rows = Math.max(ROWS_MIN, Math.floor(rows / 2))
      else if (tookMs < SLICE_MS / 2) rows = Math.min(ROWS_MAX, rows * 2)
      await pause(Math.min(tookMs, SLICE_MS))
      return result
    },
  }
}
