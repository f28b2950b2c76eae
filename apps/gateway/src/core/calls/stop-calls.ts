import { validate } from 'uuid'
import { whoIs } from '#core/audit/actor.ts'
import { eventJson } from '#core/audit/audit.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import type { DiskSpace } from '#core/database/disk/disk-space.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import type { KeptCallRef } from '#core/reply-log/kept-call.ts'
import type { KeptReplies } from '#core/reply-log/replies.ts'
import { ownScopeOf, type Scope } from '#core/reports/scope.ts'
import type { Principal } from '#core/requests/principal.ts'

export interface StoppedCall {
  readonly callId: string
  /** Null while the call is still running: until it has been stopped, or for good where its process is of a version that stops none. */
  readonly outcome: CallOutcome | null
}

export interface CallStopsDeps {
  readonly sql: Sql
  readonly kept: Pick<KeptReplies, 'find' | 'stopSoon'>
  readonly space: Pick<DiskSpace, 'isLow'>
}

/**
 * Stops running calls of every kind, in whichever process they run: administrators all calls, and owners their own, with a token or
 * any key that may chat. A key that may only upload stops its own uploads, and one that is limited to agents stops, beside its own
 * calls, only those of these agents. A caller that is bound to an end user stops only calls of that one. For all others there is no
 * such call.
 */
export type CallStops = ReturnType<typeof createCallStops>

export function createCallStops({ sql, kept, space }: CallStopsDeps) {
  async function request(caller: Principal, callId: string): Promise<StopRow> {
    if (!validate(callId)) fail('call_not_found')
    const scope = stoppableBy(caller)
    const event = eventJson(whoIs(caller), { operation: 'calls.stop', target: 'call', targetId: callId })
    const [row] = await sql.query<StopRow>(STOP, [
      callId,
      scope.kind === 'all' ? null : scope.ownerId,
      scope.kind === 'key' ? scope.keyId : null,
      caller.via.kind === 'key' ? caller.via.keyId : null,
      // On a disk without space nothing is recorded, and calls can still be stopped.
      space.isLow ? null : event,
      agentsOf(caller),
      scope.endUser ?? null,
    ])
    return row ?? fail('call_not_found')
  }

  return {
    /**
     * Asks the process of a running call to stop it, which takes at most a second. Idempotent: returns the outcome of a call that
     * has ended. Only the key that made a call may name it by its `Idempotency-Key`.
     *
     * @throws Problem `call_not_found`, `api_key_required`
     */
    async stop(caller: Principal, ref: KeptCallRef): Promise<StoppedCall> {
      const callId = ref.kind === 'call' ? ref.callId : (await kept.find(caller, ref)).callId
      let row = await request(caller, callId)
      // It was ending while the statement ran, so it cannot be stopped any more, and its end is there to be read.
      if (row.outcome === null && !row.is_requested) row = await request(caller, callId)
      if (row.is_kept && row.outcome === null) kept.stopSoon(callId)
      return { callId, outcome: row.outcome }
    },
  }
}

/** What the caller may read, and for a key that may chat all calls of its owner, or of its owner's end user to whom it is bound. */
function stoppableBy(caller: Principal): Scope {
  const scope = ownScopeOf(caller)
  const mayChat = caller.via.kind === 'key' && caller.via.permissions.includes('chat')
  return scope.kind === 'key' && mayChat ? { ...scope, kind: 'owner' } : scope
}

/** The agents to which the caller's key is limited, as JSON; null for all. */
function agentsOf({ via }: Principal): string | null {
  return via.kind === 'key' && via.allowedAgents.length > 0 ? JSON.stringify(via.allowedAgents) : null
}

interface StopRow {
  readonly is_kept: boolean
  readonly outcome: CallOutcome | null
  /** Whether its stop is requested, by this statement or an earlier one. */
  readonly is_requested: boolean
}

/**
 * `$1`: the call, `$2`, `$3` and `$7`: the owner, the key and the end user that it must have, null for any; `$4`: the key of the
 * caller, `$5`: the event of the audit log, `$6`: what the key of the caller is limited to, as in admissions (`admission-sql.ts`),
 * except that an upload for no agent is of none of them. A kept call that is stopped by the key that made it is no event: that is how
 * its client leaves it.
 */
const STOP = `
WITH call AS MATERIALIZED (
  SELECT c.id, c.key_id, c.owner_id, k.call_id IS NOT NULL AS is_kept, coalesce(c.outcome, k.outcome) AS outcome,
    coalesce(c.stop_requested_at, k.stop_requested_at) IS NOT NULL AS was_requested
  FROM calls c LEFT JOIN kept_calls k ON k.call_id = c.id
  WHERE c.id = $1::uuid AND ($2::uuid IS NULL OR c.owner_id = $2::uuid) AND ($3::uuid IS NULL OR c.key_id = $3::uuid)
    AND ($6::json IS NULL OR c.key_id = $4::uuid OR EXISTS (
      SELECT FROM json_array_elements_text($6::json) AS allowed
      WHERE allowed IN (c.agent, c.agent || '/' || c.app)
        OR (c.kind = 'upload' AND c.agent <> '' AND starts_with(allowed, c.agent || '/'))))
    AND ($7::text IS NULL OR c.end_user = $7)
), requested AS (
  UPDATE calls SET stop_requested_at = now()
  WHERE id = (SELECT id FROM call WHERE NOT is_kept AND outcome IS NULL) AND outcome IS NULL AND stop_requested_at IS NULL
  RETURNING id
), requested_of_kept AS (
  UPDATE kept_calls SET stop_requested_at = now()
  WHERE call_id = (SELECT id FROM call WHERE is_kept AND outcome IS NULL) AND ended_at IS NULL AND stop_requested_at IS NULL
  RETURNING call_id AS id
), recorded AS (
  SELECT CASE WHEN $5::jsonb IS NOT NULL AND NOT (call.is_kept AND call.key_id IS NOT DISTINCT FROM $4::uuid) THEN
    audit_append($5::jsonb || jsonb_build_object(
      'after', json_build_object('owner_id', call.owner_id, 'key_id', call.key_id)::text)) END
  FROM call JOIN (SELECT id FROM requested UNION ALL SELECT id FROM requested_of_kept) AS now USING (id)
)
SELECT is_kept, outcome, was_requested OR (SELECT count(*) FROM recorded) > 0 AS is_requested FROM call`
