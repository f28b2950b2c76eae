import { sleep } from '#core/base/async/sleep.ts'
import { fail, Problem } from '#core/base/errors/errors.ts'
import type { Call, ContinuedConversation } from '#core/calls/request/call.ts'
import type { EarlierCallName } from '#core/calls/request/chat-request.ts'
import type { Sql } from '#core/database/database.ts'
import { identityInSql } from '#core/ledger/listed-conversations-sql.ts'
import type { DerivedIds } from './derived-ids.ts'

export interface ContinuationDeps {
  readonly sql: Sql
  readonly derivedIds: DerivedIds
}

/**
 * Finds the conversation of earlier calls, which goes on after the last of them; the others must belong to it. It is known
 * from the admission of that call on, at every replica. Only its owner, end user, agent and app continue it, and only after
 * its latest call, since no platform can answer from an older state. Where the gateway keeps the turns, they are that state:
 * a call that kept none cannot be continued, and makes no earlier one older. So a client may still refer to the answer before
 * while it works through calls of functions.
 *
 * Before its admission a call does not know of others that continue the same one at once, so it asks a second time after it:
 * all of them then see each other, the first one waits, and the others give way.
 *
 * @param admittedAs - the id of the call after its admission
 * @returns the client's id of the conversation
 * @throws Problem `previous_response_not_found`, `conversation_busy`; `invalid_request` if the call names another conversation as well
 */
export async function continuedConversation(
  { sql, derivedIds }: ContinuationDeps,
  call: Call,
  ownerId: string,
  { after, id: named }: ContinuedConversation,
  admittedAs?: string,
): Promise<string> {
  const { callId, field } = last(after)
  const { agent } = call
  const context = agent.context
  const isKeptHere = context === 'gateway'
  const scope = [ownerId, agent.id, call.ledgerApp, call.endUser]
  const refuse = (detail: string) => fail('previous_response_not_found', { field, detail })
  const row = await lookUntilSettled(sql, [callId, ...scope, admittedAs ?? null], isKeptHere)
  if (row === undefined && context === 'none') return refuse(remembersNothing(agent.id))
  if (row?.is_deleted) return refuse('its conversation was deleted.')
  if (row === undefined) return refuse('expected the id of a response to this user, from the same model.')
  // Its question was told, whether or not its process lived to settle the call.
  if (row.is_waiting) return row.conversation
  if (row.has_failed) return refuse('this response failed; expected the one before it.')
  if (row.is_older && !isKeptHere) return refuse(GONE_ON)
  if (named !== '' && named !== row.conversation) {
    fail('invalid_request', {
      field,
      detail: 'expected a response of the conversation that the request names.',
    })
  }
  await requireSameConversation(sql, [...scope, row.conversation], after)
  if (isKeptHere) {
    const { conversation, generation } = row
    const name = { ownerId, endUser: call.endUser, agent: agent.id, app: call.ledgerApp, conversation }
    const key = derivedIds.conversationKey({ ...name, generation })
    const turns = await sql.query<{ readonly id: string }>(FIND_TURNS, [key, callId])
    if (!turns.some(({ id }) => id === callId))
      return refuse('this response was not stored; expected the whole conversation as input.')
    if (turns.length > 1) return refuse(GONE_ON)
  }
  return row.conversation
}

/**
 * A call that has ended is settled a moment after its client knows. The call itself may go on at once, or have failed; a
 * later one may be repeated at once because it has failed.
 */
async function lookUntilSettled(
  sql: Sql,
  values: readonly unknown[],
  isKeptHere: boolean,
): Promise<EarlierCall | undefined> {
  for (const waitMs of LOOK_AGAIN_MS) {
    const [row] = await sql.query<EarlierCall>(FIND, values)
    if (row === undefined || row.is_waiting || (row.is_older && !isKeptHere)) return row
    if (!row.is_open && !row.is_running) return row
    if (row.is_second) break
    await sleep(waitMs)
  }
  throw new Problem('conversation_busy')
}

