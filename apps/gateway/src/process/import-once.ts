import type { Config } from '#config/load.ts'
import { importDatabase } from '#core/database/export/import.ts'
import { OperatorError } from '#core/errors/operator-error.ts'
import { type Imported, importEmbedded } from './import-embedded.ts'

/**
 * Fills the empty database, on a server or embedded, from an export.
 *
 * @param folder where the export put the files; only for an embedded database
 */
export async function importOnce(config: Config, file: string, folder?: string): Promise<Imported> {
  if (config.databaseUrl === undefined) {
    return importEmbedded(config, file, folder)
  }
  if (folder !== undefined) {
    throw new OperatorError(
      '--files: is for an embedded database. For a server, export the files to where they belong.',
    )
  }
  return { rows: await importDatabase(config.databaseUrl, file), files: undefined }
}
