import { PGlite } from '@electric-sql/pglite'
import { PrismaPg } from '@prisma/adapter-pg'
import { localEngine } from './local-engine.ts'
import { readMigrations, readSchema } from './migration-files.ts'
import { embeddedPool } from './open-embedded.ts'
import { NO_FILTERS, openSchemaEngine, runScriptsWith } from './schema-engine.ts'

/** Returns the SQL that would turn the result of the migrations into `prisma/schema.prisma`; empty if they agree. */
export async function schemaDrift(): Promise<string> {
  const database = localEngine(await PGlite.create())
  const pool = embeddedPool(database)
  const connect = async () =>
    runScriptsWith(await new PrismaPg(pool).connect(), (script) => pool.query(script))
  try {
    const engine = await openSchemaEngine(connect)
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'migrations', ...(await readMigrations()) },
      to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content: await readSchema() }] },
      script: true,
      exitCode: true,
      filters: NO_FILTERS,
    })
    engine.free()
    return exitCode === 0 ? '' : (stdout ?? '')
  } finally {
    await pool.end()
    await database.close()
  }
}
