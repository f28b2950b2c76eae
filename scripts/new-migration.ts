import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MIGRATIONS_DIR } from '../apps/gateway/src/core/database/migrations/migration-files.ts'
import { schemaDrift } from '../apps/gateway/src/core/database/migrations/schema-drift.ts'

const [name] = process.argv.slice(2)
if (name === undefined || !/^[a-z0-9_]+$/.test(name)) {
  fail('Usage: node scripts/new-migration.ts <name>, where <name> consists of a-z, 0-9 and _')
}

const lockfile = join(MIGRATIONS_DIR, 'migration_lock.toml')
await mkdir(MIGRATIONS_DIR, { recursive: true })
await writeFile(
  lockfile,
  '# Read by Prisma: migrations are written for one kind of database.\nprovider = "postgresql"\n',
)

const sql = await schemaDrift()
if (sql === '') fail('prisma/schema.prisma contains no change that the migrations do not already make.')

const timestamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
const directory = join(MIGRATIONS_DIR, `${timestamp}_${name}`)
await mkdir(directory)
await writeFile(join(directory, 'migration.sql'), sql)
console.log(`Wrote ${directory}. Review it: it runs as one transaction.`)

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
