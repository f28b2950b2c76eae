import type pg from 'pg'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { isLockTimeout } from '#core/base/errors/connection-error.ts'
import type { ShareState } from './connection-shares.ts'
import type { Sql } from './database.ts'
import { statements } from './pool.ts'

/**
 * Keeps the only connection of a pool, for statements that run one at a time: taking it from the pool for each of them is a third
 * of their cost. It is discarded after every error but a lock that was not free in time, and the next statement opens another.
 */
export function dedicatedSql(pool: pg.Pool): Sql & { state(): ShareState; close(): Promise<void> } {
  const prepared = statements()
  let running = 0
  let current: Promise<pg.PoolClient> | undefined

  function connect(): Promise<pg.PoolClient> {
    const connecting = markRejectionHandled(pool.connect())
    // Without a listener, the loss of an idle connection would end the process.
    connecting.then((client) => client.on('error', () => discard(connecting))).catch(() => undefined)
    return connecting
  }

  function discard(connection: Promise<pg.PoolClient> | undefined): void {
    if (connection === undefined || connection !== current) return
    current = undefined
    connection.then((client) => client.release(true)).catch(() => undefined)
  }

  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      current ??= markRejectionHandled(connect())
      const used = current
      running += 1
      try {
        const { rows } = await (await used).query(prepared(text, values))
        return rows as Row[]
      } catch (error) {
        if (!isLockTimeout(error)) discard(used)
        throw error
      } finally {
        running -= 1
      }
    },
    state: () => ({ inUse: Math.min(running, 1), waiting: Math.max(running - 1, 0), refused: 0 }),
    async close() {
      discard(current)
      await pool.end()
    },
  }
}
