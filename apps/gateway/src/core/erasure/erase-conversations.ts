import pLimit from 'p-limit'
import { Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { type DeleteDeps, eraseConversation } from '#core/conversations/delete-conversation.ts'
import type { Sql } from '#core/database/database.ts'
import type { EndUser } from './erase-ledger.ts'

/** What the platform of an agent did with the conversations of an end user. */
export interface ErasedAtAgent {
  readonly agent: string
  /** Deleted there and here. */
  deleted: number
  /** Deleted here alone, because the platform cannot, has nothing of it, or is not configured any more. */
  unsupported: number
  /** Left for a repetition. */
  remaining: number
  /** Why, as the last one has failed; null where all were deleted, and where only the time was over. */
  reason: string | null
}

export interface EraseConversationsDeps extends DeleteDeps {
  readonly erasures: Sql
  readonly runtime: Pick<Runtime, 'elapsedMs'>
}

/** For one request, so that its client need not wait for minutes; a repetition goes on. */
const WITHIN_MS = 30_000
const ROWS_AT_ONCE = 100
const REQUESTS_AT_ONCE = 4
/** After so many in a row the platform is away, and its other conversations would take as long to fail. */
const FAILURES_MAX = 3

/** Deletes the listed conversations of an end user, at their platforms and here. What fails is counted, and stays listed. */
export async function eraseConversations(
  deps: EraseConversationsDeps,
  { ownerId, endUser }: EndUser,
): Promise<readonly ErasedAtAgent[]> {
  const { erasures, runtime } = deps
  const untilMs = runtime.elapsedMs() + WITHIN_MS
  const agents = new Map<string, ErasedAtAgent & { failures: number }>()
  const limit = pLimit(REQUESTS_AT_ONCE)

  async function erase({ id, agent, app, conversation }: Row): Promise<void> {
    const at = agents.get(agent) ?? newAgent(agent)
    agents.set(agent, at)
    if (at.failures >= FAILURES_MAX || runtime.elapsedMs() > untilMs) {
      at.remaining += 1
      return
    }
    try {
      const { atPlatform } = await eraseConversation(deps, { id, ownerId, endUser, agent, app, conversation })
      at[atPlatform] += 1
      at.failures = 0
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      at.remaining += 1
      at.reason = error.reason
      // A call that has just begun says nothing of the platform.
      if (error.reason !== 'conversation_busy') at.failures += 1
    }
  }

  for (let last = ''; ; ) {
    const rows = await erasures.query<Row>(ROWS, [ownerId, endUser, last, ROWS_AT_ONCE])
    await Promise.all(rows.map((row) => limit(() => erase(row))))
    const end = rows.at(-1)
    if (end === undefined) break
    last = end.id
  }
  return [...agents.values()].map(({ failures: _failures, ...agent }) => agent)
}

const newAgent = (agent: string) => ({
  agent,
  deleted: 0,
  unsupported: 0,
  remaining: 0,
  reason: null,
  failures: 0,
})

interface Row {
  readonly id: string
  readonly agent: string
  readonly app: string
  readonly conversation: string
}

/** `$1` owner, `$2` end user, `$3` the id after which they begin, or nothing, `$4` rows at most. */
const ROWS = `
SELECT id::text, agent, app, conversation FROM listed_conversations
WHERE owner_id = $1::uuid AND end_user = $2 AND ($3 = '' OR id > nullif($3, '')::uuid)
ORDER BY id LIMIT $4`
