import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Config } from '#config/load.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { lockDataDir } from '#core/database/embedded/data-dir-lock.ts'
import { contentOfFolder } from '#core/database/embedded/database-folder.ts'
import { requireCurrentBuild } from '#core/database/migrations/min-build.ts'
import { openDatabase } from '#core/database/open.ts'
import { readPendingMigrations } from '#core/database/unusable-database.ts'
import { callRunningGateway } from '#ops/command-socket.ts'
import type { Command, CommandArguments, CommandResult } from './commands.ts'

/**
 * Runs a command in the gateway that owns the embedded database or, if none is running, in this process.
 *
 * @throws OperatorError if there is no database, or if it lacks migrations
 */
export async function runCommand<Name extends Command>(
  config: Config,
  name: Name,
  args: CommandArguments<Name>,
): Promise<CommandResult<Name>> {
  if (config.databaseUrl === undefined) {
    const answer = await callRunningGateway(config.dataDir, name, args, operatorName())
    if (answer.running) return answer.result as CommandResult<Name>
    await requireEmbedded(config.dataDir)
  }
  return withDatabase(config, async (database) => {
    requireMigrated(await readPendingMigrations(database))
    await requireCurrentBuild(database.sql)
    // Imported only here, because loading them takes time and the running gateway usually executes the command.
    const { createLogger } = await import('#ops/logger.ts')
    const { createGateway } = await import('../composition/gateway.ts')
    const { createCommands } = await import('./commands.ts')
    const { ownFile } = await import('./configuration-file.ts')
    const log = createLogger('silent')
    const gateway = await createGateway({
      config,
      database,
      runtime: systemRuntime,
      log,
      configurationFile: ownFile(config),
    })
    await gateway.prepareCommands()
    return (await createCommands({ ...gateway, database })(name, args, operatorName())) as CommandResult<Name>
  })
}

/** The account that runs the command, for the audit log. */
function operatorName(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A container may run as a user id without an account.
    return `${process.getuid?.() ?? 'unknown'}@${hostname()}`
  }
}

/** Applies the missing migrations and returns their names. */
export function migrateOnce(config: DatabasePlace): Promise<string[]> {
  return withDatabase(config, async (database) => {
    await readPendingMigrations(database)
    return database.migrate()
  })
}

/** Refuses a directory without a database, because opening it would create one, for example after a typo in DATA_DIR. */
async function requireEmbedded(dataDir: string): Promise<void> {
  if ((await contentOfFolder(join(dataDir, 'db'))) === 'database') return
  throw new OperatorError(
    `DATA_DIR: there is no database in ${dataDir}; "trunkline start" or "trunkline migrate" makes one.`,
  )
}

function requireMigrated(pending: readonly string[]): void {
  if (pending.length === 0) return
  const lacking = pending.length === 1 ? 'a migration' : `${pending.length} migrations`
  throw new OperatorError(
    `The database lacks ${lacking}: run "trunkline migrate" first (${pending.join(', ')}).`,
  )
}

type DatabasePlace = Pick<Config, 'databaseUrl' | 'dataDir'>

async function withDatabase<Result>(
  config: DatabasePlace,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (config.databaseUrl !== undefined) {
    const database = await openDatabase({ kind: 'server', url: config.databaseUrl })
    return work(database).finally(() => database.close())
  }
  const lock = await lockDataDir(config.dataDir)
  try {
    const database = await openDatabase({ kind: 'embedded', dataDir: config.dataDir })
    return await work(database).finally(() => database.close())
  } finally {
    await lock.release()
  }
}
