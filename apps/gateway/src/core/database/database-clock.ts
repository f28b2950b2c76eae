import type { Runtime } from '#core/runtime.ts'
import type { Sql } from './database.ts'

/**
 * The database's time, for everything that one process writes and others read: times of rows, tokens and their expiry, ids.
 * The clock of a machine may be wrong by days, and all processes share what is written.
 */
export interface DatabaseClock {
  /** The given runtime with the database's time in place of the machine's. Until the first {@link sync} it has the machine's. */
  readonly runtime: Runtime
  /** Asks the database for its time. */
  sync(): Promise<void>
  /** Keeps asking: clocks drift apart, and a machine that slept has missed some time. */
  start(): void
  stop(): void
}

const SYNC_EVERY_MS = 5_000

/** The time is the last one that was asked for and what has passed since, on a clock that only measures durations. */
export function createDatabaseClock(sql: Sql, system: Runtime): DatabaseClock {
  /** The database's time less the machine's elapsed time. */
  let offsetMs: number | undefined
  let timer: NodeJS.Timeout | undefined

  async function sync(): Promise<void> {
    const sentMs = system.elapsedMs()
    const [row] = await sql.query<{ ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    )
    if (row === undefined) throw new Error('the database did not say what time it is')
    // Read at some moment between the two. What is known already moves no further than that demands: a slow answer, which
    // says little, changes little.
    const [least, most] = [row.ms - system.elapsedMs(), row.ms - sentMs]
    offsetMs = offsetMs === undefined ? (least + most) / 2 : Math.min(most, Math.max(least, offsetMs))
  }

  function schedule(): void {
    const again = () => {
      if (timer !== undefined) schedule()
    }
    timer = setTimeout(() => {
      // Without an answer the time goes on as it was.
      sync().then(again, again)
    }, SYNC_EVERY_MS)
    timer.unref()
  }

  const newId = idsAt(system)
  return {
    runtime: {
      ...system,
      now: () => (offsetMs === undefined ? system.now() : new Date(offsetMs + system.elapsedMs())),
      newId: () => (offsetMs === undefined ? system.newId() : newId(offsetMs + system.elapsedMs())),
    },
    sync,
    start() {
      if (timer === undefined) schedule()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** Ids of a given time: lists, turns of a conversation and ranges of the ledger are ordered by them over all processes. */
function idsAt(system: Runtime): (ms: number) => string {
  let prefixMs = Number.NaN
  let prefix = ''
  return (at) => {
    const ms = Math.floor(at)
    // Written once a millisecond: it costs more than the rest of the id.
    if (ms !== prefixMs) {
      const hex = ms.toString(16).padStart(12, '0')
      prefix = `${hex.slice(0, 8)}-${hex.slice(8)}`
      prefixMs = ms
    }
    return prefix + system.newId().slice(prefix.length)
  }
}
