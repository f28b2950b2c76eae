import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { PrismaClient } from '#generated/prisma/client.ts'
import type { Database, Sql } from './database.ts'
import { applyMigrations, pendingMigrations } from './migrate.ts'
import { ROW_PARSERS } from './row-parsers.ts'
import { unusableDatabase } from './unusable-database.ts'

/** PGlite in `<dataDir>/db`. The caller holds the directory's lock: two processes in one destroy it. */
export async function openEmbedded(dataDir: string): Promise<Database> {
  const pglite = await PGlite.create({ dataDir: join(dataDir, 'db') }).catch((error: unknown) => {
    throw unusableDatabase('embedded', error)
  })
  return databaseOn(pglite)
}

/** Tests hand in an instance that keeps its files in memory. */
export function databaseOn(pglite: PGlite): Database {
  const sql = pgliteSql(pglite)
  const factory = new PrismaPGlite(pglite)
  const prisma = new PrismaClient({ adapter: factory })
  return {
    kind: 'embedded',
    sql,
    keptSql: sql,
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
        // PGlite hangs the values on its errors, and those are logged whole.
        if (error instanceof Error && 'params' in error) error.params = undefined
        throw error
      }
    },
  }
}
