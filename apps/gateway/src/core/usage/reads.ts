import { setTimeout } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Database } from '#core/database/database.ts'
import { fail } from '#core/errors.ts'

/**
 * The way of reports, pages of the ledger and exports to the database. On a server they share two connections of the pool's
 * ten, so that whoever reads much leaves the others to admissions. An embedded database has one connection and answers on
 * the event loop: there, one read runs at a time, in slices.
 */
export interface Reads {
  /** Runs a read when its turn comes. */
  inTurn<Result>(read: () => Promise<Result>): Promise<Result>
  /** How large reads are cut where one statement would keep everybody waiting; undefined on a server. */
  readonly slices: Slices | undefined
}

export interface Slices {
  /** Runs one statement that reads at most so many rows, and then leaves the database to the others for as long as it took. */
  run<Result>(statement: (rowsMax: number) => Promise<Result>): Promise<Result>
}

const READS_AT_ONCE = { embedded: 1, server: 2 } as const

/** A read takes up to seconds: who came after so many others would have left before its turn. */
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
 * No statement may take 200 ms. The size of a slice follows what those before it took; it stays so small that one whose
 * pages are all still on the disk, which takes twenty times as long, keeps within that too.
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
