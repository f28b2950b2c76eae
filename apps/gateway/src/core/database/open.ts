import type { Database } from './database.ts'
import type { ServerOptions } from './open-server.ts'

export type DatabaseOptions =
  /** Only under {@link lockDataDir}. */
  { readonly kind: 'embedded'; readonly dataDir: string } | ({ readonly kind: 'server' } & ServerOptions)

/** Opens a database as it is; {@link Database.migrate} brings it up to date. A server that is down fails the queries, not this. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  // Imported where it is used: neither kind pays for the other's driver.
  if (options.kind === 'server') {
    const { openServer } = await import('./open-server.ts')
    return openServer(options)
  }
  const { openEmbedded } = await import('./open-embedded.ts')
  return openEmbedded(options.dataDir)
}
