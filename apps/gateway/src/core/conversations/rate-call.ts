import { validate } from 'uuid'
import type { Rating } from '#core/agents/adapter.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { fail } from '#core/base/errors/errors.ts'
import { RATED } from '#core/ledger/rating-sql.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import { requireOneOf, requireShort } from '#core/requests/input/input-rules.ts'
import type { Principal } from '#core/requests/principal.ts'
import { Prisma, type PrismaClient } from '#generated/prisma/client.ts'
import { type AtPlatform, type PassedOn, passOn } from './at-platform.ts'
import { visibleInSql } from './conversation-filter.ts'

export const RATINGS = ['up', 'down'] as const

/** What a user thinks of an answer. */
export interface Feedback {
  /** Null takes it back. */
  readonly rating: Rating | null
  readonly text?: string | undefined
}

export interface RatedCall {
  readonly callId: string
  readonly rating: Rating | null
  readonly text: string | null
  /** Whether the platform has it as well. A failure loses nothing here. */
  readonly passedOn: PassedOn
}

export const FEEDBACK_LENGTH_MAX = 2_000

export interface RateDeps {
  readonly prisma: PrismaClient
  readonly atPlatform: AtPlatform
}

/** @throws Problem `invalid_request` with all mistakes */
export function checkFeedback({ rating, text }: Feedback): void {
  allOf({
    rating: () => requireOneOf(['rating'], RATINGS, rating ?? undefined),
    text: () => (text === undefined ? undefined : requireShort(['text'], text, FEEDBACK_LENGTH_MAX)),
  })
}

/**
 * Keeps with a call what its user thinks of the answer, and passes it on where the platform takes it.
 *
 * @throws Problem `call_not_found` if the call does not exist or the caller may not see its conversation, `invalid_request`
 */
export async function rateCall(
  { prisma, atPlatform }: RateDeps,
  caller: Principal,
  callId: string,
  feedback: Feedback,
): Promise<RatedCall> {
  const visible = visibleInSql(caller)
  checkFeedback(feedback)
  const { rating } = feedback
  // Texts of PostgreSQL can contain neither.
  const text = rating === null ? null : (feedback.text?.replaceAll('\0', '').toWellFormed() ?? null)
  if (!validate(callId)) fail('call_not_found')
  const rate = () => prisma.$queryRaw<CallRow[]>`
    WITH seen AS MATERIALIZED (
      SELECT id, rating AS before FROM calls WHERE id = ${callId}::uuid AND kind = 'chat' AND ${visible} FOR UPDATE
    ), rated AS (
      UPDATE calls c
      SET rating = ${rating}::text, rating_text = ${text}::text, rated_at = CASE WHEN ${rating}::text IS NOT NULL THEN now() END
      FROM seen s WHERE c.id = s.id
      RETURNING c.*, s.before
    )${Prisma.raw(RATED)}
    SELECT owner_id::text, end_user, agent, app, conversation, answer_id, outcome IS NULL AS is_open FROM rated`
  let [call] = await rate()
  // A call that has ended is settled a moment after its client knows.
  for (const waitMs of LOOK_AGAIN_MS) {
    if (!call?.is_open) break
    await sleep(waitMs)
    ;[call] = await rate()
  }
  if (call === undefined) return fail('call_not_found')
  const { owner_id: ownerId, end_user: endUser, agent, app, conversation, answer_id: answerId } = call
  const passedOn = await passOn(async () => {
    if (answerId === null) return undefined
    const { place } = await atPlatform.find({ ownerId, endUser, agent, app, conversation })
    const rated = { answerId, rating, ...(text !== null && { text }) }
    const asking = place?.calls.rate?.(place.conversation, rated)
    return place && asking && { place, call: asking }
  }, atPlatform)
  return { callId, rating, text, passedOn }
}

/** Settlements are written every 20 ms or so. */
const LOOK_AGAIN_MS = [20, 50, 100, 200, 400, 800]

interface CallRow {
  readonly owner_id: string
  readonly end_user: string
  readonly agent: string
  readonly app: string
  readonly conversation: string
  readonly answer_id: string | null
  readonly is_open: boolean
}
