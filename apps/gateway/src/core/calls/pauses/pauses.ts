import { pauseContext, type StoredSecrets } from '#core/accounts/auth/stored-secrets.ts'
import { type OfferedPause, offeredPause, type Pause } from '#core/agents/pause.ts'
import type { Residence } from '#core/calls/routing/residence.ts'
import type { Sql } from '#core/database/database.ts'
import { sweepUnanswered } from './unanswered-pauses.ts'

/** What is kept of a run that waits for its user. */
export interface KeptPause {
  /** What the platform's adapter has read; the first one is offered, and the others after it. */
  readonly pauses: readonly Pause[]
  /** By which the run can be stopped at the platform. */
  readonly runId?: string | undefined
  readonly messageId?: string | undefined
  readonly platformConversationId?: string | undefined
}

/** A pause that no call has claimed. */
export interface OpenPause {
  readonly id: string
  /** The client's id of the conversation. */
  readonly conversation: string
  readonly deployment: string
  readonly state: string
  /** By the clock of the database. */
  readonly isExpired: boolean
  /** Undefined if it was encrypted with a key that is not known any more. */
  readonly kept: KeptPause | undefined
}

/** A row of the table, as far as its question is in it. */
export interface StoredPause {
  readonly id: string
  /** Whether the content is encrypted. */
  readonly sealed: boolean
  readonly content: string
}

/** Whose pause it is. */
export interface PauseHolder {
  /** The call that has paused. */
  readonly callId: string
  readonly ownerId: string
  readonly endUser: string
  readonly agent: string
  readonly app: string
  /** The client's id of the conversation. */
  readonly conversation: string
}

/** The open pauses of all conversations. They are claimed by the admission of the call that answers. */
export interface Pauses {
  /**
   * Keeps the pause with which a call has ended; the one that the call has answered is over then. Resolves when the next call finds
   * it, on any replica.
   */
  keep(holder: PauseHolder, at: Residence, kept: KeptPause): Promise<void>
  /** The pause with this id, which an admission has met; undefined if it is not open any more. */
  find(id: string): Promise<OpenPause | undefined>
  /** What its user may see of a row; undefined if it was encrypted with a key that is not known any more. */
  offered(row: StoredPause): OfferedPause | undefined
  /** Ends the claim of a call: the pause is open again, or over. */
  endClaim(callId: string, as: 'open' | 'over'): Promise<void>
  /** Removes a pause that can no longer be answered. */
  drop(id: string): Promise<void>
  /** Deletes the pauses of agents that have lost their memory, such as a restarted sandbox. */
  forget(agentIds: readonly string[]): Promise<void>
  /** Deletes a bounded number of rows that are past their retention; returns how many. */
  sweep(): Promise<number>
}

export interface PausesDeps {
  readonly sql: Sql
  readonly secrets: StoredSecrets
  /** How long a pause is kept that has no end of its own. */
  readonly retentionDays: number
}

export function createPauses({ sql, secrets, retentionDays }: PausesDeps): Pauses {
  function keptIn({ id, sealed, content }: StoredPause): KeptPause | undefined {
    try {
      return JSON.parse(secrets.open({ sealed, secret: content }, pauseContext(id)).text) as KeptPause
    } catch {
      return undefined
    }
  }

  return {
    async keep({ callId, ownerId, endUser, agent, app, conversation }, { deployment, state }, kept) {
      const { sealed, secret } = secrets.seal(JSON.stringify(kept), pauseContext(callId))
      await sql.query(KEEP, [
        callId,
        ownerId,
        endUser,
        agent,
        app,
        conversation,
        deployment,
        state,
        sealed,
        secret,
        kept.pauses[0]?.expiresAt ?? null,
      ])
    },
    async find(id) {
      const [row] = await sql.query<PauseRow>(FIND, [id])
      if (row === undefined) return undefined
      const { sealed, content, ...open } = row
      return { ...open, kept: keptIn({ id, sealed, content }) }
    },
    offered(row) {
      const first = keptIn(row)?.pauses[0]
      return first && offeredPause(row.id, first)
    },
    async endClaim(callId, as) {
      await sql.query(as === 'open' ? REOPEN : CLOSE, [callId])
    },
    async drop(id) {
      await sql.query('DELETE FROM pauses WHERE id = $1::uuid AND claimed_by IS NULL', [id])
    },
    async forget(agentIds) {
      await sql.query('DELETE FROM pauses WHERE agent = ANY ($1)', [agentIds])
    },
    sweep: () => sweepUnanswered(sql, retentionDays),
  }
}

type PauseRow = Omit<OpenPause, 'kept'> & StoredPause

const FIND = `
SELECT id, conversation, deployment, state, sealed, content, coalesce(expires_at <= clock_timestamp(), false) AS "isExpired"
FROM pauses WHERE id = $1::uuid AND claimed_by IS NULL`

/** Those that the call has claimed are answered, and the conversation of a run that waits has one pause. */
const KEEP = `
WITH over AS (
  DELETE FROM pauses WHERE claimed_by = $1::uuid AND id <> $1::uuid RETURNING id
), linked AS (
  UPDATE calls SET answered_by = $1::uuid WHERE id IN (SELECT id FROM over)
)
INSERT INTO pauses (id, owner_id, end_user, agent, app, conversation, deployment, state, sealed, content, expires_at, created_at)
VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $11::timestamptz, now())
ON CONFLICT (id) DO NOTHING`

const REOPEN = 'UPDATE pauses SET claimed_by = NULL, claimed_at = NULL WHERE claimed_by = $1::uuid'

const CLOSE = `
WITH over AS (DELETE FROM pauses WHERE claimed_by = $1::uuid RETURNING id)
UPDATE calls SET answered_by = $1::uuid WHERE id IN (SELECT id FROM over)`
