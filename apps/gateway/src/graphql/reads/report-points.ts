import { setImmediate } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'
import { fail } from '#core/base/errors/errors.ts'

/** The most points of reports and counts of refusals in one response, which is written in one go. docs/graphql.md has the same number. */
export const POINTS_PER_OPERATION = 10_000

/** The points of the reports of one operation, and its counts of refusals: counts them, and lets the lists of them take turns. */
export class ReportPoints {
  #takeTurn: LimitFunction | undefined
  #count = 0

  /**
   * The points of a report or of one of its groups, or counts of refusals. Each list waits for its turn of the event loop, because the executor
   * goes through a list without a pause, and through those of many groups it would take as long as hundreds of calls.
   *
   * @throws Problem `operation_too_large`
   */
  inTurn<Point>({ points }: { readonly points: readonly Point[] }): Promise<Point[]> {
    this.#count += points.length
    if (this.#count > POINTS_PER_OPERATION) {
      const detail = `operation: could return more than ${POINTS_PER_OPERATION} points; ask for fewer groups (first), a shorter range or longer buckets.`
      const cost = { requested: `more than ${POINTS_PER_OPERATION}`, allowed: POINTS_PER_OPERATION } as const
      fail('operation_too_large', { detail, cost })
    }
    // Made with the first list, because most operations, such as the open stream of a chat, have none.
    this.#takeTurn ??= pLimit(1)
    return this.#takeTurn(async () => {
      await setImmediate()
      return [...points]
    })
  }
}
