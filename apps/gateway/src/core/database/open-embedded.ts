import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { PrismaClient } from '#generated/prisma/client.ts'
import type { Database, Sql } from './database.ts'
import { applyMigrations, pendingMigrations } from './migrate.ts'
import { ROW_PARSERS } from './row-parsers.ts'
import { unusableDatabaseError } from './unusable-database.ts'

/**
 * Opens PGlite in `<dataDir>/db`. The caller must hold the directory's lock, because two processes that use the same files
 * would corrupt them.
 *
 * @throws OperatorError if the files cannot be used
 */
export async function openEmbedded(dataDir: string): Promise<Database> {
  const pglite = await PGlite.create({ dataDir: join(dataDir, 'db') }).catch((error: unknown) => {
    throw unusableDatabaseError('embedded', error)
  })
  return databaseOn(pglite)
}

/** Wraps a PGlite instance; tests pass one that keeps its files in memory. */
export function databaseOn(pglite: PGlite): Database {
  const sql = pgliteSql(pglite)
  const factory = new PrismaPGlite(pglite)
  const prisma = new PrismaClient({ adapter: factory })
  return {
    kind: 'embedded',
    sql,
    dedicatedSql: sql,
    prisma,
    pendingMigrations: () => pendingMigrations(sql),
    migrate: () =>
      applyMigrations({ sql, runScript: (script) => pglite.exec(script), adapter: () => factory.connect() }),
    async close() {
      await prisma.$disconnect()
      await pglite.close()
    },
  }
}

function pgliteSql(pglite: PGlite): Sql {
  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      try {
        const { rows } = await pglite.query<Row>(text, values as unknown[], { parsers: ROW_PARSERS })
        return rows
      } catch (error) {
        // PGlite attaches the values to its errors, which are logged with all of their properties.
        if (error instanceof Error && 'params' in error) error.params = undefined
        throw error
      }
    },
  }
}
