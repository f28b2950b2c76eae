import { createBatcher } from '#core/base/async/batcher.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { isUnavailable } from '#core/base/errors/connection-error.ts'
import { type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import type { Admission, AttachedCall, KeptAdmission } from './admission-row.ts'
import { JUDGED_KEY, REFUSAL } from './admission-sql.ts'

/** A call with an `Idempotency-Key`. */
export type KeptCallToAdmit = Pick<Admission, 'keyId' | 'keyHash' | 'address' | 'kind' | 'agent' | 'app'> & {
  readonly kept: KeptAdmission
}

/**
 * Returns the earlier call that an `Idempotency-Key` stands for; undefined if the key is free or the API key is unknown, so that
 * the admission decides.
 *
 * @throws Problem `idempotency_mismatch` if the earlier call had another request; 401 or 403 if the API key may not make
 * this call any more, since a revoked key gets no replies either
 */
export type ClaimLookUp = (call: KeptCallToAdmit) => Promise<AttachedCall | undefined>

/** Shorter than the deadline of the admission, so that a call does not wait twice for a database that hangs. */
const LOOK_UP_WITHIN_MS = 1_500

/**
 * Looks for the claims of a batch together with their API keys, whose reasons for a refusal are those of `ADMIT`. `$1`: a JSON
 * array of calls, numbered by `n`. Each answer is `[n, refusal, key, owner, earlier call]`; calls without a claim have none.
 */
const LOOK_UP = `
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::json)
    AS i(n int, key_id uuid, secret bytea, address text, permission text, kind text, agent text, app text, idempotency_hash text, fingerprint text)
), found AS MATERIALIZED (
  SELECT i.*, k.owner_id, ${JUDGED_KEY}, c.call_id,
    c.fingerprint <> decode(i.fingerprint, 'hex') AS is_other
  FROM input i
  CROSS JOIN LATERAL (SELECT * FROM api_keys k WHERE k.id = i.key_id LIMIT 1) k
  CROSS JOIN LATERAL (
    SELECT c.call_id, c.fingerprint FROM idempotency_keys c
    WHERE c.key_id = i.key_id AND c.hash = decode(i.idempotency_hash, 'hex') LIMIT 1) c
)
SELECT coalesce(json_agg(json_build_array(
    n,
    CASE${REFUSAL}
      WHEN is_other THEN 'idempotency_mismatch'
    END,
    key_id, owner_id, call_id)), '[]') AS answers
FROM found
CROSS JOIN LATERAL (SELECT u.status FROM users u WHERE u.id = found.owner_id LIMIT 1) u
CROSS JOIN (SELECT clock_timestamp() AS clock) m`

type Answer = readonly [
  n: number,
  refusal: ErrorReason | null,
  keyId: string,
  ownerId: string,
  attachedTo: string,
]

/** Calls that arrive together, or while a statement is running, share the next one. */
export function createClaimLookUp({ sql }: { readonly sql: Sql }): ClaimLookUp {
  const lookUp = createBatcher<KeptCallToAdmit, Answer | undefined>(
    async (calls) => {
      const [row] = await sql.query<{ answers: Answer[] }>(LOOK_UP, [JSON.stringify(calls.map(inputOf))])
      const answerOf = new Map(row?.answers.map((answer) => [answer[0], answer]))
      return calls.map((_, n) => answerOf.get(n))
    },
    { sizeMax: 256, isShared: isUnavailable },
  )
  return async (call) => {
    const answer = await withDeadline(LOOK_UP_WITHIN_MS, lookUp(call))
    if (answer === undefined) return undefined
    const [, refusal, keyId, ownerId, attachedTo] = answer
    if (refusal !== null) throw new Problem(refusal)
    return { keyId, ownerId, attachedTo }
  }
}

function inputOf({ keyId, keyHash, address, kind, agent, app, kept }: KeptCallToAdmit, n: number): unknown {
  const claim = { idempotency_hash: kept.keyHash, fingerprint: kept.fingerprint }
  return { n, key_id: keyId, secret: `\\x${keyHash}`, address, permission: kind, kind, agent, app, ...claim }
}
