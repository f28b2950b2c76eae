import type { Database } from './database.ts'
import type { EngineOptions } from './embedded/engine.ts'
import type { ServerOptions } from './open-server.ts'

export type DatabaseOptions =
  /** Requires the lock of {@link lockDataDir}. */
  ({ readonly kind: 'embedded' } & EngineOptions) | ({ readonly kind: 'server' } & ServerOptions)

/**
 * Opens a database without migrating it, see {@link Database.migrate}. A server that is down fails the queries, not the
 * opening.
 *
 * @throws OperatorError if the files of an embedded database, or those that the URL of a server names, cannot be used
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  // Imported dynamically, so that neither kind of database loads the other's driver.
  if (options.kind === 'server') {
    const { requireTlsFiles } = await import('./tls-files.ts')
    await requireTlsFiles(options.url)
    const { openServer } = await import('./open-server.ts')
    return openServer(options)
  }
  const { openEmbedded } = await import('./embedded/open-embedded.ts')
  return openEmbedded(options)
}
