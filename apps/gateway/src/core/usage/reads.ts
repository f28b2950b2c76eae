import { setTimeout } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Database } from '#core/database/database.ts'
import { fail } from '#core/errors.ts'

/**
 * Schedules the large reads: reports, pages of the ledger and exports. On a server at most two of them run at a time, so that
 * they leave the other connections of the pool to short statements. An embedded database has one connection and runs on the
 * event loop; there, one read runs at a time, in slices.
 */
export interface Reads {
  /**
   * Runs a read when its turn comes.
   *
   * @throws Problem `unavailable` if too many reads are waiting
   */
  inTurn<Result>(read: () => Promise<Result>): Promise<Result>
  /** Splits large reads on an embedded database, where a long statement would block the process; undefined on a server. */
  readonly slices: Slices | undefined
}

export interface Slices {
  /**
   * Runs one statement, which must read at most `rowsMax` rows, and then leaves the database to other statements for as long
   * as it took.
   */
  run<Result>(statement: (rowsMax: number) => Promise<Result>): Promise<Result>
}

const READS_AT_ONCE = { embedded: 1, server: 2 } as const

/** A read can take seconds, so a client behind this many others would have given up before its turn. */
const WAITING_MAX = 200

export function createReads(
  kind: Database['kind'],
  { waitingMax = WAITING_MAX, elapsedMs = () => performance.now() } = {},
): Reads {
  const limit = pLimit(READS_AT_ONCE[kind])
  let reading = 0
  return {
    slices: kind === 'embedded' ? createSlices(elapsedMs) : undefined,
    async inTurn(read) {
      if (reading >= READS_AT_ONCE[kind] + waitingMax) {
        fail('unavailable', { detail: 'Too many reports are waiting.', retryAfterSeconds: 1 })
      }
      reading += 1
      try {
        return await limit(read)
      } finally {
        reading -= 1
      }
    },
  }
}

/**
 * The target for one slice. No statement on an embedded database may take 200 ms. The size of a slice adapts to the time that
 * the previous ones took, and is bounded so that a slice whose pages must all be read from disk, which takes twenty times as
 * long, stays below that as well.
 */
const SLICE_MS = 40
const ROWS_MIN = 10
const ROWS_MAX = 1_000

function createSlices(elapsedMs: () => number): Slices {
  let rows = 50
  return {
    async run(statement) {
      const startedMs = elapsedMs()
      const result = await statement(rows)
      const tookMs = elapsedMs() - startedMs
      if (tookMs > SLICE_MS) rows = Math.max(ROWS_MIN, Math.floor(rows / 2))
      else if (tookMs < SLICE_MS / 2) rows = Math.min(ROWS_MAX, rows * 2)
      await setTimeout(Math.min(tookMs, SLICE_MS))
      return result
    },
  }
}
