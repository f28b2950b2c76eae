import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Sql } from '#core/database/database.ts'
import { migrationNames } from './migration-files.ts'

/*
 * A process is named by the newest migration that it knows, its build. Names begin with a time, so their order is that of
 * releases. A migration that takes away what older processes use sets `min_build` of the table `settings`: a process of an older
 * build must not use the database any more, and one that is newer, or as old, may.
 */

/** The name under which `settings` has it. */
export const MIN_BUILD = 'min_build'

/** Returns the build of this process. */
export async function ownBuild(): Promise<string> {
  return (await migrationNames()).at(-1) ?? ''
}

/** @throws OperatorError if the database needs a newer version than this one */
export async function requireCurrentBuild(sql: Sql): Promise<void> {
  const [row] = await sql.query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [MIN_BUILD])
  const build = await ownBuild()
  if (row !== undefined && isOlder(build, row.value)) throw new OperatorError(`${tooOld(build, row.value)}.`)
}

export function isOlder(build: string, minBuild: string): boolean {
  return build < minBuild
}

/** What is wrong with a process that is too old, for operators. */
export function tooOld(build: string, minBuild: string): string {
  return `this version of Trunkline is too old for the database, which needs one that knows the migration ${minBuild}; this one knows ${build} and earlier ones`
}
