import { lockDataDir } from '#core/database/data-dir-lock.ts'
import type { Database } from '#core/database/database.ts'
import { openDatabase } from '#core/database/open.ts'
import { TransferError } from '#core/database/transfer.ts'
import { systemRuntime } from '#core/runtime.ts'
import { callRunningGateway } from '#ops/command-socket.ts'
import type { Command, CommandArguments } from './commands.ts'
import type { Config } from './config.ts'

/** Runs a command in the gateway that owns the embedded database, or, where none runs, in this process. */
export async function runCommand<Name extends Command>(
  config: Config,
  name: Name,
  args: CommandArguments[Name],
): Promise<unknown> {
  if (config.databaseUrl === undefined) {
    const answer = await callRunningGateway(config.dataDir, name, args)
    if (answer.running) return answer.result
  }
  return withDatabase(config, async (database) => {
    // Not loaded where the running gateway answers.
    const { createLogger } = await import('#ops/logger.ts')
    const { createGateway } = await import('./services.ts')
    const { createCommands } = await import('./commands.ts')
    const log = createLogger('silent')
    const { services, syncClock } = createGateway({ config, database, runtime: systemRuntime, log })
    await syncClock()
    // As a caller over the socket gets it: plain JSON.
    return JSON.parse(JSON.stringify(await createCommands({ ...services, database })(name, args)))
  })
}

/** Applies the migrations that are missing; returns their names. */
export function migrateOnce(config: Config): Promise<string[]> {
  return withDatabase(config, (database) => database.migrate())
}

/** Fills the database of DATABASE_URL from an export; returns the rows of each table. */
export async function importOnce({ databaseUrl }: Config, file: string): Promise<unknown> {
  if (databaseUrl === undefined) throw new TransferError('DATABASE_URL: names the database to fill.')
  const { importDatabase } = await import('#core/database/import.ts')
  return importDatabase(databaseUrl, file)
}

async function withDatabase<Result>(
  config: Config,
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
