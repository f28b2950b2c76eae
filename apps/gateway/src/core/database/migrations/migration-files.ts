import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { MigrationList } from '@prisma/schema-engine-wasm'
import { shippedFile } from '#core/base/shipped-files.ts'

const MIGRATIONS = shippedFile('migrations')
const LOCKFILE = 'migration_lock.toml'

export const MIGRATIONS_DIR: string = fileURLToPath(MIGRATIONS)

/** Returns the names of this build's migrations, oldest first. */
export async function migrationNames(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

/** Reads this build's migrations in the form that Prisma's schema engine takes. */
export async function readMigrations(): Promise<MigrationList> {
  const names = await migrationNames()
  const migrationDirectories = await Promise.all(
    names.map(async (name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: {
          tag: 'ok' as const,
          value: await readFile(new URL(`${name}/migration.sql`, MIGRATIONS), 'utf8'),
        },
      },
    })),
  )
  return {
    baseDir: MIGRATIONS_DIR,
    lockfile: { path: LOCKFILE, content: await readFile(new URL(LOCKFILE, MIGRATIONS), 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories,
  }
}

export function readSchema(): Promise<string> {
  return readFile(shippedFile('schema'), 'utf8')
}