async function requireSameConversation(
  sql: Sql,
  scope: readonly unknown[],
  continued: readonly EarlierCallName[],
): Promise<void> {
  const named = new Map(continued.map(({ callId, field }) => [callId, field]))
  if (named.size < 2) return
  const found = await sql.query<{ readonly id: string }>(FIND_OTHERS, [
    ...scope,
    JSON.stringify([...named.keys()]),
  ])
  for (const { id } of found) named.delete(id)
  for (const [, field] of named) {
    fail('previous_response_not_found', { field, detail: 'expected a response of the same conversation.' })
  }
}

function last(continued: readonly EarlierCallName[]): EarlierCallName {
  const found = continued.at(-1)
  if (found === undefined) throw new Error('no earlier call to continue')
  return found
}

/** An agent without conversations is continued where a run waits, and nowhere else. */
export function remembersNothing(agent: string): string {
  return `agent ${agent} remembers nothing; expected the whole conversation as input.`
}

const GONE_ON = 'the conversation has gone on since this response; expected its latest one.'
/** Settlements are written every 20 ms or so. */
const LOOK_AGAIN_MS = [20, 30, 50, 100, 200, 400, 600, 600]

interface EarlierCall {
  readonly conversation: string
  /** Whether the call still runs, or is being settled. */
  readonly is_open: boolean
  readonly has_failed: boolean
  /** Whether its run waits for the answer. */
  readonly is_waiting: boolean
  readonly is_older: boolean
  /** Whether a later call of the conversation is open. */
  readonly is_running: boolean
  /** Whether such a call was there before this one. */
  readonly is_second: boolean
  readonly generation: number
  /** Whether the conversation was deleted since. */
  readonly is_deleted: boolean
}

/** `$1` call, `$2` owner, `$3` agent, `$4` app, `$5` end user, `$6` the call that asks, once it has been admitted. */
const FIND = `
SELECT c.conversation, c.outcome IS NULL AS is_open, coalesce(c.outcome <> 'done', false) AS has_failed,
  EXISTS (SELECT FROM pauses p WHERE p.id = c.id AND p.claimed_by IS NULL) AS is_waiting,
  coalesce(later.are_done, false) AS is_older, coalesce(later.are_running, false) AS is_running,
  coalesce(later.are_before, false) AS is_second,
  coalesce(g.generation, 0) AS generation, coalesce(c.admitted_at < g.deleted_at, false) AS is_deleted
FROM calls c
LEFT JOIN conversation_generations g ON g.identity = ${identityInSql('c')}
CROSS JOIN LATERAL (
  SELECT bool_or(outcome = 'done') AS are_done, bool_or(outcome IS NULL) AS are_running,
    bool_or(outcome IS NULL AND later.id < $6::uuid) AS are_before
  FROM calls later
  WHERE later.owner_id = c.owner_id AND later.conversation = c.conversation AND later.id > c.id
    AND later.agent = c.agent AND later.app = c.app AND later.end_user = c.end_user
    AND later.id IS DISTINCT FROM $6::uuid
) later
WHERE c.id = $1::uuid AND c.owner_id = $2::uuid AND c.kind = 'chat' AND c.agent = $3 AND c.app = $4 AND c.end_user = $5`

/** `$1` owner, `$2` agent, `$3` app, `$4` end user, `$5` conversation, `$6` calls. */
const FIND_OTHERS = `
SELECT id FROM calls
WHERE id IN (SELECT value::uuid FROM json_array_elements_text($6::json))
  AND owner_id = $1::uuid AND kind = 'chat' AND agent = $2 AND app = $3 AND end_user = $4 AND conversation = $5`

/** The turn of a call, and those after it. */
const FIND_TURNS = 'SELECT id FROM turns WHERE conversation = $1 AND id >= $2::uuid'
