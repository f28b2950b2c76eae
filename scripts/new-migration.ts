import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  MIGRATIONS_DIR,
  readMigrations,
} from '../apps/gateway/src/core/database/migrations/migration-files.ts'
import { brokenRules } from '../apps/gateway/src/core/database/migrations/migration-rules.ts'
import { schemaDrift } from '../apps/gateway/src/core/database/migrations/schema-drift.ts'

/*
 * Writes the migrations for a change of prisma/schema.prisma: one for the tables, and one for each index of a table that exists,
 * which is built while others use the table. Then it says which rules they break (docs/contributing/migrations.md).
 */

const [name] = process.argv.slice(2)
if (name === undefined || !/^[a-z0-9_]+$/.test(name)) {
  fail('Usage: node scripts/new-migration.ts <name>, where <name> consists of a-z, 0-9 and _')
}

const sql = await schemaDrift()
if (sql === '') fail('prisma/schema.prisma contains no change that the migrations do not already make.')

const created = new Set([...sql.matchAll(/^CREATE TABLE "(\w+)"/gm)].map(([, table]) => table))
const indexes: { index: string; statement: string }[] = []
const rest = sql.replace(
  /(?:^-- CreateIndex\n)?^(CREATE (?:UNIQUE )?INDEX) ("(\w+)" ON "(\w+)".*;)\n*/gm,
  (whole, verb: string, what: string, index: string, table: string) => {
    if (created.has(table)) return whole
    indexes.push({ index, statement: `${verb} CONCURRENTLY ${what}\n` })
    return ''
  },
)
const writtenAt = Date.now()
const written: string[] = []
if (rest.trim() !== '') await write(name, `${rest.trim()}\n`)
for (const { index, statement } of indexes) await write(`${name}_${index}`, statement)
const { migrationDirectories } = await readMigrations()
const migrations = migrationDirectories.map(({ path, migrationFile: { content } }) => ({
  name: path,
  script: content.tag === 'ok' ? content.value : '',
}))
for (const mistake of brokenRules(migrations)) console.error(mistake)

async function write(what: string, text: string): Promise<void> {
  // Each a second later than the one before, since their names order them.
  const timestamp = new Date(writtenAt + written.length * 1_000).toISOString().replace(/\D/g, '').slice(0, 14)
  const directory = join(MIGRATIONS_DIR, `${timestamp}_${what}`)
  await mkdir(directory)
  await writeFile(join(directory, 'migration.sql'), text)
  written.push(directory)
  console.log(`Wrote ${directory}. Review it.`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
