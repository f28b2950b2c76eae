import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Dialect } from '@trunkline/gateway/test/agents/dialect.test-support.ts'

/** Imports the dialects that the platform folders in `folders` declare. */
export async function dialectsIn(folders: URL): Promise<readonly Dialect[]> {
  const files = globSync('*/conformance.test-support.ts', { cwd: fileURLToPath(folders) }).sort()
  const modules: { readonly DIALECTS: readonly Dialect[] }[] = await Promise.all(
    files.map((file) => import(new URL(file, folders).href)),
  )
  return modules.flatMap(({ DIALECTS }) => DIALECTS)
}
