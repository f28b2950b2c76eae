import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns whether these programs of the system are installed. Without them the tests that need them are skipped with a warning.
 *
 * @throws if one is missing and REQUIRE_SERVICES is set, as it is in continuous integration
 */
export function areInstalled(programs: readonly string[], env: NodeJS.ProcessEnv = process.env): boolean {
  const folders = `${env.PATH}:/usr/sbin:/sbin`.split(':')
  const missing = programs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
  if (missing.length === 0) return true
  const names = missing.join(', ')
  if (env.REQUIRE_SERVICES) throw new Error(`${names}: required here, and not installed`)
  console.warn(`${names} is not installed: tests that need it are skipped`)
  return false
}
