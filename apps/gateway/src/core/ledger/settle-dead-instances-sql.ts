import { LISTED } from './listed-conversations-sql.ts'
import { type RollupBounds, rollUp, SETTLED_COLUMNS } from './roll-up-sql.ts'

/**
 * Settles as `interrupted` a bounded number of the open calls that match the condition `open`. Only the process of a call knows
 * its deployment, its attempts and its trace, which stay null. It also knows whether its client named a conversation: where it need
 * not have, the conversation is listed with its next turn.
 */
export const interrupt = (bounds: RollupBounds, open: string) => `
WITH open AS MATERIALIZED (
  SELECT c.id FROM calls c
  WHERE c.outcome IS NULL AND ${open}
  ORDER BY c.id
  LIMIT 500
  FOR UPDATE SKIP LOCKED
), settled AS (
  UPDATE calls c SET outcome = 'interrupted', ended_at = clock_timestamp()
  FROM open o WHERE c.id = o.id
  RETURNING ${SETTLED_COLUMNS}, false AS was_interrupted,
    c.kind = 'chat' AND c.face <> 'openai' AND c.conversation <> c.id::text AS is_listed,
    NULL::text AS conversation_name
)${rollUp(bounds)}${LISTED}
SELECT id FROM settled`

/**
 * The condition that the process of a row is dead, judged by a process that is alive at the same moment. `table` is the alias of the
 * table with its `instance`, `reaper` the parameter with the process that asks, `leaseMs` that with the lease.
 *
 * - The process that asks must hold its own lease when the statement runs, which may be long after it was sent: if the database
 *   did not respond meanwhile, all leases have expired together, including its own.
 * - A lease must have expired for another half. Living processes renew theirs three times in a lease, so of two that the database
 *   serves at the same time neither can be that far behind the other.
 */
export const isOfDeadInstance = (
  table: string,
  { reaper, leaseMs }: { readonly reaper: string; readonly leaseMs: string },
) => `EXISTS (
    SELECT FROM instances r WHERE r.id = ${reaper}::uuid AND r.stopped_at IS NULL AND r.lease_until > now())
  AND NOT EXISTS (
    SELECT FROM instances i WHERE i.id = ${table}.instance AND i.stopped_at IS NULL
      AND i.lease_until > now() - ${leaseMs} * interval '0.5 milliseconds')`
