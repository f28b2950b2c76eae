import { setImmediate } from 'node:timers/promises'
import pLimit from 'p-limit'
import { fail } from '#core/errors.ts'
import type { Series } from '#core/reports/reports.ts'
import type { GraphqlContext } from '../context.ts'

/** The most points of reports in one response, which is written in one go. docs/graphql.md has the same number. */
export const POINTS_PER_OPERATION = 10_000

interface Turns {
  points: number
  readonly run: ReturnType<typeof pLimit>
}

const turns = new WeakMap<GraphqlContext, Turns>()

/**
 * The points of a report or of one of its groups. Each list waits for its turn of the event loop, because the executor goes
 * through a list without a pause, and through those of many groups it would take as long as hundreds of calls.
 *
 * @throws Problem `operation_too_large`
 */
export function pointsInTurn(
  { points }: Pick<Series, 'points'>,
  context: GraphqlContext,
): Promise<Series['points'][number][]> {
  const own = turns.get(context) ?? { points: 0, run: pLimit(1) }
  turns.set(context, own)
  own.points += points.length
  if (own.points > POINTS_PER_OPERATION) {
    fail(
      'operation_too_large',
      `operation: could return more than ${POINTS_PER_OPERATION} points; ask for fewer groups (first), a shorter range or longer buckets.`,
    )
  }
  return own.run(async () => {
    await setImmediate()
    return [...points]
  })
}
