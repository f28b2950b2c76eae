import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#config/load.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Database } from '#core/database/database.ts'
import { lockDataDir } from '#core/database/embedded/data-dir-lock.ts'
import type { ExportEnd } from '#core/database/export/export-format.ts'
import { filledTables, importInto, importIntoServer } from '#core/database/export/import.ts'
import { openDatabase } from '#core/database/open.ts'
import { uploadFiles } from '#core/uploads/upload-rows.ts'
import { type CopiedFiles, openFileCopy } from './copy-files.ts'

/** What an import has brought: rows of each table, and files if they were requested. */
export interface Imported {
  readonly rows: ExportEnd['end']
  readonly files?: CopiedFiles | undefined
}

/**
 * Fills the empty database, on a server or embedded, from an export.
 *
 * @param folder where the export put the files; only for an embedded database
 */
export async function importOnce(config: Config, file: string, folder?: string): Promise<Imported> {
  if (config.databaseUrl === undefined) return importEmbedded(config, file, folder)
  if (folder !== undefined)
    throw new OperatorError(
      '--files: is for an embedded database. For a server, export the files to where they belong.',
    )
  return { rows: await importIntoServer(config.databaseUrl, file) }
}

/**
 * Fills the embedded database of `DATA_DIR` from an export, and its files from the folder of the export. The database is made
 * in a directory beside `db` and renamed when it is complete and closed, so that a process which is killed, or a full disk,
 * leaves the old empty one or none. Files are copied before the rename; those of an interrupted import are reused by the next.
 *
 * @throws OperatorError if a gateway runs on the directory, if its database contains rows, or if the file does not fit
 */
async function importEmbedded(config: Config, file: string, folder: string | undefined): Promise<Imported> {
  const { dataDir } = config
  const lock = await lockDataDir(dataDir)
  const making = join(dataDir, 'importing')
  const replaced = join(dataDir, 'replaced')
  const current = join(dataDir, 'db')
  try {
    const copy = folder === undefined ? undefined : await openFileCopy(config, folder, join(dataDir, 'files'))
    if (existsSync(current)) await withEmbedded(dataDir, ({ sql }) => requireEmpty(sql, dataDir))
    await rm(making, { recursive: true, force: true })
    await mkdir(making, { mode: 0o700 })
    const imported = await withEmbedded(making, async ({ migrate, patiently, sql, prisma }) => {
      await migrate()
      const rows = await patiently(() => importInto(sql, file))
      return { rows, files: await copy?.((after) => uploadFiles(prisma, after)) }
    })
    await rm(replaced, { recursive: true, force: true })
    if (existsSync(current)) await rename(current, replaced)
    await rename(join(making, 'db'), current)
    return imported
  } finally {
    for (const left of [making, replaced]) await rm(left, { recursive: true, force: true })
    await lock.release()
  }
}

async function requireEmpty(sql: Database['sql'], dataDir: string): Promise<void> {
  const filled = await filledTables(sql)
  if (filled.length === 0) return
  throw new OperatorError(
    `DATA_DIR: ${dataDir} has a database already; import into another directory. The database is not empty: ${filled.join(', ')}.`,
  )
}

async function withEmbedded<Result>(
  dataDir: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase({ kind: 'embedded', dataDir })
  return work(database).finally(() => database.close())
}
