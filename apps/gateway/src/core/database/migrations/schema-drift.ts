import { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { readMigrations, readSchema } from './migration-files.ts'
import { plainScript } from './migration-step.ts'
import { NO_FILTERS, openSchemaEngine, runScriptsWith } from './schema-engine.ts'

/** Returns the SQL that would turn the result of the migrations into `prisma/schema.prisma`; empty if they agree. */
export async function schemaDrift(): Promise<string> {
  const pglite = await PGlite.create()
  // Not @prisma/adapter-pg, which cannot read the catalogs' type "char" that a comparison needs.
  const connect = async () =>
    runScriptsWith(await new PrismaPGlite(pglite).connect(), (script) => pglite.exec(plainScript(script)))
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
    await pglite.close()
  }
}
