import { type WriteObstacle, writeObstacle } from '#core/base/errors/connection-error.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from './database.ts'

const REMEMBERED_MS = 10_000

/**
 * Remembers that the database takes no writes, since the reads by which readiness is checked still succeed. Each kind of writer is
 * remembered by itself: a disk has room for one statement and not for another, and a right may be missing on one table. It is
 * forgotten when a write of the kind succeeds, and after some seconds, so that a process without any writes tries again.
 *
 * @param onChange - called with the first obstacle, and with undefined when everything that had failed has succeeded
 */
export function createWritability(
  runtime: Pick<Runtime, 'elapsedMs'>,
  onChange: (obstacle: WriteObstacle | undefined, error?: unknown) => void,
) {
  const refused = new Map<string, Refused>()

  function failed(writer: string, error: unknown): void {
    const obstacle = writeObstacle(error)
    if (obstacle === undefined) return
    if (refused.size === 0) onChange(obstacle, error)
    refused.set(writer, { obstacle, seenMs: runtime.elapsedMs() })
  }

  function written(writer: string): void {
    if (refused.size === 0) return
    refused.delete(writer)
    // A database is read only for all who write.
    for (const [other, { obstacle }] of refused) if (obstacle === 'read_only') refused.delete(other)
    if (refused.size === 0) onChange(undefined)
  }

  return {
    /** Why the database does not take some writes, or all; undefined if it takes them. */
    get obstacle(): WriteObstacle | undefined {
      if (refused.size === 0) return undefined
      const nowMs = runtime.elapsedMs()
      return [...refused.values()].find(({ seenMs }) => nowMs - seenMs < REMEMBERED_MS)?.obstacle
    },
    failed,
    written,
    /** The same statements, whose results are noted. They must be ones that write. */
    watched(sql: Sql, writer: string): Sql {
      return {
        async query<Row>(text: string, values?: readonly unknown[]) {
          try {
            const rows = await sql.query<Row>(text, values)
            written(writer)
            return rows
          } catch (error) {
            failed(writer, error)
            throw error
          }
        },
      }
    },
  }
}

interface Refused {
  readonly obstacle: WriteObstacle
  readonly seenMs: number
}
