import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Sql } from '#core/database/database.ts'
import type { MigrationConnection } from './migration-connection.ts'
import { migrationNames, readMigrations } from './migration-files.ts'
import { runStep } from './run-step.ts'

/** Returns the names of the migrations that the database has, oldest first. */
export async function appliedMigrations(sql: Sql): Promise<string[]> {
  if (!(await hasHistory(sql))) return []
  const applied = await sql.query<{ name: string }>(APPLIED)
  return applied.map(({ name }) => name)
}

const APPLIED = `
SELECT migration_name AS name FROM _prisma_migrations
WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL
ORDER BY migration_name`

/** Returns the names of this build's migrations that the database does not have yet, oldest first. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const applied = new Set(await appliedMigrations(sql))
  return (await migrationNames()).filter((name) => !applied.has(name))
}

/**
 * Applies pending migrations and returns their names. A migration that failed is tried again by the next call; what each of
 * them does in one piece is in migration-step.ts.
 *
 * @throws OperatorError if a migration fails
 */
export async function applyMigrations(connection: MigrationConnection): Promise<string[]> {
  const { sql } = connection
  const pending = await pendingMigrations(sql)
  if (pending.length === 0) return []
  if (await hasHistory(sql)) {
    await sql.query(`UPDATE _prisma_migrations SET rolled_back_at = now() ${UNFINISHED}`)
  }

  // Imported only here, because the engine is several megabytes of WebAssembly that most starts do not need.
  const { NO_FILTERS, openSchemaEngine, runScriptsWith } = await import('./schema-engine.ts')
  const engine = await openSchemaEngine(async () =>
    runScriptsWith(await connection.adapter(), (script) => runStep(script, connection, { finish: FINISH })),
  )
  try {
    const result = await engine.applyMigrations({
      migrationsList: await readMigrations(),
      filters: NO_FILTERS,
    })
    return result.appliedMigrationNames
  } catch (error) {
    throw new OperatorError(`The database could not be migrated. ${engineMessage(error)}`, { cause: error })
  } finally {
    engine.free()
  }
}

const UNFINISHED = 'WHERE finished_at IS NULL AND rolled_back_at IS NULL'

/** Part of the migration's transaction, so that a process killed in between cannot leave an applied migration unrecorded. */
const FINISH = `UPDATE _prisma_migrations SET finished_at = now() ${UNFINISHED}`

async function hasHistory(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ exists: boolean }>(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists",
  )
  return row?.exists ?? false
}

/** Returns the engine's message without the trace of its own source code, except for the migration's name in that trace. */
function engineMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const [text = '', trace = ''] = message.split(/\n\s{1,9}0: /, 2)
  const name = /migration_name="([^"]+)"/.exec(trace)?.[1]
  return [name, text.replace('external connector error\n', '')].filter(Boolean).join(': ')
}
