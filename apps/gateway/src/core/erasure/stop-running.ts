import { sleep } from '#core/base/async/sleep.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { CallStops } from '#core/calls/stop-calls.ts'
import type { Sql } from '#core/database/database.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { EndUser } from './erase-ledger.ts'

export interface StopRunningDeps {
  readonly sql: Sql
  readonly callStops: Pick<CallStops, 'stop'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
}

/** A stop takes half a second, and a process that does not answer would take until another settles its calls. */
const WITHIN_MS = 15_000
const LOOK_AGAIN_MS = 100

/**
 * Stops the calls of an end user that run by now, in whichever process, and waits until they have ended. Calls that are admitted
 * later are not waited for, or a client that goes on would keep it waiting for good.
 *
 * @returns how many there were
 */
export async function stopRunning(
  { sql, callStops, runtime }: StopRunningDeps,
  caller: Principal,
  { ownerId, endUser }: EndUser,
): Promise<number> {
  // Like an admission, so that those that have begun before are over, and their calls are there to be read.
  await sql.query('SELECT FROM users WHERE id = $1::uuid FOR NO KEY UPDATE', [ownerId])
  const running = await sql.query<{ readonly id: string }>(RUNNING, [ownerId, endUser])
  const ids = running.map(({ id }) => id)
  for (const callId of ids) {
    await callStops.stop(caller, { kind: 'call', callId }).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error
    })
  }
  const untilMs = runtime.elapsedMs() + WITHIN_MS
  while (ids.length > 0 && runtime.elapsedMs() < untilMs) {
    const [open] = await sql.query(STILL_OPEN, [JSON.stringify(ids)])
    if (open === undefined) break
    await sleep(LOOK_AGAIN_MS)
  }
  return ids.length
}

/** `$1` owner, `$2` end user. */
const RUNNING = `
SELECT id::text FROM calls WHERE outcome IS NULL AND owner_id = $1::uuid AND end_user = $2`

/** `$1`: a JSON array of ids. */
const STILL_OPEN = `
SELECT FROM calls
WHERE outcome IS NULL AND id = ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text($1::json))) LIMIT 1`
