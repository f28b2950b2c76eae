import type { Sql } from '#core/database/database.ts'
import { OwnerTurns, type WaitingPlaces } from '#core/limits/sharing/owner-turns.ts'

/** They mostly wait for platforms and for calls that end. */
const ERASURES_AT_ONCE = 4

/**
 * Owners take turns at erasures, one of each at a time, and those that run take turns at their one connection, statement by statement.
 * So neither many erasures of an owner nor a long one keep that of another waiting for longer than a statement.
 */
export function createErasureTurns(connection: Sql, places?: WaitingPlaces) {
  const erasures = new OwnerTurns({
    atOnce: ERASURES_AT_ONCE,
    perOwner: 1,
    what: 'erasures',
    ...(places !== undefined && { places }),
  })
  const statements = new OwnerTurns({ atOnce: 1, what: 'statements of erasures' })
  const sqlOf = (owner: string): Sql => ({
    async query<Row>(text: string, values?: readonly unknown[]) {
      const endTurn = await statements.take({ owner, isContinued: true })
      try {
        return await connection.query<Row>(text, values)
      } finally {
        endTurn()
      }
    },
  })
  return {
    /** @throws Problem `rate_limited`, `unavailable` if an erasure would not get a place, before it counts towards a limit */
    requirePlace: (owner: string): void => erasures.requirePlace({ owner }),
    /** @throws Problem what {@link ErasureTurns.requirePlace} throws */
    async inTurn<Result>(owner: string, erase: (sql: Sql) => Promise<Result>): Promise<Result> {
      const endTurn = await erasures.take({ owner })
      try {
        return await erase(sqlOf(owner))
      } finally {
        endTurn()
      }
    },
  }
}
