import type { Sql } from '#core/database/database.ts'
import { fail, Problem } from '#core/errors.ts'
import { sleep } from '#core/sleep.ts'
import type { Continued, ResolvedCall } from './chat-call.ts'
import type { DerivedIds } from './derived-ids.ts'

export interface ContinuationDeps {
  readonly sql: Sql
  readonly derivedIds: DerivedIds
}

/**
 * Finds the conversation of an earlier call. It is known from the admission of that call on, at every replica. Only its
 * owner, end user, agent and app continue it, and only after its latest call, since no platform can answer from an older
 * state. Where the gateway keeps the turns, they are that state: a call that kept none cannot be continued, and makes no
 * earlier one older. So a client may still refer to the answer before while it works through calls of functions.
 *
 * @returns the client's id of the conversation
 * @throws Problem `previous_response_not_found`; `invalid_request` if the call names another conversation as well
 */
export async function continuedConversation(
  { sql, derivedIds }: ContinuationDeps,
  call: ResolvedCall,
  ownerId: string,
  { callId, field }: Continued,
): Promise<string> {
  const isKeptHere = call.adapter.context(call.target) === 'gateway'
  const scope = [ownerId, call.target.id, call.ledgerApp, call.endUser]
  const row = await lookUntilSettled(sql, [callId, ...scope], isKeptHere)
  const refuse = (detail: string) => fail('previous_response_not_found', { field, detail })
  if (row === undefined) return refuse('expected the id of a response to this user, from the same model.')
  if (row.has_failed) return refuse('this response failed; expected the one before it.')
  if (row.is_older && !isKeptHere) return refuse(GONE_ON)
  const named = call.clientConversationId
  if (named !== '' && named !== row.conversation) {
    fail('invalid_request', {
      field,
      detail: 'expected a response of the conversation that the request names.',
    })
  }
  if (isKeptHere) {
    const key = derivedIds.conversationKey([
      ...[ownerId, call.endUser, call.target.id, call.ledgerApp],
      row.conversation,
    ])
    const turns = await sql.query<{ readonly id: string }>(FIND_TURNS, [key, callId])
    if (!turns.some(({ id }) => id === callId))
      return refuse('this response was not stored; expected the whole conversation as input.')
    if (turns.length > 1) return refuse(GONE_ON)
  }
  return row.conversation
}

/** A later call that has ended is settled a moment after its client knows, and a client may repeat a failed one at once. */
async function lookUntilSettled(
  sql: Sql,
  values: readonly unknown[],
  isKeptHere: boolean,
): Promise<EarlierCall | undefined> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const [row] = await sql.query<EarlierCall>(FIND, values)
    if (row?.is_running !== true || (row.is_older && !isKeptHere)) return row
    await sleep(LOOK_AGAIN_MS)
  }
  throw new Problem('conversation_busy')
}

const GONE_ON = 'the conversation has gone on since this response; expected its latest one.'
const LOOKS_MAX = 20
const LOOK_AGAIN_MS = 100

interface EarlierCall {
  readonly conversation: string
  readonly has_failed: boolean
  readonly is_older: boolean
  /** Whether a later call of the conversation runs. */
  readonly is_running: boolean
}

/** `$1` call, `$2` owner, `$3` agent, `$4` app, `$5` end user. A call without an outcome still runs, or is being settled. */
const FIND = `
SELECT c.conversation, coalesce(c.outcome <> 'done', false) AS has_failed,
  coalesce(later.are_done, false) AS is_older, coalesce(later.are_running, false) AS is_running
FROM calls c
CROSS JOIN LATERAL (
  SELECT bool_or(outcome = 'done') AS are_done, bool_or(outcome IS NULL) AS are_running
  FROM calls later
  WHERE later.owner_id = c.owner_id AND later.conversation = c.conversation AND later.id > c.id
    AND later.agent = c.agent AND later.app = c.app AND later.end_user = c.end_user
) later
WHERE c.id = $1::uuid AND c.owner_id = $2::uuid AND c.kind = 'chat' AND c.agent = $3 AND c.app = $4 AND c.end_user = $5`

/** The turn of a call, and those after it. */
const FIND_TURNS = 'SELECT id FROM turns WHERE conversation = $1 AND id >= $2::uuid'
