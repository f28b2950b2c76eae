import { sleep } from '#core/base/async/sleep.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import type { MigrationConnection } from './migration-connection.ts'
import { type MigrationStep, minBuildOf, stepOf } from './migration-step.ts'

export interface StepOptions {
  /** Recorded with the step: in its transaction, or after it where there is none. */
  readonly finish: string
  /** How long a step that finds its table locked is repeated. */
  readonly patienceMs?: number
}

const PATIENCE_MS = 60_000
/**
 * While a statement waits for a lock that excludes others, all that come after it wait as well: admissions too. So it gives
 * up soon, and is repeated.
 */
const LOCK_TIMEOUT_MS = 100
/** Building an index waits for the transactions that run, but no statement waits for it. */
const INDEX_LOCK_TIMEOUT_MS = 60_000
/** The pause between attempts, so that statements queued behind the lock can run. */
const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 1_000

/**
 * Runs the step of a migration so that calls go on meanwhile.
 *
 * @throws Error with a text for operators if a lock could not be taken for too long, or older processes still run
 */
export async function runStep(
  script: string,
  connection: MigrationConnection,
  { finish, patienceMs = PATIENCE_MS }: StepOptions,
): Promise<void> {
  await requireNoOlderProcess(script, connection)
  const step = stepOf(script)
  if (step.kind === 'slices') return runSlices(step.sql, connection, { finish, patienceMs })
  if (step.kind === 'index' && connection.isShared) return runIndex(step, connection, { finish, patienceMs })
  const sql = step.kind === 'index' ? step.plain : step.sql
  await untilLocked(connection, patienceMs, () =>
    connection.runScript(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};\n${sql}\n;${finish}`),
  )
}

/** What an older process still uses is not taken away from it. */
async function requireNoOlderProcess(script: string, { sql, isShared }: MigrationConnection): Promise<void> {
  const minBuild = minBuildOf(script)
  if (minBuild === undefined || !isShared) return
  const older = await sql.query<{ id: string; build: string }>(OLDER_PROCESSES, [minBuild])
  if (older.length === 0) return
  const named = older.map(({ id, build }) => `${id} (${build || 'unknown'})`).join(', ')
  throw new Error(
    `processes still run that are older than ${minBuild}, and use what this migration takes away: ${named}. Replace them by the version before this one, then migrate again`,
  )
}

/** The living processes of versions before the migration `$1`. */
export const OLDER_PROCESSES = `
SELECT id, build FROM instances
WHERE stopped_at IS NULL AND lease_until > now() AND build < $1 ORDER BY id LIMIT 10`

async function runIndex(
  { does, name, sql }: Extract<MigrationStep, { kind: 'index' }>,
  connection: MigrationConnection,
  { finish, patienceMs }: Required<StepOptions>,
): Promise<void> {
  await untilLocked(connection, patienceMs, async () => {
    await connection.runScript(`SET lock_timeout = ${INDEX_LOCK_TIMEOUT_MS}`)
    const [found] = await connection.sql.query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(quote_ident($1))',
      [name],
    )
    // A build that was interrupted leaves an index that every write maintains and no query uses.
    const isInvalid = found?.valid === false
    if (isInvalid) await connection.runScript(`DROP INDEX CONCURRENTLY "${name}"`)
    const isDone = does === 'create' ? found?.valid === true : found === undefined || isInvalid
    if (!isDone) await connection.runScript(sql)
  })
  await connection.runScript(finish)
}

/** A repetition begins with the first slice again, whose rows are filled already. */
async function runSlices(
  sql: string,
  connection: MigrationConnection,
  { finish, patienceMs }: Required<StepOptions>,
): Promise<void> {
  await connection.runScript(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`)
  for (let last: unknown = null; ; ) {
    const startedMs = performance.now()
    const rows = await untilLocked(connection, patienceMs, () =>
      connection.sql.query<Record<string, unknown>>(sql, [last]),
    )
    const key = Object.values(rows[0] ?? {})[0]
    if (key === undefined || key === null) break
    last = key
    // Half of the time belongs to the others: locks of rows, the disk, and the only session of an embedded database.
    await sleep(performance.now() - startedMs)
  }
  await connection.runScript(finish)
}

const LOCK_NOT_AVAILABLE = '55P03'

async function untilLocked<Result>(
  connection: MigrationConnection,
  patienceMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedMs = performance.now()
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      return await work()
    } catch (error) {
      if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error
      if (performance.now() - startedMs >= patienceMs) {
        throw new Error(await describeHolders(connection, patienceMs), { cause: error })
      }
      await sleep(pauseMs)
    }
  }
}

async function describeHolders({ sql }: MigrationConnection, patienceMs: number): Promise<string> {
  const holders = await sql.query<{ pid: number; name: string | null; seconds: number }>(LONGEST)
  const named = holders.map(({ pid, name, seconds }) => `pid ${pid} (${name || 'unnamed'}) for ${seconds} s`)
  const who = named.length === 0 ? '' : ` The longest transactions are those of ${named.join(', ')}.`
  return `a table could not be locked within ${patienceMs / 1_000} s, because long transactions use it. Nothing has changed: migrate again when they have ended.${who}`
}

const LONGEST = `
SELECT pid, application_name AS name, extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < clock_timestamp() - interval '100 ms'
ORDER BY xact_start LIMIT 3`
